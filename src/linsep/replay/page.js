// Shows the film that lies beside this script as JSON. Text from the data enters the page as text only.

const film = JSON.parse(document.getElementById("film").textContent);
const { frames, points, picture } = film;
const grid = gridOf(picture);
const count = frames.step.length;
const SPEEDS = [1, 2, 5, 10, 25, 60, 150, 400, 1000]; // frames a second
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const element = id => document.getElementById(id);
const state = { frame: 0, playing: false, speed: firstSpeed(), carried: 0, time: 0 };

function firstSpeed() {
  if (calm.matches) return 2;
  return SPEEDS.find(speed => count / speed <= 20) ?? SPEEDS.at(-1); // about twenty seconds from end to end
}

function item(tag, text) {
  return Object.assign(document.createElement(tag), { textContent: text });
}

function isWrong(bytes, k) {
  return (bytes.charCodeAt(k >> 3) >> (k & 7)) & 1;
}

function bestPlane(frame) {
  const k = frames.best_frame[frame];
  if (k < 0) return null;
  return k < count ? frames.plane[k] : film.best_planes[k - count];
}

// ---- the picture ----

const STYLES = {
  now: { color: "plane", width: 2.5 },
  margin: { color: "plane", width: 1.3, dash: [2, 4] },
  before: { color: "quiet", width: 1, alpha: 0.6 },
  best: { color: "best", width: 3, dash: [9, 6] },
  cause: { color: "cause", width: 3.5 },
  level: { color: "cause", width: 2, dash: [3, 3] },
};
const across = [picture.u[0], picture.u.at(-1)], up = [picture.v[0], picture.v.at(-1)];

function pictureBox() {
  const canvas = element("picture"), size = canvas.getBoundingClientRect();
  return inset(canvas.getContext("2d"), size, ticks(...up, size.height / 60));
}

function drawPicture() {
  const { pen, width, height } = prepare(element("picture"));
  const box = pictureBox(), at = placed(box, across, up);
  const { frame } = state, plane = frames.plane[frame], g = discriminant(grid, plane), drawn = isPlane(plane);
  axes(pen, box, at, ticks(...across, width / 80), ticks(...up, height / 60));
  within(pen, box, () => {
    shade(pen, at, grid, g);
    if (drawn && frame > 0 && isPlane(frames.plane[frame - 1])) {
      contour(pen, at, grid, discriminant(grid, frames.plane[frame - 1]), 0, STYLES.before);
    }
    const best = bestPlane(frame);
    if (best) contour(pen, at, grid, discriminant(grid, best), 0, STYLES.best);
    if (drawn && frames.band[frame] > 0) {
      for (const side of [-1, 1]) contour(pen, at, grid, g, side * frames.band[frame], STYLES.margin);
    }
    drawPoints(pen, at);
    if (drawn) contour(pen, at, grid, g, 0, STYLES.now);
    drawCause(pen, at);
  });
}

function drawPoints(pen, at) {
  const wrong = atob(frames.wrong[state.frame]);
  const size = points.drawn > 400 ? 2.4 : points.drawn > 120 ? 3.2 : 4.2;
  for (let k = 0; k < points.drawn; k++) {
    marker(pen, at.x(points.u[k]), at.y(points.v[k]), points.positive[k], isWrong(wrong, k), size);
  }
}

function drawCause(pen, at) {
  const k = frames.cause[state.frame];
  if (k < 0) return;
  const [x, y] = [at.x(points.u[k]), at.y(points.v[k])];
  marker(pen, x, y, points.positive[k], frames.after[state.frame] <= 0, 5);
  ring(pen, x, y, 13, STYLES.cause);
}

// ---- the curves ----

