// The vector that an update adds, drawn from the tip of w as it was to the tip of w as it is. Only where the picture's own
// coordinates are the features: there w, which stands upright on the line, is a vector of the picture.
/* global color, isPlane, polyline, text */

const STYLE = { before: { color: "quiet", width: 2 }, added: { color: "cause", width: 2.5 }, now: { color: "plane", width: 2 } };
const ROOM = 0.4; // how much of the picture's shorter half they may take; longer ones are drawn smaller, all alike
const WIDE = 8; // dots of a letter
const APART = 56; // dots between two tips at the least that have names of their own: nearer ones are written over each other

export function arrow(pen, [x, y], [tipX, tipY], style) {
  const far = Math.hypot(tipX - x, tipY - y);
  if (!(far > 1)) return;
  const head = Math.min(9, far / 2), [a, b] = [(tipX - x) / far * head, (tipY - y) / far * head];
  polyline(pen, [[x, y], [tipX, tipY]], style);
  polyline(pen, [[tipX - a - b / 2, tipY - b + a / 2], [tipX, tipY], [tipX - a + b / 2, tipY - b - a / 2]], style);
}

// w before and after, where one example alone lies between two frames; null elsewhere.
export function updateOf({ frames, picture }, frame) {
  if (frame < 1 || frames.cause[frame] < 0 || picture.basis || picture.kind === "projection") return null;
  const [before, now] = [frames.plane[frame - 1], frames.plane[frame]];
  return frames.updates[frame] - frames.updates[frame - 1] === 1 && now.length === 3 && isPlane(now) ? { before, now } : null;
}

export function paintUpdate(pen, at, film, frame, [across, up]) {
  const update = updateOf(film, frame);
  if (!update) return;
  const { before, now } = update, inside = across[0] < 0 && across[1] > 0 && up[0] < 0 && up[1] > 0;
  const [x, y] = inside ? [0, 0] : [(across[0] + across[1]) / 2, (up[0] + up[1]) / 2];
  const half = [(across[1] - across[0]) / 2, (up[1] - up[0]) / 2];
  const most = Math.max(...[before, now].flatMap(plane => half.map((size, k) => Math.abs(plane[k]) / size)));
  const scale = Math.min(1, 2 * ROOM / most), tip = plane => [at.x(x + scale * plane[0]), at.y(y + scale * plane[1])];
  const foot = [at.x(x), at.y(y)];
  arrow(pen, foot, tip(before), STYLE.before);
  arrow(pen, foot, tip(now), STYLE.now);
  arrow(pen, tip(before), tip(now), STYLE.added);
  const middle = tip(before).map((value, k) => (value + tip(now)[k]) / 2);
  const edge = at.x(across[1]);
  name(pen, "w", tip(now), foot, "plane", edge);
  if (Math.hypot(tip(now)[0] - tip(before)[0], tip(now)[1] - tip(before)[1]) < APART) return;
  name(pen, "w before", tip(before), foot, "quiet", edge);
  name(pen, film.rule ? "y·x" : "−η·∇ℓ", middle, [middle[0] + tip(before)[1] - tip(now)[1], middle[1] + tip(now)[0] - tip(before)[0]], "cause", edge);
}

// Write beside a place, on the side that leads away from another one, or above it where the picture ends there; where they
// are the same, nothing.
function name(pen, words, [x, y], [fromX, fromY], role, edge) {
  const far = Math.hypot(x - fromX, y - fromY), { fillStyle, textAlign } = pen;
  if (!(far > 12)) return;
  const [a, b] = [(x - fromX) / far * 12, (y - fromY) / far * 12];
  pen.fillStyle = color(role);
  if (a >= 0 && x + a + WIDE * words.length > edge) text(pen, words, edge - 2, y + (b > 0 ? 16 : -10), "right");
  else text(pen, words, x + a, y + b + 4, a < 0 ? "right" : "left");
  Object.assign(pen, { fillStyle, textAlign });
}

export const updateStyle = STYLE.added;
