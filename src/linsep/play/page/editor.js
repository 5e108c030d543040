// Drawing points with mouse, finger or keys.
import { rounded } from "./points.js";

const NEAR = { mouse: 11, pen: 14, touch: 22 };
const APART = 22; // pixels between points of one stroke

export class Editor {
  // `view()` says where the picture lies and what it shows; `on` hears what happens.
  constructor(canvas, points, view, on) {
    Object.assign(this, { canvas, points, view, on, tool: "positive", held: null, cross: null, stroke: 0 });
    canvas.addEventListener("pointerdown", event => this.down(event));
    canvas.addEventListener("pointermove", event => this.move(event));
    for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, () => this.up());
    canvas.addEventListener("pointerleave", () => on.hover(null));
    canvas.addEventListener("contextmenu", event => event.preventDefault());
    canvas.addEventListener("keydown", event => this.key(event));
    canvas.addEventListener("blur", () => { this.cross = null; this.held = null; on.look(); });
  }

  place(event) {
    const bounds = this.canvas.getBoundingClientRect();
    return [event.clientX - bounds.left, event.clientY - bounds.top];
  }

  // The point nearest to a place on the screen, where it is near enough.
  nearest([px, py], reach) {
    const { at } = this.view();
    let best = null, least = reach;
    this.points.list.forEach(({ x, y }, k) => {
      const away = Math.hypot(at.x(x) - px, at.y(y) - py);
      if (away <= least) [best, least] = [k, away];
    });
    return best;
  }

  toPoint([px, py]) {
    const { box, window: [across, up] } = this.view();
    const inside = value => Math.min(1, Math.max(0, value));
    return {
      x: rounded(across[0] + inside((px - box.x) / box.width) * (across[1] - across[0]), across),
      y: rounded(up[1] - inside((py - box.y) / box.height) * (up[1] - up[0]), up),
    };
  }

  down(event) {
    if (!this.on.editable() || event.button > 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    const place = this.place(event), found = this.nearest(place, NEAR[event.pointerType] ?? 14);
    this.stroke += 1;
    this.held = this.on.take(place, NEAR[event.pointerType] ?? 14);
    if (this.held !== null) return;
    if (this.tool === "erase") {
      this.held = "erase";
      if (found !== null) this.remove(found);
    } else if (found !== null) this.held = found;
    else {
      this.held = "add";
      this.add(place);
    }
  }

  move(event) {
    const place = this.place(event), reach = NEAR[event.pointerType] ?? 14;
    if (this.held === null) {
      this.on.hover(event.pointerType === "touch" ? null : this.nearest(place, reach));
      return;
    }
    if (typeof this.held === "function") this.held(this.toPoint(place));
    else if (this.held === "erase") {
      const found = this.nearest(place, reach);
      if (found !== null) this.remove(found);
    } else if (this.held === "add") {
      if (Math.hypot(place[0] - this.from[0], place[1] - this.from[1]) >= APART) this.add(place);
    } else this.drag(this.held, this.toPoint(place));
  }

  up() {
    const changes = this.held !== null && typeof this.held !== "function";
    this.held = null;
    if (changes) this.on.changed(true);
  }

  // A second finger came down: what the first one has begun was no stroke.
  abandon() {
    if (typeof this.held === "number" || ["add", "erase"].includes(this.held)) {
      if (this.points.last === `stroke ${this.stroke}`) this.points.undo();
      this.on.changed(true);
    }
    this.held = null;
  }

  add(place) {
    this.from = place;
    this.insert(this.toPoint(place));
  }

  insert(point) {
    const positive = this.tool === "negative" ? 0 : 1;
    this.points.change([...this.points.list, { ...point, positive }], `stroke ${this.stroke}`);
    this.on.changed(false);
  }

  drag(k, point) {
    const { positive } = this.points.list[k];
    this.points.change(this.points.list.map((old, j) => (j === k ? { ...point, positive } : old)), `stroke ${this.stroke}`);
    this.on.changed(false);
    this.on.hover(k);
  }

  remove(k) {
    this.points.change(this.points.list.filter((_, j) => j !== k), `stroke ${this.stroke}`);
    this.on.changed(false);
  }

  // A cross that arrows move; Enter adds, M picks up and puts down, Delete removes.
  key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const { at, window: [across, up] } = this.view(), press = event.key.toLowerCase();
    const used = event.key in steps || ["enter", "m", "delete", "backspace", "escape"].includes(press);
    if (!used || !this.on.editable() || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.cross ??= { x: (across[0] + across[1]) / 2, y: (up[0] + up[1]) / 2 };
    if (event.key in steps) {
      const size = (across[1] - across[0]) / (event.shiftKey ? 16 : 80), [dx, dy] = steps[event.key];
      const clamp = (value, [low, high]) => rounded(Math.min(high, Math.max(low, value)), [low, high]);
      this.cross = { x: clamp(this.cross.x + dx * size, across), y: clamp(this.cross.y + dy * size, up) };
      if (typeof this.held === "number") this.drag(this.held, this.cross);
      else this.on.hover(this.nearest([at.x(this.cross.x), at.y(this.cross.y)], 14));
      this.on.look();
      return;
    }
    const near = this.nearest([at.x(this.cross.x), at.y(this.cross.y)], 40);
    this.stroke += 1;
    if (press === "enter") {
      this.insert(this.cross);
      this.on.changed(true);
    } else if (press === "m") {
      this.held = typeof this.held === "number" ? null : near;
      if (this.held === null) this.on.changed(true);
      else this.cross = { x: this.points.list[near].x, y: this.points.list[near].y };
    } else if (press === "escape") {
      this.held = null;
    } else if (near !== null) {
      this.remove(near);
      this.on.changed(true);
    }
    this.on.look();
  }
}
