"use strict";
// Drawing on canvases, for any page: numbers, axes with ticks, level lines over a grid, marks, charts. It knows colours by
// the names of their custom properties, and nothing of what is drawn.

// ---- numbers ----

const grouped = new Intl.NumberFormat("en"); // made once: it is asked for many numbers a frame

function short(x) {
  if (x === null || x === undefined) return "–";
  if (x !== 0 && (Math.abs(x) < 1e-3 || Math.abs(x) >= 1e6)) return x.toExponential(2).replaceAll("-", "−");
  return grouped.format(Number(x.toPrecision(4))).replace("-", "−");
}

// Round numbers from low to high, at most so many: multiples of 1, 2 or 5 times a power of ten.
function ticks(low, high, most) {
  if (!(high > low)) return [low];
  const power = 10 ** Math.floor(Math.log10((high - low) / Math.max(1, most)));
  const step = [1, 2, 5, 10, 20].map(k => k * power).find(size => (high - low) / size <= most);
  const first = Math.ceil(low / step - 1e-9), count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, k) => Number(((first + k) * step).toPrecision(12)));
}

// The same for a logarithmic axis: powers of ten, or every second (third, …) of them.
function decades(low, high, most) {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / most));
  return ticks(first, last, 1000).filter(power => power % every === 0).map(power => 10 ** power);
}

// ---- pens ----

// Colours are asked for at every mark: the style sheet is, once until the screen turns light or dark.
const colours = new Map(), layers = new WeakMap(), stamps = new Map();
let tint = 0; // how often they have changed
for (const query of ["(prefers-color-scheme: dark)", "print"]) {
  matchMedia(query).addEventListener("change", () => { colours.clear(); stamps.clear(); tint += 1; });
}

function color(name) {
  if (!colours.has(name)) {
    colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }
  return colours.get(name);
}

// A canvas as large as its place on the screen, with as many dots as the screen has.
function prepare(canvas) {
  const box = canvas.getBoundingClientRect(), dots = window.devicePixelRatio || 1;
  const width = Math.round(box.width * dots), height = Math.round(box.height * dots);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pen = canvas.getContext("2d");
  pen.setTransform(dots, 0, 0, dots, 0, 0);
  pen.clearRect(0, 0, box.width, box.height);
  pen.font = "13px system-ui, sans-serif";
  return { pen, width: box.width, height: box.height };
}

// What stays as it is from frame to frame is drawn once, by draw(pen), and copied after that: until the canvas has another
// size, the screen other colours, or it belongs to something else.
function behind(canvas, pen, owner, draw) {
  const { width, height } = canvas, old = layers.get(canvas);
  if (old?.owner !== owner || old.tint !== tint || old.layer.width !== width || old.layer.height !== height) {
    const layer = old?.layer ?? document.createElement("canvas"), own = layer.getContext("2d");
    Object.assign(layer, { width, height }); // which clears it
    own.setTransform(pen.getTransform());
    own.font = pen.font;
    draw(own);
    layers.set(canvas, { owner, tint, layer });
  }
  pen.save();
  pen.resetTransform();
  if (width && height) pen.drawImage(layers.get(canvas).layer, 0, 0);
  pen.restore();
}

