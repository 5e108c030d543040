// Which part of the scene is shown: wheel, two fingers, buttons and keys zoom and move it. Lines follow at once; curves of a
// feature map are computed for the new window when it stands still.

const element = id => document.getElementById(id);
const STEP = 1.25, SMALLEST = 1e-3, LARGEST = 20; // a step of the zoom, and how far it goes, as shares of the whole
const PAUSE = 200; // milliseconds without a move after which it stands still

export class Zoom {
  // `view()` says where the picture lies, what it shows and what the whole is; `on.abandon()` takes back a stroke that has begun.
  constructor(canvas, view, on) {
    Object.assign(this, { canvas, view, on, window: null, fingers: new Map(), dragged: null });
    canvas.addEventListener("wheel", event => this.wheel(event), { passive: false });
    const first = { capture: true }; // before whoever draws points
    canvas.addEventListener("pointerdown", event => this.down(event), first);
    canvas.addEventListener("pointermove", event => this.move(event), first);
    for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, event => this.up(event), first);
    canvas.addEventListener("keydown", event => this.key(event), first);
    element("zoom-in").addEventListener("click", () => this.by(STEP));
    element("zoom-out").addEventListener("click", () => this.by(1 / STEP));
    element("zoom-home").addEventListener("click", () => this.set(null));
  }

  // Show another window, or the whole of it.
  set(window) {
    this.window = window;
    element("zoom-home").disabled = !window;
    this.on.look();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.on.settled(), PAUSE);
  }

  // The same without telling anybody: something else is shown, or an address says what.
  forget(window = null) {
    clearTimeout(this.timer);
    this.window = window;
    element("zoom-home").disabled = !window;
  }

  place({ clientX, clientY }) {
    const bounds = this.canvas.getBoundingClientRect();
    return [clientX - bounds.left, clientY - bounds.top];
  }

  // A place on the canvas as shares of the picture, from the left and from the bottom.
  share([x, y]) {
    const { box } = this.view();
    return [(x - box.x) / box.width, (box.y + box.height - y) / box.height];
  }

  // Larger by a factor about a place, the middle where none is said; the point under it stays there.
  by(factor, place = null) {
    const { window, home } = this.view(), shares = place ? this.share(place) : [0.5, 0.5];
    const whole = home[0][1] - home[0][0], size = (window[0][1] - window[0][0]) / whole;
    const held = Math.min(LARGEST, Math.max(SMALLEST, size / factor)) / size;
    this.set(window.map(([low, high], k) => {
      const at = low + shares[k] * (high - low);
      return [at - shares[k] * (high - low) * held, at + (1 - shares[k]) * (high - low) * held];
    }));
  }

  // Along by shares of the picture.
  pan(shares) {
    this.set(this.view().window.map(([low, high], k) => [low, high].map(value => value + shares[k] * (high - low))));
  }

  // A wheel over the picture scrolls the page, unless the picture has the focus or Ctrl is held (as a pinch on a pad does).
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    this.by(STEP ** (-Math.sign(event.deltaY) * Math.min(3, Math.abs(event.deltaY) / 60)), this.place(event));
  }

  down(event) {
    if (event.pointerType === "touch") {
      this.fingers.set(event.pointerId, this.place(event));
      if (this.fingers.size < 2) return;
      this.on.abandon();
    } else if (event.button === 1 || (event.button === 0 && event.shiftKey)) {
      this.dragged = this.place(event);
      this.canvas.setPointerCapture(event.pointerId);
      this.canvas.focus();
    } else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  move(event) {
    const place = this.place(event);
    if (this.fingers.size >= 2 && this.fingers.has(event.pointerId)) this.pinch(event.pointerId, place);
    else if (this.dragged) {
      this.follow(this.dragged, place);
      this.dragged = place;
    } else {
      if (this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, place);
      return;
    }
    event.stopImmediatePropagation();
  }

  // What was under the one place comes under the other.
  follow(from, to) {
    const [a, b] = [this.share(from), this.share(to)];
    this.pan([a[0] - b[0], a[1] - b[1]]);
  }

  pinch(id, place) {
    const [other] = [...this.fingers].filter(([one]) => one !== id).map(([, where]) => where), before = this.fingers.get(id);
    const middle = ([x, y]) => [(x + other[0]) / 2, (y + other[1]) / 2], apart = ([x, y]) => Math.hypot(x - other[0], y - other[1]);
    this.fingers.set(id, place);
    this.follow(middle(before), middle(place));
    if (apart(before) > 0 && apart(place) > 0) this.by(apart(place) / apart(before), middle(place));
  }

  up(event) {
    const two = this.fingers.size >= 2;
    this.fingers.delete(event.pointerId);
    if (!two && !this.dragged) return;
    this.dragged = null;
    event.stopImmediatePropagation();
  }

  key(event) {
    const arrow = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
    const act = {
      "+": () => this.by(STEP), "=": () => this.by(STEP), "-": () => this.by(1 / STEP), 0: () => this.set(null),
    }[event.key] ?? (arrow && event.ctrlKey ? () => this.pan(arrow) : null);
    if (!act || event.metaKey || event.altKey || (event.ctrlKey && !arrow)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    act();
  }
}
