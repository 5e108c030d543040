// The page: what is drawn, asked and told. All computing is the server's; drawing.js and stage.js draw.
/* global axes, calm, color, contour, discriminant, drawChart, drawScene, drawSwatches, filmCharts, firstSpeed, frameBox, gridOf,
   inset, inView, isPlane, item, key, legendOf, listenToPlayer, makePlayer, markSize, markers, paintCause, paintPlanes, paintPoints, placed,
   polyline, prepare, ring, sentence, short, stroke, STYLES, swatches, tellChart, tellPlaying, ticks, updateWords */
import { readAddress, writeAddress } from "./address.js";
import { Compare } from "./compare.js";
import { Digits } from "./digits.js";
import { Editor } from "./editor.js";
import { FilePanel } from "./files.js";
import { MethodForm } from "./form.js";
import { Hand } from "./hand.js";
import { Link } from "./link.js";
import { agreements, LossPlot, moreCharts, paintSlacks, slackStyle } from "./losses.js";
import { asFilmed, AXES, axesOf, fromColumns, Points, SIDES, windowOf } from "./points.js";
import { offerPictures, tellPicture } from "./pictures.js";
import { paintHulls, paintStar, verdictWords } from "./proof.js";
import { linkWords, Share } from "./share.js";
import { Steps, stepWords } from "./steps.js";
import { Surface } from "./surface.js";
import { STOPS, Tour } from "./tour.js";
import { arrow, paintUpdate, updateOf, updateStyle } from "./update.js";
import { Zoom } from "./zoom.js";

const element = id => document.getElementById(id);
const QUICK = 200; // steps that are recorded at the most while a point is being dragged
const PAUSE = 300; // milliseconds between two addresses at the least: browsers refuse more than some hundred in half a minute
const points = new Points();
const state = { preset: null, method: { name: "perceptron" }, features: "plain", compare: [], stop: null, file: null, names: AXES, classes: SIDES };
const shown = { film: null, beside: null, model: null, each: null, proof: null, charts: [], grid: null, window: windowOf([]), hover: null, stale: true };
const link = new Link(() => complain("The server has gone. Start linsep play again, and open the address that it prints."));
const count = () => shown.film?.frames.step.length ?? 1;
const player = makePlayer({
  count, speed: 2,
  show: frame => { draw(frame); if (!player.state.playing) save(); },
  tell: playing => { tellPlaying(playing); save(); if (!playing) look(); },
});
const editor = new Editor(element("picture"), points, view, {
  editable: () => pictures && state.file === null, changed: edited, hover, look,
  take: (place, reach) => hand.take(place, reach),
});
const zoom = new Zoom(element("picture"), view, {
  abandon: () => editor.abandon(), look, settled: () => { save(); if (shown.film?.picture.basis) fit(); },
});
const compare = new Compare({ ask, state, redraw: look, save });
const hand = new Hand({ ask: (what, body) => link.ask(what, { points: points.columns(), ...body }), redraw: look, view, save });
const tour = new Tour(state, name => goTo(name));
const steps = new Steps({ ask: (what, body) => link.ask(what, body), save });
const digits = new Digits({ ask: (what, body) => link.ask(what, body), save });
const surface = new Surface({ refit: () => pictures && fit(), save });
const lossPlot = new LossPlot(element("loss-plot"));
new Share({ ask, method: () => state.method, paint: surface => paint(surface, player.state.frame), address: () => saved() });
let server, form, pictures; // presets and figures by their names

// ---- asking ----

function examples() {
  return { ...(state.file ? { file: state.file } : { points: points.columns(), names: state.names }), features: state.features };
}

function ask(what, body) {
  return link.ask(what, { ...examples(), ...body });
}