// Whether some of an element is on the screen.
function inView(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
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

// Whatever is drawn stays within the box.
function within(pen, box, draw) {
  pen.save();
  pen.beginPath();
  pen.rect(box.x, box.y, box.width, box.height);
  pen.clip();
  draw();
  pen.restore();
}

// Circles for the positive class, squares for the other; one on the wrong side is hollow with a strong edge.
function marker(pen, x, y, positive, wrong, size) {
  markers(pen, [[x, y]], positive, wrong, size);
}

// Many of one kind in one path; more than these on a screen by a stamp: thousands of them are drawn while a frame lasts.
const STAMPED = 200;

function markers(pen, places, positive, wrong, size) {
  if (places.length > STAMPED && pen instanceof CanvasRenderingContext2D) {
    const { a: dots } = pen.getTransform(), stamp = stampOf(positive, wrong, size, dots), half = stamp.width / 2;
    const stamped = new Set(); // two on the same dot look like one
    pen.save();
    pen.resetTransform();
    for (const [x, y] of places) {
      const left = Math.round(x * dots - half), top = Math.round(y * dots - half), spot = 1e5 * left + top;
      if (!stamped.has(spot)) pen.drawImage(stamp, left, top);
      stamped.add(spot);
    }
    pen.restore();
    return;
  }
  pen.beginPath();
  for (const [x, y] of places) {
    if (positive) {
      pen.moveTo(x + size * 1.12, y);
      pen.arc(x, y, size * 1.12, 0, 2 * Math.PI);
    } else pen.rect(x - size, y - size, 2 * size, 2 * size);
  }
  pen.lineWidth = wrong ? 2 : 1;
  pen.strokeStyle = color(positive ? "positive" : "negative");
  pen.fillStyle = wrong ? color("ground") : color(positive ? "positive" : "negative");
  pen.globalAlpha = wrong ? 1 : 0.72;
  pen.fill();
  pen.globalAlpha = 1;
  pen.stroke();
}

function stampOf(positive, wrong, size, dots) {
  const name = [positive, wrong, size, dots].join();
  if (!stamps.has(name)) {
    const side = 2 * Math.ceil((size * 1.12 + 2) * dots), stamp = new OffscreenCanvas(side, side), pen = stamp.getContext("2d");
    pen.scale(dots, dots);
    markers(pen, [[side / 2 / dots, side / 2 / dots]], positive, wrong, size);
    stamps.set(name, stamp.transferToImageBitmap());
  }
  return stamps.get(name);
}

function ring(pen, x, y, size, style) {
  pen.beginPath();
  pen.arc(x, y, size, 0, 2 * Math.PI);
  stroke(pen, style);
}

// ---- axes ----

// Where numbers are drawn in a box: from low to high, upwards for y; a scale may bend the axis.
function placed({ x, y, width, height }, across, up, bend = value => value) {
  const [low, high] = up.map(bend);
  return {
    x: value => x + (value - across[0]) / (across[1] - across[0] || 1) * width,
    y: value => y + height - (bend(value) - low) / (high - low || 1) * height,
  };
}

// What is left free at the right of a frame.
const MARGIN = 16;

// The frame, its ticks and their numbers.
function axes(pen, box, at, across, up) {
  const bottom = box.y + box.height;
  pen.fillStyle = color("quiet");
  for (const value of up) {
    polyline(pen, [[box.x, at.y(value)], [box.x + box.width, at.y(value)]], { color: "rule", width: 1 });
    text(pen, short(value), box.x - 6, at.y(value) + 4.5, "right");
  }
  for (const value of across) {
    polyline(pen, [[at.x(value), bottom], [at.x(value), bottom + 4]], { color: "quiet", width: 1 });
    const words = short(value), half = pen.measureText(words).width / 2;
    text(pen, words, Math.min(at.x(value), box.x + box.width + MARGIN - 1 - half), bottom + 17, "center");
  }
  polyline(pen, [[box.x, box.y], [box.x, bottom], [box.x + box.width, bottom]], { color: "quiet", width: 1 });
}

function text(pen, words, x, y, align) {
  pen.textAlign = align;
  pen.fillText(words, x, y);
}

// Room for the numbers at the left and below; the last one of an axis may stick out at the right as far as the margin.
function inset(pen, { width, height }, up) {
  const left = Math.max(...up.map(value => pen.measureText(short(value)).width)) + 12;
  return { x: left, y: 8, width: Math.max(1, width - left - MARGIN), height: Math.max(1, height - 32) };
}

// ---- level lines over a grid { u, v, basis }: g is the sum of coefficients times the features there, plus an offset ----

// Two coordinates are their own features, unless a grid says otherwise; g is then linear, and one cell shows all of it.
function gridOf({ u, v, basis }) {
  if (basis) return { u, v, basis };
  const across = [u[0], u.at(-1)], up = [v[0], v.at(-1)];
  return { u: across, v: up, basis: [up.flatMap(() => across), up.flatMap(value => across.map(() => value))] };
}

function discriminant({ u, v, basis }, plane) {
  const g = new Float64Array(u.length * v.length).fill(plane.at(-1));
  basis.forEach((feature, j) => {
    for (let k = 0; k < g.length; k++) g[k] += plane[j] * feature[k];
  });
  return g;
}

// w = 0 is no plane: nothing is drawn of it.
function isPlane(plane) {
  return plane.slice(0, -1).some(weight => weight !== 0);
}

// The corners of a cell of the grid and, between them, its edges; an edge has the same name in both cells that share it.
function cell({ u }, i, j) {
  const edge = (side, a, b) => 2 * (b * u.length + a) + side;
  return {
    corners: [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]],
    edges: [edge(0, i, j), edge(1, i + 1, j), edge(0, i, j + 1), edge(1, i, j)],
  };
}

function eachCell(grid, visit) {
  for (let j = 0; j + 1 < grid.v.length; j++) for (let i = 0; i + 1 < grid.u.length; i++) visit(cell(grid, i, j));
}

// Walk around a cell: its corners with their values, and between them the points where g crosses the level.
function around({ corners, edges }, { u, v }, g, level, at) {
  const place = ([i, j]) => [at.x(u[i]), at.y(v[j])];
  const value = ([i, j]) => g[j * u.length + i] - level;
  return corners.flatMap((corner, k) => {
    const next = corners[(k + 1) % 4], from = value(corner), to = value(next), [a, b] = [place(corner), place(next)];
    const here = { point: a, side: from >= 0 };
    if (from >= 0 === to >= 0) return [here];
    const t = from / (from - to);
    return [here, { point: [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])], edge: edges[k] }];
  });
}

