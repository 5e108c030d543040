// The objective over two weights, with the path of the film up to the frame that is shown. A fit sends it where it is asked for.
/* global short */
import { drawLandscape, paintPath } from "./landscape.js";

const element = id => document.getElementById(id);
const pairOf = ([x, y]) => `(${short(x)}, ${short(y)})`;

export class Surface {
  constructor({ refit, save }) {
    Object.assign(this, { refit, save, ground: null, parameters: null, height: "objective" });
    this.canvas = element("surface-picture");
    element("surface-box").addEventListener("toggle", () => this.toggled());
    element("surface-height").addEventListener("change", event => this.choose({ height: event.target.value }));
    for (const side of [0, 1]) {
      element(`surface-${side}`).addEventListener("change", () => {
        const chosen = [0, 1].map(k => Number(element(`surface-${k}`).value));
        if (chosen[0] === chosen[1]) chosen[1 - side] = this.ground.parameters[side]; // the other one gives way
        this.choose({ parameters: chosen });
      });
    }
  }

  offer({ heights }) {
    element("surface-height").replaceChildren(...Object.entries(heights).map(([name, label]) => new Option(label, name)));
  }

  get open() {
    return element("surface-box").open;
  }

  get words() {
    return this.open ? [this.height, ...(this.parameters ?? [])].join(",") : null;
  }

  read(words) {
    const [height, ...parameters] = (words ?? "").split(",");
    const known = [...element("surface-height").options].some(({ value }) => value === height);
    this.parameters = parameters.length === 2 && parameters.every(part => /^\d+$/.test(part)) ? parameters.map(Number) : null;
    if (known) this.height = height;
    this.reading = element("surface-box").open !== known; // whoever reads an address fits anyway
    element("surface-box").open = known;
  }

  // What a fit is asked for beside its film: nothing where the panel is closed.
  get asked() {
    return this.open ? { surface: { height: this.height, ...(this.parameters ? { parameters: this.parameters } : {}) } } : {};
  }

  // Other features, or a fit without b: the parameters have other numbers.
  forget() {
    this.parameters = null;
  }

  toggled() {
    const read = this.reading;
    this.reading = false;
    if (read) return;
    this.save();
    if (this.open) this.refit();
  }

  choose(part) {
    Object.assign(this, part);
    this.save();
    this.refit();
  }

  take(ground) {
    this.ground = ground ?? null;
    element("surface-show").hidden = !ground;
    if (!ground) return;
    const { names, parameters, height, label, sampled } = ground;
    for (const side of [0, 1]) {
      element(`surface-${side}`).replaceChildren(...names.map((name, k) => new Option(name, k, false, k === parameters[side])));
    }
    element("surface-height").value = height;
    element("surface-words").textContent = `${label[0].toUpperCase()}${label.slice(1)}${sampled ? `, ${sampled} of the points` : ""}; all else as at the end of the film. The stronger a line, the lower.`;
  }

  draw(frame) {
    const { ground } = this;
    if (!this.open || !ground) return;
    const path = ground.path.slice(0, frame + 1), [across, up] = ground.parameters.map(k => ground.names[k]);
    this.canvas.setAttribute("aria-label", `Level lines of the ${ground.label} over ${across} and ${up}, with the path from ${pairOf(path[0])} to ${pairOf(path.at(-1))}, frame ${frame + 1}.`);
    drawLandscape(this.canvas, ground, (pen, at) => paintPath(pen, at, path, { marked: path.length - 1, numbers: 1 }));
  }
}