function makeChart(id, caption, lines, { level = null, wide = true } = {}) {
  const figure = element(id), canvas = figure.querySelector("canvas");
  const values = [...lines.flatMap(line => line.values), ...(level ? [level.value] : [])].filter(x => x !== null);
  if (!values.length) {
    figure.hidden = true;
    return null;
  }
  const scale = reach(values, wide), stepped = frames.cause.some(k => k >= 0);
  const chart = { canvas, lines, level, scale, stepped, x: frames.step };
  figure.querySelector("figcaption").textContent = caption + (scale.logarithmic ? " (logarithmic)" : "") + ", by step";
  canvas.setAttribute("aria-label", `${caption}: ` + lines.map(
    line => `${line.name} from ${short(line.values.find(x => x !== null))} to ${short(line.values.at(-1))}`).join(", ")
    + (level ? `, ${level.name} ${short(level.value)}` : ""));
  const keys = [...lines, ...(level ? [level] : [])].map(line => key(line.name, pen => polyline(pen, [[0, 8], [26, 8]], line)));
  figure.querySelector("ul").append(...keys);
  chart.told = keys.map(entry => entry.querySelector("span"));
  for (const kind of ["pointerdown", "pointermove"]) {
    canvas.addEventListener(kind, event => {
      if (kind === "pointermove" && !event.buttons) return;
      go(pointed(chart, event.clientX));
    });
  }
  return chart;
}

// The numbers of this frame, each beside a piece of its line.
function tellChart({ lines, level, told }) {
  lines.forEach((line, k) => { told[k].textContent = `${line.name} ${short(line.values[state.frame])}`; });
  if (level) told[lines.length].textContent = `${level.name} ${short(level.value)}`;
}

const swatches = [];

// An entry of a legend: what a mark looks like, and its name.
function key(name, draw) {
  const entry = item("li", ""), swatch = document.createElement("canvas");
  swatch.setAttribute("aria-hidden", "true");
  entry.append(swatch, item("span", name));
  swatches.push(() => draw(prepare(swatch).pen));
  return entry;
}

const percent = share => (share === null ? null : 100 * share);
const most = film.bound?.most ?? null; // mistakes come whole
const charts = [
  makeChart("objective-chart", "Objective, mean of all examples", [
    { name: "now", values: frames.objective, color: "plane", width: 1.5 },
    { name: film.start_is_least ? "best so far (without the start, w = 0)" : "best so far", values: frames.best, ...STYLES.best },
  ]),
  makeChart("errors-chart", "Mistakes, % of the examples: z ≤ 0, on the wrong side or on the plane", [
    { name: "now", values: frames.zero_one.map(percent), color: "plane", width: 1.5 },
    { name: "best so far", values: frames.best_errors.map(percent), ...STYLES.best },
  ], { wide: false }),
  makeChart("updates-chart", film.mistakes ? "Mistakes made so far" : "Updates so far", [
    { name: film.mistakes ? "mistakes" : "updates", values: frames.updates, color: "plane", width: 2 },
  ], { level: most === null ? null : { name: "Novikoff's bound", value: most, ...STYLES.level }, wide: most !== null }),
].filter(chart => chart);

// ---- what is said ----

const counted = number => number.toLocaleString("en");

function sentence(k) {
  const parts = [`Frame ${k + 1} of ${count}: step ${short(frames.step[k])}, pass ${short(Math.ceil(frames.passes[k]))}`];
  if (frames.step_size[k] !== null && k > 0) parts[0] += `, step size ${short(frames.step_size[k])}`;
  const cause = frames.cause[k];
  if (cause >= 0) {
    const moved = frames.before[k] === null ? `now z = ${short(frames.after[k])}`
      : `z from ${short(frames.before[k])} to ${short(frames.after[k])}`;
    parts.push(`Moved by row ${points.row[cause] + 1} (class ${film.classes[points.positive[cause]]}): ${moved}`);
  } else if (k > 0) parts.push(frames.updates[k] === null ? "Moved by all examples together" : "No update here");
  else parts.push("The start");
  parts.push(...errors(k));
  if (film.mistakes && frames.updates[k] !== null) {
    const bound = most === null ? "" : `, at most ${counted(most)} by Novikoff`;
    parts.push(`${short(frames.updates[k])} mistake${frames.updates[k] === 1 ? "" : "s"} so far${bound}`);
  }
  if (k === count - 1) parts.push(`The end: ${film.facts.find(([name]) => name === "ended")[1]}`);
  return parts.join(". ") + ".";
}

// How many are wrong; where some lie on the plane, why this is not one minus the accuracy.
function errors(k) {
  if (frames.zero_one[k] === null) return [];
  const on = frames.on_plane[k], wrong = counted(Math.round(frames.zero_one[k] * film.total));
  if (!on) return [`${wrong} of ${counted(film.total)} on the wrong side`];
  return [
    `${wrong} of ${counted(film.total)} on the wrong side or on the plane`,
    `${counted(on)} on the plane count as mistakes (z = 0), but are predicted as ${film.classes[0]}: `
      + `predictions are right for ${counted(frames.right[k])} of ${counted(film.total)}`,
  ];
}

