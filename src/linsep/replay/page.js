"use strict";
// Draws the film that lies beside this script as JSON. Text from the data enters the page as text only.

const film = JSON.parse(document.getElementById("film").textContent);
const { frames, points, picture } = film;
const count = frames.step.length;
const SPEEDS = [1, 2, 5, 10, 25, 60, 150, 400, 1000]; // frames a second
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const element = id => document.getElementById(id);
const state = { frame: 0, playing: false, speed: firstSpeed(), carried: 0, time: 0 };

function firstSpeed() {
  if (calm.matches) return 2;
  return SPEEDS.find(speed => count / speed <= 20) ?? SPEEDS.at(-1); // about twenty seconds from end to end
}

// ---- numbers ----

function short(x) {
  if (x === null || x === undefined) return "–";
  if (x !== 0 && (Math.abs(x) < 1e-3 || Math.abs(x) >= 1e6)) return x.toExponential(2).replace("-", "−");
  return Number(x.toPrecision(4)).toLocaleString("en").replace("-", "−");
}

function isWrong(bytes, k) {
  return (bytes.charCodeAt(k >> 3) >> (k & 7)) & 1;
}

// g on the grid: the sum of the plane's coefficients times the features there, plus its offset.
const basis = picture.basis ?? [
  picture.v.flatMap(() => picture.u),
  picture.v.flatMap(v => picture.u.map(() => v)),
];

function discriminant(plane) {
  const g = new Float64Array(picture.u.length * picture.v.length).fill(plane.at(-1));
  basis.forEach((feature, j) => {
    for (let k = 0; k < g.length; k++) g[k] += plane[j] * feature[k];
  });
  return g;
}

function bestPlane(frame) {
  const k = frames.best_frame[frame];
  if (k < 0) return null;
  return k < count ? frames.plane[k] : film.best_planes[k - count];
}

// ---- the picture ----

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// A canvas as large as its place on the screen, with as many dots as the screen has.
function prepare(canvas) {
  const box = canvas.getBoundingClientRect(), dots = window.devicePixelRatio || 1;
  const width = Math.round(box.width * dots), height = Math.round(box.height * dots);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pen = canvas.getContext("2d");
  pen.setTransform(dots, 0, 0, dots, 0, 0);
  pen.clearRect(0, 0, box.width, box.height);
  pen.font = "12px system-ui, sans-serif";
  return { pen, width: box.width, height: box.height };
}

function drawPicture() {
  const { pen, width, height } = prepare(element("picture"));
  const bottom = 22, left = 22;
  const inner = { x: left, y: 4, width: width - left - 4, height: height - bottom - 4 };
  const [u, v] = [picture.u, picture.v];
  const at = {
    x: value => inner.x + (value - u[0]) / (u.at(-1) - u[0]) * inner.width,
    y: value => inner.y + inner.height - (value - v[0]) / (v.at(-1) - v[0]) * inner.height,
  };
  const { frame } = state, plane = frames.plane[frame], g = discriminant(plane);
  pen.save();
  pen.beginPath();
  pen.rect(inner.x, inner.y, inner.width, inner.height);
  pen.clip();
  shade(pen, g, at);
  const drawn = isPlane(plane);
  if (drawn && frame > 0 && isPlane(frames.plane[frame - 1])) {
    contour(pen, at, discriminant(frames.plane[frame - 1]), 0, { color: "quiet", width: 1, alpha: 0.6 });
  }
  const best = bestPlane(frame);
  if (best) contour(pen, at, discriminant(best), 0, { color: "best", width: 3, dash: [9, 6] });
  if (drawn && frames.band[frame] > 0) {
    for (const side of [-1, 1]) {
      contour(pen, at, g, side * frames.band[frame], { color: "plane", width: 1.3, dash: [2, 4] });
    }
  }
  drawPoints(pen, at);
  if (drawn) contour(pen, at, g, 0, { color: "plane", width: 2.5 });
  drawCause(pen, at);
  pen.restore();
  axes(pen, inner, picture.names);
}

// w = 0 is no plane: nothing is drawn of it.
function isPlane(plane) {
  return plane.slice(0, -1).some(weight => weight !== 0);
}

// The corners of a cell of the grid and, between them, its edges; an edge has the same name in both cells that share it.
function cell(i, j) {
  const across = picture.u.length, edge = (side, a, b) => 2 * (b * across + a) + side;
  return {
    corners: [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]],
    edges: [edge(0, i, j), edge(1, i + 1, j), edge(0, i, j + 1), edge(1, i, j)],
  };
}