// Fit to what is there now; `where` is the frame to show then: "opening", "last", "keep", or its number.
async function fit({ steps, where = "keep" } = {}) {
  const atEnd = !shown.film || player.state.frame === count() - 1;
  const longer = pictures[state.preset]?.steps;
  const asked = { method: state.method, window: zoom.window ?? (state.file ? null : shown.window), ...(steps ? { steps, draft: true } : longer ? { steps: longer } : {}), ...surface.asked };
  const sent = points.list, answer = await ask("fit", asked);
  if (answer.kind !== "film") {
    Object.assign(shown, { film: null, beside: null, model: null, each: null });
    surface.take(null);
    for (const figure of document.querySelectorAll(".stage figure")) figure.hidden = true;
    complain(answer.why);
    tell();
    draw(0);
    return;
  }
  complain(answer.film.advice, answer.film.try);
  const { film, beside, model, each } = answer;
  film.classes = state.classes;
  film.points ??= asFilmed(sent); // what was sent does not come back while a point is dragged
  if (!zoom.window) shown.home = [film.picture.u, film.picture.v].map(part => [part[0], part.at(-1)]);
  if (film.bound) film.bound.lecture = beside.lecture;
  Object.assign(shown, { film, beside, model, each, grid: gridOf(film.picture), stale: false });
  surface.take(beside.surface);
  shown.charts = [...filmCharts(film, player.go), ...moreCharts(film, beside, player.go)];
  element("scrub").max = count() - 1;
  tell();
  if (where === "opening") {
    player.state.speed = firstSpeed(count());
    element("speed").value = player.state.speed;
  }
  player.to(frameOf(where, atEnd));
  drawSwatches();
}

function frameOf(where, atEnd) {
  if (Number.isInteger(where)) return where;
  if (where === "opening") return calm.matches ? count() - 1 : 0;
  return where === "last" || (atEnd && !player.state.playing) ? count() - 1 : player.state.frame;
}

async function prove() {
  const answer = await ask("separability", { intercept: state.method.intercept ?? true });
  shown.proof = answer.kind === "separability" ? answer : null;
  tellVerdict(answer);
  look();
}

// Everything anew: other points, another method.
async function refresh(where) {
  const fitted = fit({ where }); // asked first, answered first
  prove();
  compare.refresh();
  hand.refresh();
  await fitted;
}

// ---- telling ----

// What is wrong, and where one is known a step size to try instead.
function complain(words, instead = null) {
  const button = element("advice-try");
  element("advice-words").textContent = words ?? "";
  element("advice").hidden = !words;
  button.hidden = !instead;
  if (instead) button.textContent = stepWords(instead);
  button.onclick = () => chosen({ method: { ...state.method, ...instead } });
}

function tell() {
  const { film, model } = shown;
  element("across").textContent = film ? `→ ${film.picture.kind === "projection" ? film.picture.names[0] : state.names[0]}` : "";
  element("up").textContent = film ? `↑ ${film.picture.kind === "projection" ? film.picture.names[1] : state.names[1]}` : "";
  element("sentence").textContent = film?.picture.sentence ?? "";
  element("bound").textContent = [film?.bound?.sentence, film?.bound?.lecture?.sentence].filter(words => words).join(" ");
  element("notes").replaceChildren(...(film?.notes ?? []).map(note => item("li", note)));
  element("facts").replaceChildren(...(film?.facts ?? []).flatMap(([name, fact]) => [item("dt", name), item("dd", fact)]));
  element("legend").replaceChildren(...(film ? [...legendOf({ ...film, classes: sides(film.classes) }), ...pageLegend()] : []));
  element("certificate").textContent = model?.words ?? "";
  element("certificate").className = model?.proven ? "yes" : "";
  element("plane").textContent = model ? planeWords(model) : "";
  element("point").textContent = pointWords();
}

// What the marks of both classes are called: by what stands for y in a formula.
function sides(classes) {
  return [-1, 1].map((y, k) => `${classes === SIDES ? "" : `${classes[k]}, `}y = ${y < 0 ? "−1" : "+1"}`);
}

function pageLegend() {
  const { film, beside } = shown, keys = [];
  if (film.frames.step.some((_, k) => updateOf(film, k))) {
    keys.push(key("what the update adds to w: from w before to w now", pen => arrow(pen, [0, 8], [26, 8], updateStyle)));
  }
  if (beside.loss.margin) keys.push(key("slack, from a point to its margin", pen => polyline(pen, [[0, 8], [26, 8]], slackStyle)));
  return keys;
}

function planeWords({ coef, intercept, estimator }) {
  const digits = value => String(value).replace("-", "−");
  const few = coef.length <= 9 ? coef.map(digits).join(", ") : `${coef.length} weights`;
  return `${estimator}: w = (${few}), b = ${digits(intercept)}`;
}

function tellVerdict(answer) {
  const verdict = element("verdict"), where = straight() ? "line" : "plane of these features";
  verdict.className = answer.kind !== "separability" ? "" : answer.separable ? "yes" : "no";
  verdict.textContent = verdictWords(answer, where);
}