function fillTexts() {
  element("across").textContent = `→ ${picture.names[0]}`;
  element("up").textContent = `↑ ${picture.names[1]}`;
  element("sentence").textContent = picture.sentence;
  element("bound").textContent = film.bound?.sentence ?? "";
  element("advice").textContent = film.advice;
  element("advice").hidden = !film.advice;
  for (const note of film.notes) element("notes").append(item("li", note));
  for (const [name, fact] of film.facts) element("facts").append(item("dt", name), item("dd", fact));
  const line = style => pen => polyline(pen, [[0, 8], [26, 8]], style);
  const entries = [
    [film.classes[0], pen => marker(pen, 13, 8, 0, 0, 4.5)],
    [film.classes[1], pen => marker(pen, 13, 8, 1, 0, 4.5)],
    ["mistake (hollow)", pen => { marker(pen, 7, 8, 0, 1, 4); marker(pen, 19, 8, 1, 1, 4); }],
    ["causes the update", pen => ring(pen, 13, 8, 6, { color: "cause", width: 3 })],
    ["plane now", line(STYLES.now)],
    ["margin", line(STYLES.margin)],
    ["one frame before", line(STYLES.before)],
    [`best so far (${film.best_by})`, line({ ...STYLES.best, dash: [7, 4] })],
  ].filter(([name]) => name !== "causes the update" || frames.cause.some(k => k >= 0));
  element("legend").append(...entries.map(([name, draw]) => key(name, draw)));
}

// ---- moving ----

function show(frame) {
  state.frame = Math.max(0, Math.min(count - 1, frame));
  element("scrub").value = state.frame;
  element("scrub").setAttribute("aria-valuetext", `step ${frames.step[state.frame]}`);
  element("status").textContent = sentence(state.frame);
  element("update").textContent = frames.cause[state.frame] < 0 ? ""
    : [film.rule, frames.written[state.frame]].filter(words => words).join(": ");
  drawPicture();
  for (const chart of charts) {
    tellChart(chart);
    drawChart(chart, state.frame);
  }
}

function play() {
  if (state.playing) return;
  if (state.frame === count - 1) show(0);
  Object.assign(state, { playing: true, carried: 0, time: performance.now() });
  tellPlaying();
  requestAnimationFrame(tick);
}

function pause() {
  if (!state.playing) return;
  state.playing = false;
  tellPlaying();
}

function tellPlaying() {
  element("play").classList.toggle("playing", state.playing);
  element("play").querySelector("span").textContent = state.playing ? "Pause" : "Play";
  element("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
  element("status").setAttribute("aria-live", state.playing ? "off" : "polite"); // nobody can listen that fast
}

function tick(time) {
  if (!state.playing) return;
  state.carried += Math.max(0, time - state.time) / 1000 * state.speed;
  state.time = time;
  const whole = Math.floor(state.carried);
  if (whole > 0) {
    state.carried -= whole;
    show(state.frame + whole);
  }
  if (state.frame === count - 1) pause();
  else requestAnimationFrame(tick);
}

function go(frame) {
  pause();
  show(frame);
}

const moves = {
  first: () => go(0),
  back: () => go(state.frame - 1),
  play: () => (state.playing ? pause() : play()),
  forward: () => go(state.frame + 1),
  last: () => go(count - 1),
};
const keys = { " ": "play", ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last" };

function listen() {
  for (const [id, move] of Object.entries(moves)) element(id).addEventListener("click", move);
  element("scrub").max = count - 1;
  element("scrub").addEventListener("input", event => go(Number(event.target.value)));
  for (const speed of SPEEDS) {
    const option = item("option", `${speed} a second`);
    element("speed").append(Object.assign(option, { value: speed, selected: speed === state.speed }));
  }
  element("speed").addEventListener("change", event => { state.speed = Number(event.target.value); });
  addEventListener("keydown", event => {
    const move = keys[event.key], on = event.target.tagName;
    const itself = on === "SELECT" || (on === "BUTTON" && event.key === " "); // these have a use for the key
    if (!move || itself || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moves[move]();
  });
  const redraw = () => {
    show(state.frame);
    swatches.forEach(draw => draw());
  };
  addEventListener("resize", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

fillTexts();
listen();
show(film.opening);
swatches.forEach(draw => draw());
