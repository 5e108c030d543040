// The page's end of the protocol: questions with numbers, answers that find them again.

const VERSION = 1;
const AGAIN = [0, 500, 2000]; // milliseconds before each attempt to be connected again
const later = pause => new Promise(go => setTimeout(go, pause));

export class Link {
  constructor(onLost) {
    this.waiting = new Map();
    this.number = 0;
    this.onLost = onLost;
  }

  // Connect, and return whether that succeeded.
  open() {
    const address = new URL("live", location.href);
    address.protocol = "ws:";
    address.hash = "";
    this.socket = new WebSocket(address);
    this.socket.addEventListener("message", event => this.hear(JSON.parse(event.data)));
    return new Promise(done => {
      this.socket.addEventListener("open", () => done(true));
      this.socket.addEventListener("close", () => done(false));
    }).then(open => {
      if (open) this.socket.addEventListener("close", () => this.lost());
      return open;
    });
  }

  // A machine that slept, or a server that gave up waiting, has hung up: what has no answer yet is asked again, once.
  async lost() {
    for (const [id, question] of this.waiting) if (question.sent > 1) this.hear({ id, kind: "refused", why: "The server hung up on this question twice." });
    for (const pause of AGAIN) {
      await later(pause);
      if (!await this.open()) continue;
      for (const question of this.waiting.values()) this.send(question);
      return;
    }
    this.waiting.clear();
    this.onLost();
  }

  // The answer of a question; one that a newer question of its kind has overtaken is never answered.
  ask(what, body = {}) {
    const id = ++this.number;
    for (const [old, { kind }] of this.waiting) if (kind === what) this.waiting.delete(old);
    return new Promise(done => {
      const question = { kind: what, done, text: JSON.stringify({ v: VERSION, id, do: what, ...body }), sent: 0 };
      this.waiting.set(id, question);
      this.send(question);
    });
  }

  send(question) {
    if (this.socket.readyState !== WebSocket.OPEN) return; // it goes when the connection is there again
    question.sent += 1;
    this.socket.send(question.text);
  }

  hear(answer) {
    const question = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (question) question.done(answer);
  }
}