function eachCell(visit) {
  for (let j = 0; j + 1 < picture.v.length; j++) for (let i = 0; i + 1 < picture.u.length; i++) visit(cell(i, j));
}

// Walk around a cell: its corners with their values, and between them the points where g crosses the level.
function around({ corners, edges }, g, level, at) {
  const place = ([i, j]) => [at.x(picture.u[i]), at.y(picture.v[j])];
  const value = ([i, j]) => g[j * picture.u.length + i] - level;
  return corners.flatMap((corner, k) => {
    const next = corners[(k + 1) % 4], from = value(corner), to = value(next), [a, b] = [place(corner), place(next)];
    const here = { point: a, side: from >= 0 };
    if (from >= 0 === to >= 0) return [here];
    const t = from / (from - to);
    return [here, { point: [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])], edge: edges[k] }];
  });
}

// Each side in the colour of its class, faintly: of every cell the part on that side, all in one path.
function shade(pen, g, at) {
  if (!g.some(value => value !== 0)) return;
  for (const side of [false, true]) {
    pen.beginPath();
    eachCell(one => {
      const part = around(one, g, 0, at).filter(stop => stop.edge !== undefined || stop.side === side);
      trace(pen, part.map(stop => stop.point));
    });
    pen.globalAlpha = 0.12;
    pen.fillStyle = color(side ? "positive" : "negative");
    pen.fill();
    pen.globalAlpha = 1;
  }
}

// Marching squares: join the crossings of every cell, and these from cell to cell, so that dashes run through.
function contour(pen, at, g, level, style) {
  const points = new Map(), links = new Map();
  eachCell(one => {
    const cuts = around(one, g, level, at).filter(stop => stop.edge !== undefined);
    cuts.forEach(({ edge, point }) => points.set(edge, point));
    for (let k = 0; k + 1 < cuts.length; k += 2) {
      for (const [from, to] of [[cuts[k].edge, cuts[k + 1].edge], [cuts[k + 1].edge, cuts[k].edge]]) {
        links.set(from, [...(links.get(from) ?? []), to]);
      }
    }
  });
  pen.beginPath();
  const ends = [...links.keys()].filter(edge => links.get(edge).length === 1);
  for (const start of [...ends, ...links.keys()]) { // open lines from their ends, then what is closed
    let edge = links.has(start) ? start : undefined;
    if (edge !== undefined) pen.moveTo(...points.get(edge));
    while (edge !== undefined) {
      const next = links.get(edge)?.find(other => links.has(other)) ?? (links.get(edge)?.includes(start) ? start : undefined);
      links.delete(edge);
      if (next !== undefined) pen.lineTo(...points.get(next));
      edge = links.has(next) ? next : undefined;
    }
  }
  stroke(pen, style);
}

function stroke(pen, { color: name, width = 1.5, dash = [], alpha = 1 }) {
  Object.assign(pen, { strokeStyle: color(name), lineWidth: width, globalAlpha: alpha, lineJoin: "round" });
  pen.setLineDash(dash);
  pen.stroke();
  pen.setLineDash([]);
  pen.globalAlpha = 1;
}

function trace(pen, points) {
  points.forEach((point, k) => (k ? pen.lineTo(...point) : pen.moveTo(...point)));
}

function polyline(pen, points, style) {
  pen.beginPath();
  trace(pen, points);
  stroke(pen, style);
}

// Circles and squares; one on the wrong side is hollow with a strong edge.
function marker(pen, x, y, positive, wrong, size) {
  pen.beginPath();
  if (positive) pen.rect(x - size, y - size, 2 * size, 2 * size);
  else pen.arc(x, y, size * 1.12, 0, 2 * Math.PI);
  pen.lineWidth = wrong ? 2 : 1;
  pen.strokeStyle = color(positive ? "positive" : "negative");
  pen.fillStyle = wrong ? color("ground") : color(positive ? "positive" : "negative");
  pen.globalAlpha = wrong ? 1 : 0.72;
  pen.fill();
  pen.globalAlpha = 1;
  pen.stroke();
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
  pen.beginPath();
  pen.arc(x, y, 13, 0, 2 * Math.PI);
  stroke(pen, { color: "cause", width: 3.5 });
}

