// Several methods on the same points: their lines in one picture, their risks in one table.
/* global contour, discriminant, drawSwatches, item, key, polyline, prepare, short */

const element = id => document.getElementById(id);
const DASHES = [[], [9, 4], [3, 3], [10, 3, 3, 3], [14, 4], [6, 3], [2, 2], [10, 3, 2, 3, 2, 3]];

export class Compare {
  constructor({ ask, state, redraw, save }) {
    Object.assign(this, { ask, state, redraw, save, found: [], names: [] });
  }

  offer(algorithms) {
    this.algorithms = algorithms;
    this.names = Object.keys(algorithms);
    for (const name of this.names) {
      const button = item("button", algorithms[name].label);
      button.dataset.compare = name;
      button.addEventListener("click", () => this.toggle(name));
      element("compare-choices").append(button);
    }
  }

  toggle(name) {
    const { compare } = this.state;
    this.state.compare = compare.includes(name) ? compare.filter(one => one !== name) : [...compare, name];
    this.show();
    this.save();
    this.refresh();
  }

  show() {
    for (const button of element("compare-choices").children) {
      button.setAttribute("aria-pressed", String(this.state.compare.includes(button.dataset.compare)));
    }
  }

  async refresh() {
    const { compare } = this.state;
    element("compare-table").hidden = !compare.length;
    if (!compare.length) {
      if (!this.found.length) return;
      this.found = [];
      element("compare-legend").replaceChildren();
      this.redraw();
      return;
    }
    const answer = await this.ask("planes", { methods: compare.map(name => this.settings(name)) });
    this.found = answer.kind === "planes" ? answer.planes : [];
    this.tell();
    this.redraw();
  }

  // The method that is chosen stands beside the others as it is set; those have their usual settings.
  settings(name) {
    return name === this.state.method.name ? this.state.method : { name };
  }

  style(name) {
    const k = this.names.indexOf(name);
    return { color: `series${k % 8}`, width: 2.5, dash: DASHES[k % DASHES.length] };
  }

  paint(pen, at, grid) {
    for (const { name, plane } of this.found) {
      if (plane && grid && plane.length === grid.basis.length + 1) {
        contour(pen, at, grid, discriminant(grid, plane), 0, this.style(name));
      }
    }
  }

  tell() {
    const rows = this.found.map(({ name, mistakes, n, risks, why }) => {
      const row = document.createElement("tr"), head = item("th", ""), swatch = document.createElement("canvas");
      swatch.className = "swatch";
      head.append(swatch, ` ${this.algorithms[name].label}`);
      head.scope = "row";
      const cells = why ? [why, "", ""] : [`${mistakes} of ${n}`, short(risks.hinge), short(risks.logistic)];
      row.append(head, ...cells.map(words => item("td", words)));
      requestAnimationFrame(() => polyline(prepare(swatch).pen, [[0, 8], [40, 8]], this.style(name)));
      return row;
    });
    element("compare-table").tBodies[0].replaceChildren(...rows);
    const keys = this.found.map(({ name, why }) => key(this.algorithms[name].label + (why ? ` (${why})` : ""),
      pen => polyline(pen, [[0, 8], [26, 8]], this.style(name))));
    element("compare-legend").replaceChildren(...keys);
    drawSwatches();
  }
}
