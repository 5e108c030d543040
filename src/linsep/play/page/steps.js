// The step-size playground: a function of the lecture, a start and an η to drag, and the walk that the library takes from there.
/* global item, short */
import { drawLandscape, paintPath, placing } from "./landscape.js";

const element = id => document.getElementById(id);
const ROWS = 6; // of the table: the first steps, and the last
const pairOf = ([x, y]) => `(${short(x)}, ${short(y)})`;

// A step size to try, on a button.
export function stepWords({ eta, schedule }) {
  return `Try η = ${short(eta)}${{ inverse_sqrt: "/√(k + 1)", inverse_time: "/(k + 1)" }[schedule] ?? ""}`;
}

export class Steps {
  constructor({ ask, save }) {
    Object.assign(this, { ask, save, chosen: null, ground: null, walk: null, marked: null });
    this.canvas = element("steps-picture");
    element("steps-box").addEventListener("toggle", () => this.toggled());
    element("steps-function").addEventListener("change", event => this.begin(event.target.value));
    element("steps-schedule").addEventListener("change", event => this.change({ schedule: event.target.value }));
    element("steps-eta").addEventListener("input", event => this.change({ eta: Number((10 ** Number(event.target.value)).toPrecision(3)) }));
    for (const name of ["x", "y", "number"]) element(`steps-${name}`).addEventListener("change", () => this.typed());
    element("steps-at").addEventListener("input", event => this.mark(Number(event.target.value)));
    element("steps-again").addEventListener("click", () => this.begin(this.chosen.function));
    element("steps-try").addEventListener("click", () => this.change(this.walk.try));
    this.canvas.addEventListener("pointerdown", event => {
      this.canvas.setPointerCapture(event.pointerId);
      this.drag(event);
    });
    this.canvas.addEventListener("pointermove", event => { if (event.buttons) this.drag(event); });
    this.canvas.addEventListener("keydown", event => this.key(event));
  }

  offer({ functions, schedules }) {
    this.functions = functions;
    element("steps-function").replaceChildren(...Object.entries(functions).map(([name, { label }]) => new Option(label, name)));
    element("steps-schedule").replaceChildren(...Object.entries(schedules).map(([name, label]) => new Option(label, name)));
  }

  get open() {
    return element("steps-box").open;
  }

  // What the address says of it, where it is open: function, start, η, schedule.
  get words() {
    if (!this.open || !this.chosen) return null;
    const { function: name, start, eta, schedule } = this.chosen;
    return [name, ...start, eta, schedule].join(",");
  }

  read(words) {
    const [name, x, y, eta, schedule] = (words ?? "").split(",");
    element("steps-box").open = name in this.functions;
    if (!(name in this.functions)) return;
    const { start, eta: usual } = this.functions[name], number = (word, other) => (word && Number.isFinite(Number(word)) ? Number(word) : other);
    this.begin(name, { start: [number(x, start[0]), number(y, start[1])], eta: number(eta, usual), schedule: schedule || "constant" });
  }

  toggled() {
    if (!this.functions) return; // somebody was quicker than the server
    if (this.open && !this.chosen) this.begin("bowl");
    else if (this.open) this.draw();
    this.save();
  }

  async begin(name, choice = {}) {
    const { start, eta, says } = this.functions[name];
    this.chosen = { function: name, start, eta, schedule: "constant", ...choice };
    this.walk = null;
    element("steps-function").value = name;
    element("steps-words").textContent = says;
    const answer = await this.ask("landscape", { function: name });
    if (answer.kind !== "landscape") return;
    this.ground = answer;
    await this.change({});
  }

  async change(part) {
    this.chosen = { ...this.chosen, ...part };
    this.fill();
    const answer = await this.ask("descend", this.chosen); // of several the last one is answered
    this.walk = answer.kind === "descent" ? answer : null;
    this.marked = null;
    element("steps-at").max = this.walk ? this.walk.path.length - 1 : 0;
    element("steps-at").value = element("steps-at").max;
    this.tell(answer.why);
    this.draw();
    this.save();
  }

  fill() {
    const { start, eta, schedule } = this.chosen;
    element("steps-eta").value = Math.log10(eta);
    element("steps-eta").setAttribute("aria-valuetext", `η = ${short(eta)}`);
    element("steps-schedule").value = schedule;
    for (const [name, value] of [["x", start[0]], ["y", start[1]], ["number", eta]]) element(`steps-${name}`).value = value;
  }

  typed() {
    const [x, y, eta] = ["x", "y", "number"].map(name => Number(element(`steps-${name}`).value.replace(",", ".").replace("−", "-")));
    this.change({ start: [x, y], eta });
  }

  drag(event) {
    if (!this.ground) return;
    const bounds = this.canvas.getBoundingClientRect();
    const [x, y] = placing(this.canvas, this.ground).toPoint([event.clientX - bounds.left, event.clientY - bounds.top]);
    this.move(x, y);
  }

  move(x, y) {
    const { u, v } = this.ground, held = (value, low, high) => Number(Math.min(high, Math.max(low, value)).toFixed(2));
    this.change({ start: [held(x, u[0], u.at(-1)), held(y, v[0], v.at(-1))] });
  }

  key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!steps || !this.ground) return;
    event.preventDefault();
    event.stopPropagation();
    const [x, y] = this.chosen.start, size = event.shiftKey ? 0.1 : 0.01;
    this.move(x + steps[0] * size, y + steps[1] * size);
  }

  mark(k) {
    this.marked = k;
    element("steps-at").setAttribute("aria-valuetext", `step ${k}`);
    this.tell();
    this.draw();
  }

  tell(why = "") {
    const { walk, chosen } = this, advice = element("steps-advice");
    advice.textContent = walk ? walk.advice : why;
    advice.hidden = !advice.textContent;
    element("steps-try").hidden = !walk?.try;
    if (walk?.try) element("steps-try").textContent = stepWords(walk.try);
    element("steps-remark").textContent = walk?.remark ?? "";
    element("steps-table").hidden = !walk;
    if (!walk) return;
    const last = walk.path.length - 1, k = this.marked ?? last, ended = walk.converged ? ", where it stops" : walk.thrown ? ", and then out of sight" : "";
    const said = `Step ${k}: ${pairOf(walk.path[k])}, f = ${short(walk.values[k])}. From ${pairOf(chosen.start)} with η = ${short(chosen.eta)}: ${last} steps${ended}, f = ${short(walk.values[last])} there.`;
    element("steps-status").textContent = said;
    this.canvas.setAttribute("aria-label", `Level lines of ${this.functions[chosen.function].label} and the walk downhill. Arrow keys move the start. ${said}`);
    const rows = walk.path.map((_, row) => row).filter(row => row < ROWS || row === last);
    element("steps-table").tBodies[0].replaceChildren(...rows.map(row => {
      const line = document.createElement("tr"), digits = place => `(${place.map(x => x.toFixed(4).replace("-", "−")).join(", ")})`;
      const cells = [String(row), walk.printed[row] ?? "", digits(walk.path[row]), pairOf(walk.gradients[row]), short(walk.values[row])];
      line.append(...cells.map(words => item("td", words)));
      return line;
    }));
  }

  // Where the steps are on the canvas.
  places() {
    const { at } = placing(this.canvas, this.ground);
    return this.walk.path.map(([x, y]) => [at.x(x), at.y(y)]);
  }

  draw() {
    if (!this.open || !this.ground) return;
    drawLandscape(this.canvas, this.ground, (pen, at) => {
      if (this.walk) paintPath(pen, at, this.walk.path, { thrown: this.walk.thrown, marked: this.marked });
    });
  }
}