// Whether a plane of the features is a line of the picture, and their hulls are hulls there.
const straight = () => state.file === null && ["plain", "standardised"].includes(state.features);
const hint = () => (state.file ? "The file's own rows stay where they are: two columns of few rows, without gaps, become points to move." : "Click to add a point, drag one to move it.");

function hover(k) {
  if (shown.hover === k) return;
  shown.hover = k;
  element("point").textContent = pointWords();
  look();
}

// The point under the pointer in numbers: those of the fit once it is there.
function pointWords() {
  const { each, hover: k } = shown, row = state.file ? null : points.list[k];
  if (!row) return hint();
  return `Point ${k + 1} ${row.positive ? "●" : "■"} (${short(row.x)}, ${short(row.y)})`
    + (each?.z && !shown.stale && k < each.z.length ? `, at the line reported: z = ${short(each.z[k])}`
      + (each.distance ? `, ${short(Math.abs(each.distance[k]))} ${each.distance[k] >= 0 ? "on its own side" : "on the wrong side"}` : "")
      + `, loss ${each.formula} = ${short(each.loss[k])}` + (each.slope ? `, its slope ${short(each.slope[k])}` : "")
      + (each.gradient?.length ? `, its gradient (${each.gradient.map(part => short(part[k])).join(", ")})` : "")
      + (each.dual ? `, dual variable ${short(each.dual[k])}` : "") : "");
}

// ---- drawing ----

function view() {
  const home = homeWindow(), window = zoom.window ?? home, box = frameBox(element("picture"), { v: window[1] });
  return { box, at: placed(box, ...window), window, home };
}

// What is shown where nobody has zoomed.
function homeWindow() {
  const { picture } = shown.film ?? {};
  return state.file && picture ? shown.home ?? [picture.u, picture.v].map(part => [part[0], part.at(-1)]) : shown.window;
}

// Where level lines are drawn: those of two coordinates are straight, and go through any window.
function gridNow(window) {
  return shown.film && !shown.film.picture.basis ? gridOf({ u: window[0], v: window[1] }) : shown.grid;
}

// Draw once before the screen is shown next, however much has changed until then.
function look() {
  look.waiting ??= requestAnimationFrame(() => draw(player.state.frame));
}

function draw(frame) {
  cancelAnimationFrame(look.waiting);
  look.waiting = null;
  const { film } = shown, charts = film ? shown.charts : [];
  paint(prepare(element("picture")), frame);
  const { playing } = player.state;
  for (const chart of charts) if (!playing || inView(chart.canvas)) drawChart(chart, frame);
  lossPlot.draw(film, shown.beside?.loss, frame, playing);
  surface.draw(frame);
  // Words come last: a canvas asks for its place, and words before it would have the page laid out once more for each.
  for (const chart of charts) tellChart(chart, frame);
  element("scrub").value = frame;
  element("status").textContent = film ? sentence(film, frame) : "";
  element("update").textContent = film ? updateWords(film, frame) : "";
  if (film) element("scrub").setAttribute("aria-valuetext", `step ${film.frames.step[frame]}`);
}

function paint(surface, frame) {
  const { film } = shown, { window } = view(), grid = gridNow(window);
  drawScene(surface, { u: window[0], v: window[1] }, (pen, at) => {
    if (film) paintPlanes(pen, at, film, grid, frame);
    compare.paint(pen, at, grid);
    hand.paint(pen, at, grid);
    const proof = proofNow();
    if (proof?.points) paintHulls(pen, at, proof, points.list, straight());
    if (film && !shown.stale) paintSlacks(pen, at, film, grid, shown.beside.loss, frame);
    if (film && !shown.stale) paintFilmPoints(pen, at, frame);
    else for (const side of [0, 1]) {
      const places = points.list.filter(one => one.positive === side).map(({ x, y }) => [at.x(x), at.y(y)]);
      markers(pen, places, side, 0, markSize(points.list.length));
    }
    const plane = film?.frames.plane[frame];
    if (film && isPlane(plane)) contour(pen, at, grid, discriminant(grid, plane), 0, STYLES.now);
    if (film && !shown.stale) {
      paintUpdate(pen, at, film, frame, window);
      paintCause(pen, at, film, frame);
    }
    if (proof?.common && straight()) paintStar(pen, at, proof.common);
    paintHover(pen, at);
  });
}

// The proof of these points: the film's, or where a method is refused for what it says.
function proofNow() {
  return state.file || (shown.film && shown.stale) ? null : shown.proof;
}

