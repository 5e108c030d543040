// A pen with the few strokes that the drawing code knows, which writes an SVG picture instead of dots.

const escape = words => String(words).replace(/[&<>"]/g, one => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[one]);
const digits = value => Number(value.toFixed(2));

export class SvgPen {
  constructor(width, height, ground) {
    Object.assign(this, { width, height, ground, path: "", parts: [], clips: 0, open: [0], globalAlpha: 1, dash: [] });
    this.measure = document.createElement("canvas").getContext("2d");
    Object.assign(this, { font: "13px system-ui, sans-serif", textAlign: "left", fillStyle: "#000", strokeStyle: "#000", lineWidth: 1 });
  }

  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += `M${digits(x)} ${digits(y)}`; }
  lineTo(x, y) { this.path += `L${digits(x)} ${digits(y)}`; }
  closePath() { this.path += "Z"; }
  rect(x, y, w, h) { this.path += `M${digits(x)} ${digits(y)}h${digits(w)}v${digits(h)}h${digits(-w)}z`; }
  arc(x, y, r) { this.path += `M${digits(x - r)} ${digits(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`; }
  setLineDash(dash) { this.dash = dash; }
  save() { this.open.push(0); }
  restore() { this.parts.push("</g>".repeat(this.open.pop())); }

  clip() {
    this.clips += 1;
    this.open[this.open.length - 1] += 1;
    this.parts.push(`<clipPath id="clip${this.clips}"><path d="${this.path}"/></clipPath><g clip-path="url(#clip${this.clips})">`);
  }

  stroke() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    this.draw(`fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}" stroke-linejoin="round"${dash}`);
  }

  fill() { this.draw(`fill="${this.fillStyle}"`); }

  draw(style) {
    const faint = this.globalAlpha === 1 ? "" : ` opacity="${this.globalAlpha}"`;
    if (this.path) this.parts.push(`<path d="${this.path}" ${style}${faint}/>`);
  }

  measureText(words) {
    this.measure.font = this.font;
    return this.measure.measureText(words);
  }

  fillText(words, x, y) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    this.parts.push(`<text x="${digits(x)}" y="${digits(y)}" text-anchor="${anchor}" fill="${this.fillStyle}">${escape(words)}</text>`);
  }

  text() {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}" `
      + `font-family="system-ui, sans-serif" font-size="13"><rect width="100%" height="100%" fill="${this.ground}"/>${this.parts.join("\n")}</svg>\n`;
  }
}
