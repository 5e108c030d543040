// The points of the picture, with undo: every change makes a new list.

const MOST_UNDO = 200;
export const AXES = ["x₁", "x₂"]; // what coordinates are called that have no names
export const SIDES = ["■", "●"]; // what classes are called that have no names
export const LONGEST = 80; // letters of a name
const DRAWN = [[-4, 4], [-3, 3]]; // what an empty picture shows

export class Points {
  constructor() {
    this.list = [];
    this.past = [];
    this.future = [];
  }

  // Change the points; changes with the same name that follow each other, such as a drag, are undone together.
  change(list, name = null) {
    if (name === null || name !== this.last) this.past.push(this.list);
    if (this.past.length > MOST_UNDO) this.past.shift();
    this.future = [];
    this.last = name;
    this.list = list;
  }

  undo() {
    if (!this.past.length) return false;
    this.future.push(this.list);
    this.list = this.past.pop();
    this.last = null;
    return true;
  }

  redo() {
    if (!this.future.length) return false;
    this.past.push(this.list);
    this.list = this.future.pop();
    this.last = null;
    return true;
  }

  columns() {
    return { x: this.list.map(p => p.x), y: this.list.map(p => p.y), positive: this.list.map(p => p.positive) };
  }
}

export function fromColumns({ x, y, positive }) {
  return x.map((value, k) => ({ x: value, y: y[k], positive: positive[k] }));
}

// What two columns are called, on axes and in an address.
export function axesOf(names) {
  const short = names.map(name => name.slice(0, LONGEST));
  return short.length === 2 && short[0] !== short[1] && short.every(name => name.trim()) ? short : AXES;
}

// The same as a film has them.
export function asFilmed(list) {
  return { u: list.map(p => p.x), v: list.map(p => p.y), positive: list.map(p => p.positive), row: list.map((_, k) => k), drawn: list.length };
}

// What the picture shows: the usual window where all points are in it, else one around them. Those that have been drawn
// keep it however near they are to each other; whole numbers of a file are no drawing.
export function windowOf(list, drawn = true) {
  const inside = list.every(({ x, y }) => x >= DRAWN[0][0] && x <= DRAWN[0][1] && y >= DRAWN[1][0] && y <= DRAWN[1][1]);
  const wide = list.length > 1 && ["x", "y"].every((name, k) => span(list, name)[2] > 0.2 * (DRAWN[k][1] - DRAWN[k][0]));
  if (inside && (wide || list.length < 3 || (drawn && list.every(onGrid)))) return DRAWN;
  return ["x", "y"].map(name => {
    const [low, high, size] = span(list, name), room = 0.08 * size || Math.max(1, Math.abs(low)) / 2;
    return [low - room, high + room];
  });
}

function span(list, name) {
  const low = list.reduce((a, p) => Math.min(a, p[name]), Infinity), high = list.reduce((a, p) => Math.max(a, p[name]), -Infinity);
  return [low, high, high - low];
}

const onGrid = ({ x, y }) => [x, y].every(value => Math.abs(value * 100 - Math.round(value * 100)) < 1e-9);

// A coordinate as fine as a finger can choose: four digits of the window, so that addresses stay short.
export function rounded(value, [low, high]) {
  const digits = Math.max(0, 2 - Math.floor(Math.log10((high - low) / 8)));
  return Number(value.toFixed(Math.min(12, digits)));
}