function axes(pen, inner, [across, up]) {
  pen.strokeStyle = color("rule");
  pen.strokeRect(inner.x, inner.y, inner.width, inner.height);
  pen.fillStyle = color("quiet");
  const low = inner.y + inner.height + 15;
  label(pen, short(picture.u[0]), inner.x, low, "left");
  label(pen, short(picture.u.at(-1)), inner.x + inner.width, low, "right");
  label(pen, across, inner.x + inner.width / 2, low, "center", inner.width - 120);
  pen.save();
  pen.translate(inner.x - 8, inner.y + inner.height / 2);
  pen.rotate(-Math.PI / 2);
  label(pen, short(picture.v[0]), -inner.height / 2, 0, "left");
  label(pen, short(picture.v.at(-1)), inner.height / 2, 0, "right");
  label(pen, up, 0, 0, "center", inner.height - 120);
  pen.restore();
}

function label(pen, text, x, y, align, room = Infinity) {
  while (text.length > 2 && pen.measureText(text).width > room) text = text.slice(0, -2).trimEnd() + "…";
  pen.textAlign = align;
  pen.fillText(text, x, y);
}

// ---- the curves ----

const LEVEL = { color: "cause", width: 2, dash: [3, 3] };

// What one curve shows: lines with a name, a style and one value a frame (null where there is none).
function makeChart(id, caption, lines, { level = null, wide = true } = {}) {
  const figure = element(id), canvas = figure.querySelector("canvas");
  const values = [...lines.flatMap(line => line.values), ...(level ? [level.value] : [])].filter(x => x !== null);
  if (!values.length) {
    figure.hidden = true;
    return null;
  }
  const [low, high] = values.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, -Infinity]);
  const least = values.filter(x => x > 0).reduce((a, b) => Math.min(a, b), Infinity);
  const logarithmic = wide && least < Infinity && high / least > 200 && low >= 0;
  figure.querySelector("figcaption").textContent = caption + (logarithmic ? " (logarithmic)" : "");
  canvas.setAttribute("aria-label", `${caption}: ` + lines.map(
    line => `${line.name} from ${short(line.values.find(x => x !== null))} to ${short(line.values.at(-1))}`).join(", ")
    + (level ? `, ${level.name} ${short(level.value)}` : ""));
  const scale = logarithmic ? x => Math.log10(Math.max(x, least)) : x => x;
  const bottom = logarithmic ? least : Math.min(0, low);
  const chart = { canvas, lines, level, scale, bottom, top: high > bottom ? high : bottom + 1 };
  for (const kind of ["pointerdown", "pointermove"]) {
    canvas.addEventListener(kind, event => {
      if (kind === "pointermove" && !event.buttons) return;
      const box = canvas.getBoundingClientRect();
      pause();
      show(Math.round((event.clientX - box.left - 6) / (box.width - 12) * (count - 1)));
    });
  }
  return chart;
}

function drawChart({ canvas, lines, level, scale, bottom, top }) {
  const { pen, width, height } = prepare(canvas);
  const x = frame => 6 + (count > 1 ? frame / (count - 1) : 0) * (width - 12);
  const y = value => height - 8 - (scale(value) - scale(bottom)) / (scale(top) - scale(bottom)) * (height - 30);
  if (level) polyline(pen, [[0, y(level.value)], [width, y(level.value)]], LEVEL);
  for (const line of lines) {
    polyline(pen, line.values.flatMap((value, frame) => (value === null ? [] : [[x(frame), y(value)]])), line);
  }
  polyline(pen, [[x(state.frame), 0], [x(state.frame), height]], { color: "quiet", width: 1 });
  legendOfChart(pen, width, lines, level);
  lines.forEach(line => {
    const value = line.values[state.frame];
    if (value === null) return;
    pen.beginPath();
    pen.arc(x(state.frame), y(value), 4, 0, 2 * Math.PI);
    pen.fillStyle = color(line.color);
    pen.fill();
  });
}

// The numbers of this frame, each behind a piece of its line.
function legendOfChart(pen, width, lines, level) {
  let left = 8;
  const entries = lines.map(line => [`${line.name} ${short(line.values[state.frame])}`, line]);
  if (level) entries.push([`${level.name} ${short(level.value)}`, LEVEL]);
  for (const [text, style] of entries) {
    const room = pen.measureText(text).width + 36;
    pen.fillStyle = color("panel");
    pen.fillRect(left - 4, 2, room - 4, 16);
    polyline(pen, [[left, 10], [left + 18, 10]], style);
    pen.fillStyle = color("ink");
    label(pen, text, left + 22, 14, "left", width - left - 22);
    left += room;
  }
}

