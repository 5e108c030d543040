"use strict";
// What a film looks like, for any page that shows one: the picture of a frame, its curves, its words, and the machine that
// plays it. A film is what `linsep.replay.page.payload` returns.

const SPEEDS = [1, 2, 5, 10, 25, 60, 150, 400, 1000]; // frames a second
const STYLES = {
  now: { color: "plane", width: 2.5 },
  margin: { color: "plane", width: 1.3, dash: [2, 4] },
  before: { color: "quiet", width: 1, alpha: 0.6 },
  best: { color: "best", width: 3, dash: [9, 6] },
  cause: { color: "cause", width: 3.5 },
  level: { color: "cause", width: 2, dash: [3, 3] },
  lecture: { color: "quiet", width: 2, dash: [10, 3, 3, 3] },
};
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const counted = number => number.toLocaleString("en");

function item(tag, text) {
  return Object.assign(document.createElement(tag), { textContent: text });
}

function isWrong(bytes, k) {
  return (bytes.charCodeAt(k >> 3) >> (k & 7)) & 1;
}

function bestPlane({ frames, best_planes: beside }, frame) {
  const k = frames.best_frame[frame], count = frames.step.length;
  if (k < 0) return null;
  return k < count ? frames.plane[k] : beside[k - count];
}

// ---- the picture ----

// Where the picture lies in its canvas.
function frameBox(canvas, { v }) {
  const size = canvas.getBoundingClientRect();
  return inset(canvas.getContext("2d"), size, ticks(v[0], v.at(-1), size.height / 60));
}

// Axes and what is drawn within them, by whoever knows what: paint(pen, at, box).
function drawScene({ pen, width, height }, { u, v }, paint) {
  const across = [u[0], u.at(-1)], up = [v[0], v.at(-1)], upwards = ticks(...up, height / 60);
  const box = inset(pen, { width, height }, upwards), at = placed(box, across, up);
  axes(pen, box, at, ticks(...across, width / 80), upwards);
  within(pen, box, () => paint(pen, at, box));
}

// A frame: both sides, the planes of now, before and best, the margin, the examples, and which of them caused the update.
function paintFrame(pen, at, film, grid, frame) {
  paintPlanes(pen, at, film, grid, frame);
  paintPoints(pen, at, film, frame);
  const plane = film.frames.plane[frame];
  if (isPlane(plane)) contour(pen, at, grid, discriminant(grid, plane), 0, STYLES.now);
  paintCause(pen, at, film, frame);
}

function paintPlanes(pen, at, film, grid, frame) {
  const { frames } = film, plane = frames.plane[frame], g = discriminant(grid, plane), drawn = isPlane(plane);
  shade(pen, at, grid, g);
  if (drawn && frame > 0 && isPlane(frames.plane[frame - 1])) {
    contour(pen, at, grid, discriminant(grid, frames.plane[frame - 1]), 0, STYLES.before);
  }
  const best = bestPlane(film, frame);
  if (best) contour(pen, at, grid, discriminant(grid, best), 0, STYLES.best);
  if (drawn && frames.band[frame] > 0) {
    for (const side of [-1, 1]) contour(pen, at, grid, g, side * frames.band[frame], STYLES.margin);
  }
}

function markSize(count) {
  return count > 400 ? 2.4 : count > 120 ? 3.2 : 4.2;
}

// Of many points all are kept as if they were right, and drawn over where they are wrong.
function paintPoints(pen, at, { frames, points }, frame) {
  const many = points.drawn > STAMPED && pen instanceof CanvasRenderingContext2D;
  if (many) behind(pen.canvas, pen, scattered(points, at), own => paintSome(own, at, points, () => 0));
  const wrong = atob(frames.wrong[frame]);
  paintSome(pen, at, points, k => isWrong(wrong, k), many);
}

function paintSome(pen, at, points, judge, onlyWrong = false) {
  const size = markSize(points.drawn), kinds = [[], [], [], []];
  for (let k = 0; k < points.drawn; k++) {
    const wrong = judge(k);
    if (wrong || !onlyWrong) kinds[2 * wrong + points.positive[k]].push([at.x(points.u[k]), at.y(points.v[k])]);
  }
  kinds.forEach((places, kind) => { if (places.length) markers(pen, places, kind & 1, kind >> 1, size); });
}

// Whom a layer of these points in this place belongs to.
const scatters = new WeakMap();

function scattered(points, at) {
  const where = [at.x(0), at.x(1), at.y(0), at.y(1)].join();
  if (scatters.get(points)?.where !== where) scatters.set(points, { where });
  return scatters.get(points);
}

function paintCause(pen, at, { frames, points }, frame) {
  const k = frames.cause[frame];
  if (k < 0) return;
  const [x, y] = [at.x(points.u[k]), at.y(points.v[k])];
  marker(pen, x, y, points.positive[k], frames.after[frame] <= 0, 5);
  ring(pen, x, y, 13, STYLES.cause);
}

// ---- the curves ----

