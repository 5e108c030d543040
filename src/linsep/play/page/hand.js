// You against the optimum: a line that is turned by hand, its mistakes and risks as the server counts them, and the proven
// minimum behind a curtain.
/* global contour, discriminant, polyline, ring, short */

const element = id => document.getElementById(id);
const HAND = { color: "cause", width: 3 };

const mean = risk => short(risk < 1e-12 ? 0 : risk); // what is left of 0 by rounding

export class Hand {
  constructor({ ask, redraw, view, save }) {
    Object.assign(this, { ask, redraw, view, save, on: false, turn: 0, shift: 0, steep: 1, counted: null, best: null });
    element("hand-on").addEventListener("click", () => {
      this.toggle();
      this.save();
    });
    for (const name of ["turn", "shift", "steep"]) {
      element(`hand-${name}`).addEventListener("input", event => this.set({ [name]: Number(event.target.value) }));
    }
    element("hand-swap").addEventListener("click", () => this.set({ turn: (this.turn + 360) % 360 - 180, shift: -this.shift }));
    element("hand-reveal").addEventListener("click", () => this.reveal());
  }

  // What the address says of it: how far it is turned and shifted, how steep it is.
  get words() {
    return this.on ? [this.turn, this.shift, this.steep].map(value => Number(value.toPrecision(6))).join(",") : null;
  }

  read(words) {
    const numbers = (words ?? "").split(",").map(Number), known = numbers.length === 3 && numbers.every(Number.isFinite);
    if (known) [this.turn, this.shift, this.steep] = [numbers[0], numbers[1], Math.min(10, Math.max(0.1, numbers[2]))];
    if (known !== this.on) this.toggle();
    this.fill();
  }

  fill() {
    for (const name of ["turn", "shift", "steep"]) element(`hand-${name}`).value = this[name];
  }

  toggle() {
    this.on = !this.on;
    element("hand-on").setAttribute("aria-pressed", String(this.on));
    element("hand-box").hidden = !this.on;
    element("hand-counts").textContent = "";
    this.refresh();
  }

  get normal() {
    const angle = this.turn / 180 * Math.PI;
    return [Math.cos(angle), Math.sin(angle)];
  }

  // The middle of the whole picture, zoomed or not, is where the line turns about.
  get centre() {
    const [[left, right], [low, high]] = this.view().home;
    return [(left + right) / 2, (low + high) / 2];
  }

  get plane() {
    const [a, b] = this.normal.map(part => part * this.steep), [x, y] = this.centre;
    return [a, b, -(a * x + b * y) - this.shift * this.steep];
  }

  set(change) {
    Object.assign(this, change);
    this.fill();
    this.save();
    this.refresh(false);
  }

  async refresh(anew = true) {
    if (anew) {
      this.best = null;
      element("hand-best").textContent = "";
    }
    this.redraw();
    if (!this.on || this.asking) return;
    this.asking = true; // one question at a time; what changes meanwhile is asked next
    const plane = this.plane;
    const answer = await Promise.race([this.ask("judge", { plane }), new Promise(go => setTimeout(go, 1000, null))]);
    this.asking = false;
    if (answer?.kind === "judged") {
      this.counted = answer;
      if (this.on) element("hand-counts").textContent = `Your line: ${answer.mistakes} of ${answer.n} wrong, mean hinge ${mean(answer.risks.hinge)}, mean logistic ${mean(answer.risks.logistic)}`;
    }
    if (String(plane) !== String(this.plane)) this.refresh(false);
  }

  async reveal() {
    const answer = await this.ask("planes", { methods: [{ name: "zero_one" }, { name: "soft_margin", C: 1000 }, { name: "logistic", C: 1000 }] });
    if (answer.kind !== "planes") return;
    const [fewest, hinge, logistic] = answer.planes;
    this.best = fewest;
    const bound = fewest.least === fewest.mistakes ? "proven: no line makes fewer" : `no line makes fewer than ${fewest.least}`;
    element("hand-best").textContent = `The optimum: ${fewest.mistakes} of ${fewest.n} wrong (${bound}). With hardly any penalty, the soft margin has mean hinge ${mean(hinge.risks.hinge)}, logistic regression mean logistic ${mean(logistic.risks.logistic)}.`;
    this.redraw();
  }

  // The two handles on the screen: the middle shifts the line, the end turns it.
  handles(at) {
    const [a, b] = this.normal, [x, y] = this.centre, [[left, right]] = this.view().home, arm = (right - left) / 4;
    const [mx, my] = [x + this.shift * a, y + this.shift * b];
    return { shift: [at.x(mx), at.y(my)], turn: [at.x(mx - arm * b), at.y(my + arm * a)] };
  }

  // What a press at this place takes hold of: a function of where the hand goes, or null.
  take([px, py], reach) {
    if (!this.on) return null;
    const handles = this.handles(this.view().at);
    const name = Object.keys(handles).find(one => Math.hypot(handles[one][0] - px, handles[one][1] - py) <= reach + 6);
    if (!name) return null;
    return ({ x, y }) => {
      const [a, b] = this.normal, [cx, cy] = this.centre;
      if (name === "shift") this.set({ shift: (x - cx) * a + (y - cy) * b });
      else this.set({ turn: Math.atan2(-(x - cx - this.shift * a), y - cy - this.shift * b) * 180 / Math.PI });
    };
  }

  paint(pen, at, grid) {
    if (!this.on || !grid || grid.basis.length !== 2) return;
    if (this.best) contour(pen, at, grid, discriminant(grid, this.best.plane), 0, { color: "best", width: 3, dash: [9, 6] });
    contour(pen, at, grid, discriminant(grid, this.plane), 0, HAND);
    const { shift, turn } = this.handles(at), [a, b] = this.normal, [x, y] = shift;
    polyline(pen, [[x, y], [x + 22 * a, y - 22 * b]], { ...HAND, width: 2 }); // towards the side of ●
    for (const place of [shift, turn]) ring(pen, ...place, 9, HAND);
  }
}
