// Draw a 3 or a 7: a pad of 28 × 28 pixels, and the vote of each as the server's classifier casts it.
/* global color, short */

const element = id => document.getElementById(id);
const SIDE = 28, BRUSH = 1.5; // pixels, of these
const SHADES = 15; // of ink: four bits a pixel, so that a drawing fits into an address
// Strokes for those who would rather see one drawn: (x, y) from the upper left corner.
const STROKES = {
  3: [[8, 6], [12, 4], [17, 5], [19, 8], [17, 12], [12, 13.5], [17, 15], [19.5, 19], [17, 23], [12, 24], [8, 22]],
  7: [[8, 5], [20, 5], [16, 13], [12.5, 24]],
};

export class Digits {
  constructor({ ask, save }) {
    Object.assign(this, { ask, save, pixels: new Float32Array(SIDE * SIDE), found: null, last: null, cursor: null, down: false });
    this.pad = element("digit-pad");
    this.votes = element("digit-votes");
    element("digit-box").addEventListener("toggle", () => {
      this.draw();
      this.save();
    });
    element("digit-method").addEventListener("change", () => this.read());
    element("digit-clear").addEventListener("click", () => this.clear());
    for (const [digit, stroke] of Object.entries(STROKES)) element(`digit-${digit}`).addEventListener("click", () => this.write(stroke));
    this.pad.addEventListener("pointerdown", event => {
      this.pad.setPointerCapture(event.pointerId);
      this.last = null;
      this.to(this.place(event));
    });
    this.pad.addEventListener("pointermove", event => { if (event.buttons) this.to(this.place(event)); });
    this.pad.addEventListener("keydown", event => this.key(event));
    this.pad.addEventListener("blur", () => { this.cursor = null; this.down = false; this.draw(); });
    this.votes.addEventListener("pointermove", event => this.point(event));
  }

  offer({ readers, algorithms }) {
    element("digit-method").replaceChildren(...readers.map(name => new Option(algorithms[name].label, name)));
  }