function makeChart(figure, frames, go, caption, lines, { levels = [], wide = true, stepped = frames.cause.some(k => k >= 0) } = {}) {
  const canvas = figure.querySelector(":scope > canvas"); // and none of its legend's
  const values = [...lines.flatMap(line => line.values), ...levels.map(level => level.value)].filter(x => x !== null);
  figure.hidden = !values.length;
  if (figure.hidden) return null;
  const scale = reach(values, wide);
  const chart = { canvas, lines, levels, scale, stepped, x: frames.step };
  figure.querySelector("figcaption").textContent = caption + (scale.logarithmic ? " (logarithmic)" : "") + ", by step";
  canvas.setAttribute("aria-label", `${caption}: ` + lines.map(
    line => `${line.name} from ${short(line.values.find(x => x !== null))} to ${short(line.values.at(-1))}`).join(", ")
    + levels.map(level => `, ${level.name} ${counted(level.value)}`).join(""));
  const keys = [...lines, ...levels].map(line => key(line.name, pen => polyline(pen, [[0, 8], [26, 8]], line)));
  figure.querySelector("ul").replaceChildren(...keys);
  chart.told = keys.map(entry => entry.querySelector("span"));
  canvas.onpointerdown = event => go(pointed(chart, event.clientX));
  canvas.onpointermove = event => { if (event.buttons) go(pointed(chart, event.clientX)); };
  return chart;
}

// The numbers of a frame, each beside a piece of its line.
function tellChart({ lines, levels, told }, frame) {
  lines.forEach((line, k) => { told[k].textContent = `${line.name} ${short(line.values[frame])}`; });
  levels.forEach((level, k) => { told[lines.length + k].textContent = `${level.name} ${counted(level.value)}`; });
}

// The three curves of a film, in the figures objective-chart, errors-chart and updates-chart.
function filmCharts(film, go) {
  const { frames } = film, percent = share => (share === null ? null : 100 * share), most = film.bound?.most ?? null;
  const figure = name => document.getElementById(`${name}-chart`);
  return [
    makeChart(figure("objective"), frames, go, "Objective, mean of all examples", [
      { name: "now", values: frames.objective, color: "plane", width: 1.5 },
      { name: film.start_is_least ? "best so far (without the start, w = 0)" : "best so far", values: frames.best, ...STYLES.best },
    ]),
    makeChart(figure("errors"), frames, go, "Mistakes, % of the examples: z ≤ 0, on the wrong side or on the plane", [
      { name: "now", values: frames.zero_one.map(percent), color: "plane", width: 1.5 },
      { name: "best so far", values: frames.best_errors.map(percent), ...STYLES.best },
    ], { wide: false }),
    makeChart(figure("updates"), frames, go, film.mistakes ? "Mistakes made so far" : "Updates so far", [
      { name: film.mistakes ? "mistakes" : "updates", values: frames.updates, color: "plane", width: 2 },
    ], { levels: mistakeBounds(film.bound), wide: most !== null }),
  ].filter(chart => chart);
}

// What the mistakes cannot pass: Novikoff's bound, and where a page knows it the lecture's for a rule with another offset.
function mistakeBounds(bound) {
  const levels = [];
  if ((bound?.most ?? null) !== null) levels.push({ name: bound.lecture ? "(R/γ)²" : "Novikoff's bound", value: bound.most, ...STYLES.level });
  if (bound?.lecture) levels.push({ name: "(2R/γ)²", value: bound.lecture.most, ...STYLES.lecture });
  return levels;
}

// An entry of a legend: what a mark looks like, and its name. `key.draw` paints it when it has its place.
const swatches = new Set();

function key(name, draw) {
  const entry = item("li", ""), swatch = document.createElement("canvas");
  swatch.setAttribute("aria-hidden", "true");
  entry.append(swatch, item("span", name));
  swatches.add(() => swatch.isConnected && draw(prepare(swatch).pen));
  return entry;
}

function drawSwatches() {
  for (const draw of swatches) if (draw() === false) swatches.delete(draw);
}

function legendOf(film) {
  const line = style => pen => polyline(pen, [[0, 8], [26, 8]], style);
  return [
    [film.classes[0], pen => marker(pen, 13, 8, 0, 0, 4.5)],
    [film.classes[1], pen => marker(pen, 13, 8, 1, 0, 4.5)],
    ["mistake (hollow)", pen => { marker(pen, 7, 8, 0, 1, 4); marker(pen, 19, 8, 1, 1, 4); }],
    ["causes the update", pen => ring(pen, 13, 8, 6, { color: "cause", width: 3 })],
    ["plane now", line(STYLES.now)],
    [film.picture.dotted, line(STYLES.margin)],
    ["one frame before", line(STYLES.before)],
    [`best so far (${film.best_by})`, line({ ...STYLES.best, dash: [7, 4] })],
  ].filter(([name]) => name !== "causes the update" || film.frames.cause.some(k => k >= 0))
    .map(([name, draw]) => key(name, draw));
}

// ---- what is said ----

