// The page's end of the protocol: questions with numbers, answers that find them again.

const VERSION = 1;

export class Link {
  constructor(onLost) {
    this.waiting = new Map();
    this.number = 0;
    this.onLost = onLost;
  }

  open() {
    const address = new URL("live", location.href);
    address.protocol = "ws:";
    address.hash = "";
    this.socket = new WebSocket(address);
    this.socket.addEventListener("message", event => this.hear(JSON.parse(event.data)));
    this.socket.addEventListener("close", () => {
      this.waiting.clear();
      this.onLost();
    });
    return new Promise(done => this.socket.addEventListener("open", done));
  }

  // The answer of a question; one that a newer question of its kind has overtaken is never answered.
  ask(what, body = {}) {
    const id = ++this.number;
    for (const [old, { kind }] of this.waiting) if (kind === what) this.waiting.delete(old);
    return new Promise(done => {
      this.waiting.set(id, { kind: what, done });
      if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ v: VERSION, id, do: what, ...body }));
    });
  }

  hear(answer) {
    const question = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (question) question.done(answer);
  }
}