// The examples as the film has them, and at its end rings around those that hold the plane.
function paintFilmPoints(pen, at, frame) {
  const { film, each } = shown, end = frame === film.frames.step.length - 1 && each.support.length < film.total;
  paintPoints(pen, at, film, frame);
  const held = new Set(end ? each.support : []);
  for (let k = 0; end && k < film.points.drawn; k++) {
    if (held.has(film.points.row[k])) ring(pen, at.x(film.points.u[k]), at.y(film.points.v[k]), 9, { color: "plane", width: 1.5 });
  }
}

function paintHover(pen, at) {
  const row = points.list[shown.hover];
  if (row && !state.file) ring(pen, at.x(row.x), at.y(row.y), 8, { color: "quiet", width: 1.5 });
  const { cross } = editor;
  if (!cross) return;
  const [x, y] = [at.x(cross.x), at.y(cross.y)];
  polyline(pen, [[x - 12, y], [x + 12, y]], { color: "plane", width: 2 });
  polyline(pen, [[x, y - 12], [x, y + 12]], { color: "plane", width: 2 });
}

// ---- changing ----

// Points were drawn, moved or removed: while a drag lasts, few steps are recorded, so that the line follows the hand.
async function edited(done) {
  state.preset = null;
  shown.stale = true;
  tellTools();
  element("point").textContent = pointWords();
  look();
  if (done) {
    save();
    await refresh("keep");
  } else if (!edited.waiting) {
    edited.waiting = true; // one question at a time: what changes meanwhile goes with the next
    const steps = Math.max(20, Math.min(QUICK, Math.round(1e5 / points.list.length)));
    const fitted = fit({ steps, where: "keep" });
    prove();
    compare.refresh();
    await Promise.race([fitted, new Promise(go => setTimeout(go, 250))]);
    edited.waiting = false;
  }
}

// A stop of the tour, or none: the points stay where they are then.
function goTo(stop) {
  state.stop = stop;
  if (stop) open(`#stop=${stop}`);
  else {
    tour.show();
    save();
  }
}

function choosePreset(name) {
  const { points: columns, method, features, says, compare: beside, surface: height } = pictures[name];
  points.change(fromColumns(columns));
  Object.assign(state, { preset: name, method, features, file: null, names: AXES, classes: SIDES, stop: null, compare: beside });
  if (height) surface.read(height);
  else surface.forget();
  element("intro").textContent = says;
  compare.show();
  begin("opening");
}

// Show a state from its beginning, and let it play.
async function begin(where, window = null) {
  shown.window = windowOf(points.list, state.classes === SIDES);
  shown.home = null;
  zoom.forget(window);
  Object.assign(shown, { stale: true, proof: null, hover: null });
  player.pause();
  tellChoices();
  save();
  await show(where);
}

// Fit anew, and play from the opening.
async function show(where) {
  await refresh(where);
  if (where === "opening" && shown.film && !calm.matches) player.play();
}

function tellChoices() {
  form.show(state);
  tour.show();
  tellTools();
}

// Which points are shown, and what can be done with them: rows that the server holds cannot be moved.
function tellTools() {
  const held = state.file !== null;
  tellPicture(state.preset);
  for (const button of [...document.querySelectorAll(".tool"), element("clear")]) button.disabled = held;
  element("undo").disabled = held || !points.past.length;
  element("redo").disabled = held || !points.future.length;
}

function chosen(change) {
  if ("features" in change || change.method?.intercept !== state.method.intercept) surface.forget();
  Object.assign(state, change);
  form.show(state);
  save();
  player.pause();
  show("opening");
}

// Have the address say what is shown: at once, or soon where that was only just done.
function save() {
  if (!pictures) return; // the address has not been read yet
  element("share-says").textContent = linkWords(state.file !== null);
  const left = (save.last ?? -PAUSE) + PAUSE - performance.now();
  if (left <= 0) saved();
  else save.waiting ??= setTimeout(saved, left);
}

// The same now; returns the address.
function saved() {
  clearTimeout(save.waiting);
  Object.assign(save, { waiting: null, last: performance.now() });
  const { frame, playing } = player.state, still = shown.film && !playing && frame < count() - 1;
  const panels = { steps: steps.words, surface: surface.words, hand: hand.words, digit: digits.words };
  const address = writeAddress({ ...state, ...panels, points: points.list, view: zoom.window, frame: still ? frame : null });
  if (address !== location.hash) history.replaceState(null, "", address);
  return location.href;
}