function sentence(film, k) {
  const { frames, points } = film, count = frames.step.length, most = film.bound?.most ?? null; // mistakes come whole
  const parts = [`Frame ${k + 1} of ${count}: step ${short(frames.step[k])}, pass ${short(Math.ceil(frames.passes[k]))}`];
  if (frames.step_size[k] !== null && k > 0) parts[0] += `, step size ${short(frames.step_size[k])}`;
  const cause = frames.cause[k];
  if (cause >= 0) {
    const moved = frames.before[k] === null ? `now z = ${short(frames.after[k])}`
      : `z from ${short(frames.before[k])} to ${short(frames.after[k])}`;
    parts.push(`Moved by row ${points.row[cause] + 1} (class ${film.classes[points.positive[cause]]}): ${moved}`);
  } else if (k > 0) parts.push(frames.updates[k] === null ? "Moved by all examples together" : "No update here");
  else parts.push("The start");
  parts.push(...errors(film, k));
  if (film.mistakes && frames.updates[k] !== null) {
    const bound = most === null ? "" : `, at most ${counted(most)} by Novikoff`;
    parts.push(`${short(frames.updates[k])} mistake${frames.updates[k] === 1 ? "" : "s"} so far${bound}`);
  }
  if (k === count - 1) parts.push(`The end: ${film.facts.find(([name]) => name === "ended")[1]}`);
  return parts.join(". ") + ".";
}

// How many are wrong; where some lie on the plane, why this is not one minus the accuracy.
function errors({ frames, total, classes }, k) {
  if (frames.zero_one[k] === null) return [];
  const on = frames.on_plane[k], wrong = counted(Math.round(frames.zero_one[k] * total));
  if (!on) return [`${wrong} of ${counted(total)} on the wrong side`];
  return [
    `${wrong} of ${counted(total)} on the wrong side or on the plane`,
    `${counted(on)} on the plane count as mistakes (z = 0), but are predicted as ${classes[0]}: `
      + `predictions are right for ${counted(frames.right[k])} of ${counted(total)}`,
  ];
}

// The update in symbols and in numbers, where a single example caused it.
function updateWords({ frames, rule }, k) {
  return frames.cause[k] < 0 ? "" : [rule, frames.written[k]].filter(words => words).join(": ");
}

// ---- moving ----

function firstSpeed(count) {
  if (calm.matches) return 2;
  return SPEEDS.find(speed => count / speed <= 20) ?? SPEEDS.at(-1); // about twenty seconds from end to end
}

// Plays frames: `count()` says how many there are, `show(frame)` draws one, `tell(playing)` hears when it starts and stops.
function makePlayer({ count, show, tell, speed }) {
  const state = { frame: 0, playing: false, speed, carried: 0, time: null };
  const last = () => count() - 1;
  const set = playing => { state.playing = playing; tell(playing); };

  function to(frame) {
    state.frame = Math.max(0, Math.min(last(), frame));
    show(state.frame);
  }
  function play() {
    if (state.playing) return;
    if (state.frame === last()) to(0);
    // Half a frame of the screen ahead: where both take equally long, no shiver of the clock skips one or shows it twice.
    Object.assign(state, { carried: Math.min(0.5, state.speed / 120), time: null });
    set(true);
    requestAnimationFrame(tick);
  }
  function pause() {
    if (state.playing) set(false);
  }
  function tick(time) {
    if (!state.playing) return;
    state.carried += Math.max(0, time - (state.time ?? time)) / 1000 * state.speed;
    state.time = time;
    const whole = Math.floor(state.carried);
    if (whole > 0) {
      state.carried -= whole;
      to(state.frame + whole);
    }
    if (state.frame === last()) pause();
    else requestAnimationFrame(tick);
  }
  function go(frame) {
    pause();
    to(frame);
  }
  const moves = {
    first: () => go(0),
    back: () => go(state.frame - 1),
    play: () => (state.playing ? pause() : play()),
    forward: () => go(state.frame + 1),
    last: () => go(last()),
  };
  return { state, to, play, pause, go, moves };
}

const KEYS = { " ": "play", ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last" };

// Buttons, slider, speeds and keys of a page that plays; `busy(target, key)` says which elements need a key themselves.
function listenToPlayer(player, busy = () => false) {
  const { state, moves, go } = player;
  for (const [id, move] of Object.entries(moves)) document.getElementById(id).addEventListener("click", move);
  document.getElementById("scrub").addEventListener("input", event => go(Number(event.target.value)));
  const select = document.getElementById("speed");
  for (const speed of SPEEDS) {
    select.append(Object.assign(item("option", `${speed} a second`), { value: speed, selected: speed === state.speed }));
  }
  select.addEventListener("change", event => { state.speed = Number(event.target.value); });
  addEventListener("keydown", event => {
    const move = KEYS[event.key], on = event.target.tagName;
    const itself = on === "SELECT" || (on === "BUTTON" && event.key === " "); // these have a use for the key
    if (!move || itself || busy(event.target, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moves[move]();
  });
}

function tellPlaying(playing) {
  const button = document.getElementById("play");
  button.classList.toggle("playing", playing);
  button.querySelector("span").textContent = playing ? "Pause" : "Play";
  button.setAttribute("aria-label", playing ? "Pause" : "Play");
  document.getElementById("status").setAttribute("aria-live", playing ? "off" : "polite"); // nobody can listen that fast
}
