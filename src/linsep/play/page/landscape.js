// A function of two numbers from above: level lines over a grid of heights, and a path of numbered steps on it.
/* global axes, color, contour, inset, marker, placed, polyline, prepare, ring, text, ticks, within */

const FAR = 1e5; // pixels beyond which a canvas draws no line: a step that is thrown further is cut there
const PATH = { color: "negative", width: 2 };

// Where the picture lies in its canvas, and how numbers become places on it.
export function placing(canvas, { u, v }) {
  const { width, height } = canvas.getBoundingClientRect(), up = [v[0], v.at(-1)];
  const box = inset(canvas.getContext("2d"), { width, height }, ticks(...up, height / 50)), at = placed(box, [u[0], u.at(-1)], up);
  return { box, at, toPoint: ([x, y]) => [u[0] + (x - box.x) / box.width * (u.at(-1) - u[0]), up[1] - (y - box.y) / box.height * (up[1] - up[0])] };
}

// Level lines take their time: the dots of the last ones are kept, and put back while ground, size and colours are the same.
const kept = new WeakMap();

export function drawLandscape(canvas, ground, paint) {
  const { pen, width, height } = prepare(canvas), { box, at } = placing(canvas, ground), known = kept.get(canvas);
  const look = [canvas.width, canvas.height, color("positive")].join();
  if (known?.ground === ground && known.look === look) pen.drawImage(known.dots, 0, 0, width, height);
  else {
    drawLevels(pen, box, at, ground, { width, height });
    const dots = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
    if (!dots.width || !dots.height) return;
    dots.getContext("2d").drawImage(canvas, 0, 0);
    kept.set(canvas, { ground, look, dots });
  }
  within(pen, box, () => paint(pen, at));
}

function drawLevels(pen, box, at, { u, v, values, levels }, { width, height }) {
  axes(pen, box, at, ticks(u[0], u.at(-1), width / 70), ticks(v[0], v.at(-1), height / 50));
  within(pen, box, () => levels.forEach((level, k) => { // the lower, the stronger
    contour(pen, at, { u, v }, values, level, { color: "positive", width: 1.2, alpha: 0.9 - 0.65 * k / levels.length });
  }));
}

// The steps as a line with a dot at each; the first ones have their numbers where there is room. A step that is marked is ringed.
export function paintPath(pen, at, path, { thrown = null, marked = null, numbers = 12 } = {}) {
  const cut = value => Math.max(-FAR, Math.min(FAR, value)), place = ([x, y]) => [cut(at.x(x)), cut(at.y(y))];
  const places = path.map(place);
  polyline(pen, places, PATH);
  if (thrown) polyline(pen, [places.at(-1), place(thrown)], { ...PATH, dash: [6, 4] });
  for (const [x, y] of places.slice(1)) dot(pen, x, y, "negative", places.length > 80 ? 2 : 3);
  pen.font = "bold 13px system-ui, sans-serif";
  const told = [];
  places.slice(0, numbers).forEach(([x, y], k) => {
    if (told.some(other => Math.hypot(x - other[0], y - other[1]) < 18)) return;
    told.push([x, y]);
    pen.fillStyle = color("plane");
    text(pen, String(k), x + 8, y - 7, "left");
  });
  pen.font = "13px system-ui, sans-serif";
  marker(pen, ...places[0], 0, 0, 6);
  if (marked !== null) ring(pen, ...places[marked], 9, { color: "plane", width: 2.5 });
}

function dot(pen, x, y, name, size) {
  pen.beginPath();
  pen.arc(x, y, size, 0, 2 * Math.PI);
  pen.fillStyle = color(name);
  pen.fill();
}