// Each side in the colour of its class, faintly: of every cell the part on that side, all in one path.
function shade(pen, at, grid, g) {
  if (!g.some(value => value !== 0)) return;
  for (const side of [false, true]) {
    pen.beginPath();
    eachCell(grid, one => {
      const part = around(one, grid, g, 0, at).filter(stop => stop.edge !== undefined || stop.side === side);
      trace(pen, part.map(stop => stop.point));
    });
    pen.globalAlpha = 0.12;
    pen.fillStyle = color(side ? "positive" : "negative");
    pen.fill();
    pen.globalAlpha = 1;
  }
}

// Marching squares: join the crossings of every cell, and these from cell to cell, so that dashes run through.
function contour(pen, at, grid, g, level, style) {
  const points = new Map(), links = new Map();
  eachCell(grid, one => {
    const cuts = around(one, grid, g, level, at).filter(stop => stop.edge !== undefined);
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
    let edge = links.has(start) ? start : undefined, length = 0;
    if (edge !== undefined) pen.moveTo(...points.get(edge));
    while (edge !== undefined) {
      length += 1; // back to the start goes a closed line, and not a single piece: its dashes would be drawn over
      const closes = length > 2 && links.get(edge)?.includes(start);
      const next = links.get(edge)?.find(other => links.has(other)) ?? (closes ? start : undefined);
      links.delete(edge);
      if (next !== undefined) pen.lineTo(...points.get(next));
      edge = links.has(next) ? next : undefined;
    }
  }
  stroke(pen, style);
}

// ---- charts: lines { name, values, … style } over one x, null where there is no value; and perhaps levels. What stays as
// it is until the next x is drawn in steps. ----

// How far a chart reaches: from 0 where that is near, to a round number; logarithmic where numbers differ too much.
function reach(values, wide) {
  const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const least = values.filter(x => x > 0).reduce((a, b) => Math.min(a, b), Infinity);
  if (wide && least < Infinity && high / least > 200 && low >= 0) {
    const up = [10 ** Math.floor(Math.log10(least) + 1e-9), 10 ** Math.ceil(Math.log10(high) - 1e-9)];
    return { up, bend: x => Math.log10(Math.max(x, up[0])), ticks: decades(...up, 5), logarithmic: true };
  }
  const from = Math.min(0, low), to = high > from ? high : from + 1, step = ticks(from, to, 4);
  const size = step.length > 1 ? step[1] - step[0] : to - from;
  const up = [Math.floor(from / size + 1e-9) * size, Math.ceil(to / size - 1e-9) * size];
  return { up, bend: x => x, ticks: ticks(...up, 6), logarithmic: false };
}

function chartBox(pen, size, chart) {
  return inset(pen, size, chart.scale.ticks);
}

function drawChart(chart, k) {
  const { pen, ...size } = prepare(chart.canvas), { x, lines, levels, scale } = chart;
  const box = chartBox(pen, size, chart), at = placed(box, [x[0], x.at(-1)], scale.up, scale.bend);
  behind(chart.canvas, pen, chart, own => {
    axes(own, box, at, ticks(x[0], x.at(-1), box.width / 60), scale.ticks);
    for (const level of levels) polyline(own, [[box.x, at.y(level.value)], [box.x + box.width, at.y(level.value)]], level);
    for (const line of lines) {
      const places = line.values.flatMap((value, j) => (value === null ? [] : [[at.x(x[j]), at.y(value)]]));
      polyline(own, chart.stepped ? places.flatMap((place, j) => (j ? [[place[0], places[j - 1][1]], place] : [place])) : places, line);
    }
  });
  polyline(pen, [[at.x(x[k]), box.y], [at.x(x[k]), box.y + box.height]], { color: "quiet", width: 1 });
  for (const { values, color: name } of lines) {
    if (values[k] === null) continue;
    pen.beginPath();
    pen.arc(at.x(x[k]), at.y(values[k]), 4, 0, 2 * Math.PI);
    pen.fillStyle = color(name);
    pen.fill();
  }
}

// Which place of the chart a pointer is nearest to.
function pointed(chart, clientX) {
  const bounds = chart.canvas.getBoundingClientRect(), { x } = chart;
  const box = chartBox(chart.canvas.getContext("2d"), bounds, chart);
  const value = x[0] + (clientX - bounds.left - box.x) / box.width * (x.at(-1) - x[0]);
  let best = 0;
  x.forEach((one, k) => { if (Math.abs(one - value) < Math.abs(x[best] - value)) best = k; });
  return best;
}