  // What the address says of it, where it is open: the method, and a letter for every two pixels' ink.
  get words() {
    if (!element("digit-box").open) return null;
    const pairs = Array.from({ length: SIDE * SIDE / 2 }, (_, k) => String.fromCharCode(16 * shade(this.pixels[2 * k]) + shade(this.pixels[2 * k + 1])));
    return [element("digit-method").value, ...(this.empty ? [] : [btoa(pairs.join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")])].join(",");
  }

  show(words) {
    const [method, drawn = ""] = (words ?? "").split(","), known = [...element("digit-method").options].some(({ value }) => value === method);
    element("digit-box").open = known;
    if (!known) return;
    element("digit-method").value = method;
    const bytes = /^[-\w]{523}$/.test(drawn) ? atob(drawn.replaceAll("-", "+").replaceAll("_", "/")) : "";
    if (bytes.length !== SIDE * SIDE / 2) return;
    for (let k = 0; k < bytes.length; k++) {
      this.pixels[2 * k] = (bytes.charCodeAt(k) >> 4) / SHADES;
      this.pixels[2 * k + 1] = (bytes.charCodeAt(k) & 15) / SHADES;
    }
    this.draw();
    this.read();
  }

  get empty() {
    return !this.pixels.some(dark => dark > 0);
  }

  place(event) {
    const { left, top, width, height } = event.currentTarget.getBoundingClientRect();
    return [(event.clientX - left) / width * SIDE, (event.clientY - top) / height * SIDE];
  }

  // Ink from the last place of the stroke to this one, softer at its edge.
  ink([x, y]) {
    const [fromX, fromY] = this.last ?? [x, y], count = Math.max(1, Math.ceil(4 * Math.hypot(x - fromX, y - fromY)));
    for (let k = 0; k <= count; k++) {
      const [cx, cy] = [fromX + k / count * (x - fromX), fromY + k / count * (y - fromY)];
      for (let row = Math.max(0, Math.floor(cy - 3)); row < Math.min(SIDE, cy + 3); row++) {
        for (let column = Math.max(0, Math.floor(cx - 3)); column < Math.min(SIDE, cx + 3); column++) {
          const dark = Math.min(1, Math.max(0, BRUSH + 0.5 - Math.hypot(column + 0.5 - cx, row + 0.5 - cy)));
          this.pixels[row * SIDE + column] = Math.max(this.pixels[row * SIDE + column], dark);
        }
      }
    }
    this.last = [x, y];
  }

  to(place) {
    this.ink(place);
    this.draw();
    this.read();
  }

  write(stroke) {
    this.pixels.fill(0);
    this.last = null;
    for (const place of stroke) this.ink(place);
    this.last = null;
    this.draw();
    this.read();
  }

  clear() {
    this.pixels.fill(0);
    Object.assign(this, { found: null, last: null });
    element("digit-says").textContent = "";
    element("digit-sum").textContent = "";
    this.draw();
    this.save();
  }

  // Arrows move a cursor, Enter lowers and lifts the pen, Delete clears.
  key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!steps && !["Enter", "Delete"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    this.cursor ??= [SIDE / 2, SIDE / 2];
    if (event.key === "Delete") {
      this.clear();
      return;
    }
    if (event.key === "Enter") {
      this.down = !this.down;
      this.last = null;
    } else this.cursor = this.cursor.map((value, k) => Math.min(SIDE - 1, Math.max(1, value + steps[k])));
    if (this.down) this.to(this.cursor);
    else this.draw();
  }

  // One question at a time; what is drawn meanwhile goes with the next.
  async read() {
    this.again = this.asking;
    this.save();
    if (this.asking || this.empty) return;
    this.asking = true;
    if (!this.found) element("digit-says").textContent = "…";
    const pixels = Array.from(this.pixels, dark => Number((shade(dark) / SHADES).toFixed(3)));
    const answer = await this.ask("digit", { pixels, method: element("digit-method").value });
    this.asking = false;
    if (this.again) this.read();
    if (this.empty) return;
    this.found = answer.kind === "digit" ? answer : null;
    this.tell(answer.why);
    this.draw();
  }

  tell(why = "") {
    const { found } = this;
    element("digit-says").textContent = found ? `A ${found.digit}.` : why;
    if (!found) return;
    const sure = found.probability === null ? "" : ` The probability of a 7 is ${short(found.probability)}.`;
    element("digit-sum").textContent = `Blue votes ${short(found.for)}, orange votes ${short(found.against)}, offset ${short(found.offset)}: together ${short(found.score)}. More than 0 is a 7.${sure} ${found.says}`;
    this.votes.setAttribute("aria-label", `The vote of every pixel, its weight times its ink: ${element("digit-sum").textContent}`);
  }

  point(event) {
    if (!this.found) return;
    const [x, y] = this.place(event).map(value => Math.min(SIDE - 1, Math.max(0, Math.floor(value)))), k = y * SIDE + x;
    const { votes, seen } = this.found, weight = seen[k] ? votes[k] / seen[k] : null;
    element("digit-pixel").textContent = `Row ${y + 1}, column ${x + 1}: ink ${short(seen[k])}${weight === null ? ", no vote" : ` times weight ${short(weight)} is ${short(votes[k])}`}.`;
  }

  draw() {
    if (!element("digit-box").open) return;
    squares(this.pad, k => ({ name: "ink", alpha: this.pixels[k] }));
    const pen = this.pad.getContext("2d"), size = this.pad.width / SIDE;
    if (this.cursor) {
      Object.assign(pen, { strokeStyle: color(this.down ? "cause" : "quiet"), lineWidth: 2 });
      pen.strokeRect((this.cursor[0] - 1) * size, (this.cursor[1] - 1) * size, 2 * size, 2 * size);
    }
    const { votes } = this.found ?? { votes: [] }, most = votes.reduce((a, b) => Math.max(a, Math.abs(b)), 0) || 1;
    squares(this.votes, k => ({ name: votes[k] > 0 ? "positive" : "negative", alpha: Math.abs(votes[k] ?? 0) / most }));
  }
}

const shade = dark => Math.round(SHADES * dark);

// Every pixel as a square of some colour, the stronger the darker.
function squares(canvas, look) {
  const { width } = canvas.getBoundingClientRect(), dots = Math.round(width * (window.devicePixelRatio || 1)), size = dots / SIDE;
  if (!dots) return;
  if (canvas.width !== dots) Object.assign(canvas, { width: dots, height: dots });
  const pen = canvas.getContext("2d");
  pen.clearRect(0, 0, dots, dots);
  for (let k = 0; k < SIDE * SIDE; k++) {
    const { name, alpha } = look(k);
    if (!alpha) continue;
    Object.assign(pen, { fillStyle: color(name), globalAlpha: alpha });
    pen.fillRect((k % SIDE) * size, Math.floor(k / SIDE) * size, size + 0.5, size + 0.5);
  }
  pen.globalAlpha = 1;
}