const percent = share => (share === null ? null : 100 * share);
const most = film.bound?.value ? Math.floor(film.bound.value) : null; // mistakes come whole
const charts = [
  makeChart("objective-chart", "Objective, mean of all examples", [
    { name: "now", values: frames.objective, color: "plane", width: 1.5 },
    { name: "best so far", values: frames.best, color: "best", width: 2.5, dash: [9, 6] },
  ]),
  makeChart("errors-chart", "Examples on the wrong side, %", [
    { name: "now", values: frames.zero_one.map(percent), color: "plane", width: 1.5 },
    { name: "best so far", values: frames.best_errors.map(percent), color: "best", width: 2.5, dash: [9, 6] },
  ], { wide: false }),
  makeChart("updates-chart", film.mistakes ? "Mistakes made so far" : "Updates so far", [
    { name: film.mistakes ? "mistakes" : "updates", values: frames.updates, color: "plane", width: 2 },
  ], { level: most === null ? null : { name: "Novikoff's bound", value: most }, wide: most !== null }),
].filter(chart => chart);

// ---- what is said ----

function sentence(k) {
  const parts = [`Frame ${k + 1} of ${count}: step ${short(frames.step[k])}, pass ${short(frames.passes[k])}`];
  if (frames.step_size[k] !== null && k > 0) parts[0] += `, step size ${short(frames.step_size[k])}`;
  const cause = frames.cause[k];
  if (cause >= 0) {
    const moved = frames.before[k] === null ? `now z = ${short(frames.after[k])}`
      : `z from ${short(frames.before[k])} to ${short(frames.after[k])}`;
    parts.push(`Moved by row ${points.row[cause] + 1} (class ${film.classes[points.positive[cause]]}): ${moved}`);
  } else if (k > 0) parts.push(frames.updates[k] === null ? "Moved by all examples together" : "No update here");
  else parts.push("The start");
  if (frames.zero_one[k] !== null) {
    parts.push(`${Math.round(frames.zero_one[k] * film.total).toLocaleString("en")} of `
      + `${film.total.toLocaleString("en")} on the wrong side or on the plane`);
  }
  if (film.mistakes && frames.updates[k] !== null) {
    const bound = most === null ? "" : `, at most ${most.toLocaleString("en")} by Novikoff`;
    parts.push(`${short(frames.updates[k])} mistakes so far${bound}`);
  }
  if (k === count - 1) parts.push(`The end: ${film.facts.find(([name]) => name === "ended")[1]}`);
  return parts.join(". ") + ".";
}

function fillTexts() {
  element("sentence").textContent = picture.sentence;
  element("bound").textContent = film.bound?.sentence ?? "";
  element("advice").textContent = film.advice;
  element("advice").hidden = !film.advice;
  for (const note of film.notes) element("notes").append(item("li", note));
  for (const [name, fact] of film.facts) element("facts").append(item("dt", name), item("dd", fact));
  const entries = [
    [film.classes[0], pen => marker(pen, 13, 8, 0, 0, 4.5)],
    [film.classes[1], pen => marker(pen, 13, 8, 1, 0, 4.5)],
    ["wrong side (hollow)", pen => { marker(pen, 7, 8, 0, 1, 4); marker(pen, 19, 8, 1, 1, 4); }],
    ["causes the update", pen => { pen.beginPath(); pen.arc(13, 8, 6, 0, 7); stroke(pen, { color: "cause", width: 3 }); }],
    ["plane now", pen => polyline(pen, [[0, 8], [26, 8]], { color: "plane", width: 2.5 })],
    ["margin", pen => polyline(pen, [[0, 8], [26, 8]], { color: "plane", width: 1.3, dash: [2, 4] })],
    ["one frame before", pen => polyline(pen, [[0, 8], [26, 8]], { color: "quiet", width: 1, alpha: 0.6 })],
    ["best so far", pen => polyline(pen, [[0, 8], [26, 8]], { color: "best", width: 3, dash: [7, 4] })],
  ].filter(([name]) => name !== "causes the update" || frames.cause.some(k => k >= 0));
  for (const [name, draw] of entries) {
    const entry = item("li", ""), swatch = document.createElement("canvas");
    swatch.setAttribute("aria-hidden", "true");
    entry.append(swatch, item("span", name));
    element("legend").append(entry);
    swatches.push(() => draw(prepare(swatch).pen));
  }
}

const swatches = [];

function item(tag, text) {
  return Object.assign(document.createElement(tag), { textContent: text });
}

// ---- moving ----

function show(frame) {
  state.frame = Math.max(0, Math.min(count - 1, frame));
  element("scrub").value = state.frame;
  element("scrub").setAttribute("aria-valuetext", `step ${frames.step[state.frame]}`);
  element("status").textContent = sentence(state.frame);
  drawPicture();
  charts.forEach(drawChart);
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
show(0);
swatches.forEach(draw => draw());
