// Downloads, and the link: what somebody takes along.
/* global color */
import { SvgPen } from "./svg.js";

const element = id => document.getElementById(id);
const SHARPER = 2; // dots of a PNG picture for each of the screen, so that it can be printed

// What the address has, and what it has not.
export function linkWords(file) {
  if (!file) return "The address of this page has all of it: the points, the method, its settings, the step that is shown, your own line, a digit that you have drawn.";
  return "The address of this page has the method and its settings, but not the rows of your file, which stay with this server. "
    + "Send the file along: whoever drops it onto the page, or opens it with linsep play FILE, gets the same fit.";
}

export class Share {
  // `ask` asks the server, `method` is what is chosen, `paint(surface)` draws the picture as it is now, `address()` is the link.
  constructor({ ask, method, paint, address }) {
    Object.assign(this, { ask, method, paint, address });
    element("copy").addEventListener("click", () => this.copy());
    element("svg").addEventListener("click", () => this.svg());
    element("png").addEventListener("click", () => this.png());
    for (const button of document.querySelectorAll("[data-download]")) {
      button.addEventListener("click", () => this.fetch(button.dataset.download));
    }
  }

  keep(name, blob) {
    const address = URL.createObjectURL(blob);
    Object.assign(document.createElement("a"), { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
    element("shared").textContent = `${name} is in your downloads.`;
  }

  async fetch(what) {
    const answer = await this.ask("download", { what, ...(what === "data" ? {} : { method: this.method() }) });
    if (answer.kind === "download") this.keep(answer.name, new Blob([answer.text], { type: "text/plain" }));
    else element("shared").textContent = answer.why;
  }

  svg() {
    const { width, height } = element("picture").getBoundingClientRect(), pen = new SvgPen(width, height, color("panel"));
    this.paint({ pen, width, height });
    this.keep("picture.svg", new Blob([pen.text()], { type: "image/svg+xml" }));
  }

  // The same strokes on a canvas that nobody sees, with more dots.
  png() {
    const { width, height } = element("picture").getBoundingClientRect(), canvas = document.createElement("canvas");
    Object.assign(canvas, { width: Math.round(SHARPER * width), height: Math.round(SHARPER * height) });
    const pen = canvas.getContext("2d");
    pen.setTransform(SHARPER, 0, 0, SHARPER, 0, 0);
    Object.assign(pen, { fillStyle: color("panel"), font: "13px system-ui, sans-serif" });
    pen.fillRect(0, 0, width, height);
    this.paint({ pen, width, height });
    canvas.toBlob(blob => this.keep("picture.png", blob), "image/png");
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.address());
      element("shared").textContent = "The link is copied. It opens as long as this server runs; elsewhere, linsep play 'LINK' shows what it says.";
    } catch {
      element("shared").textContent = "Copy the address from the browser's bar: it has all of it.";
    }
  }
}