function back(change) {
  if (!change()) return;
  shown.window = windowOf(points.list, state.classes === SIDES);
  zoom.forget();
  edited(true);
}

// ---- files ----

function showFile({ points: columns, held, names, classes, others }) {
  if (columns) points.change(fromColumns(columns));
  Object.assign(state, { preset: null, file: held ?? null, names: axesOf(columns ? names : []), classes, stop: null });
  surface.forget();
  if (columns) state.features = "standardised";
  else if (!["plain", "standardised"].includes(state.features)) state.features = "plain";
  tellClasses(others ? " Other columns are chosen below, under “Your own data”." : "");
  begin("opening");
}

function tellClasses(more = "") {
  element("intro").textContent = `${state.classes[1]} is drawn as ●, ${state.classes[0]} as ■.${more}`;
}

// ---- beginning ----

function listen() {
  for (const button of document.querySelectorAll(".tool")) button.addEventListener("click", () => choose(button.dataset.tool));
  element("undo").addEventListener("click", () => back(() => points.undo()));
  element("redo").addEventListener("click", () => back(() => points.redo()));
  element("clear").addEventListener("click", () => { points.change([]); edited(true); });
  listenToPlayer(player, target => ["INPUT", "TEXTAREA", "SUMMARY"].includes(target.tagName) && target.id !== "scrub");
  addEventListener("keydown", event => {
    const tool = { 1: "positive", 2: "negative", 3: "erase" }[event.key], control = event.ctrlKey || event.metaKey;
    if (["INPUT", "SELECT"].includes(event.target.tagName)) return;
    if (tool && !control) choose(tool);
    if (!control || event.key.toLowerCase() !== "z") return;
    event.preventDefault();
    back(() => (event.shiftKey ? points.redo() : points.undo()));
  });
  const redraw = () => {
    draw(player.state.frame);
    steps.draw();
    digits.draw();
    drawSwatches();
  };
  addEventListener("resize", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("hashchange", () => open(location.hash));
  addEventListener("pagehide", () => save.waiting && saved());
}

function choose(tool) {
  editor.tool = tool;
  for (const button of document.querySelectorAll(".tool")) button.setAttribute("aria-pressed", String(button.dataset.tool === tool));
}

// Show what an address says; where it says nothing, the first preset.
function open(hash) {
  let said = readAddress(hash, server.settings);
  state.stop = said.stop in STOPS ? said.stop : null;
  if (state.stop && !said.method) said = readAddress(`#${STOPS[state.stop].state}`, server.settings);
  const preset = pictures[said.preset] ?? (said.points ? null : pictures.separable);
  state.preset = preset ? (said.preset in pictures ? said.preset : "separable") : null;
  points.change(preset ? fromColumns(preset.points) : said.points);
  const known = said.method?.name in server.algorithms;
  state.method = known ? said.method : preset?.method ?? { name: "perceptron" };
  state.features = said.features in server.features ? said.features : said.points || said.method ? "plain" : preset?.features ?? "plain";
  state.compare = (said.compare ?? (said.method ? [] : preset?.compare ?? [])).filter(one => one in server.algorithms);
  Object.assign(state, { file: null, names: said.names ?? AXES, classes: said.classes ?? SIDES });
  compare.show();
  steps.read(said.steps);
  surface.read(said.surface ?? (said.method ? null : preset?.surface));
  hand.read(said.hand);
  digits.show(said.digit);
  if (said.preset in pictures) element("intro").textContent = preset.says;
  else if (said.classes) tellClasses();
  return begin(said.frame ?? (state.stop || (preset && !said.method) ? "opening" : "last"), said.view ?? null);
}

async function start() {
  await link.open();
  server = await link.ask("hello");
  form = new MethodForm(server, chosen);
  compare.offer(server.algorithms);
  steps.offer(server);
  surface.offer(server);
  digits.offer(server);
  pictures = { ...server.presets, ...server.figures };
  offerPictures(server, { choosePreset, steps });
  const files = new FilePanel(link, server.most_bytes, showFile);
  listen();
  await open(location.hash);
  globalThis.play.ready = performance.now();
  if (server.file && !location.hash.includes("points=")) files.offer(server.file);
  document.documentElement.dataset.ready = "yes";
}

// What tests look at.
const found = () => agreements(shown.film, shown.beside.loss, player.state.frame);
globalThis.play = { agreements: found, points, state, shown, player, editor, view, link, compare, hand, steps, surface, digits, lossPlot, zoom, saved, stops: Object.keys(STOPS) };
start();
