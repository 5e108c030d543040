// A file that was dropped: which columns are shown, and what was decided about them.
/* global item */

const element = id => document.getElementById(id);
const EVERY = "all columns, seen from their plane";

export class FilePanel {
  constructor(link, mostBytes, onShow) {
    Object.assign(this, { link, mostBytes, onShow });
    element("file").addEventListener("change", event => this.send(event.target.files[0]));
    element("columns").addEventListener("submit", event => {
      event.preventDefault();
      this.show();
    });
    addEventListener("dragover", event => {
      event.preventDefault();
      element("drop").hidden = !event.dataTransfer?.types.includes("Files");
    });
    addEventListener("dragleave", event => { if (!event.relatedTarget) element("drop").hidden = true; });
    addEventListener("drop", event => {
      event.preventDefault();
      element("drop").hidden = true;
      this.send(event.dataTransfer?.files[0]);
    });
  }

  async send(file) {
    if (!file) return;
    if (file.size > this.mostBytes) { // a server that has refused it already would cut the connection
      this.note([`${file.name} has ${file.size.toLocaleString("en")} bytes; the page takes at most ${this.mostBytes.toLocaleString("en")}.`]);
      return;
    }
    element("file-notes").replaceChildren(item("li", `Reading ${file.name} …`));
    const headers = { "x-name": encodeURIComponent(file.name), "content-type": "application/octet-stream" };
    const taken = fetch("upload", { method: "POST", body: file, headers }).then(response => response.json());
    const answer = await taken.catch(() => ({ why: "The server did not take the file." }));
    if (answer.why) this.note([answer.why]);
    else this.offer(answer);
  }

  offer({ file, name, rows, columns, numeric, target: said }) {
    Object.assign(this, { file, others: columns.length > 3 }); // than two and the class
    const target = said ?? columns.findLast(column => !numeric.includes(column)) ?? columns.at(-1);
    const free = numeric.filter(column => column !== target);
    element("target").replaceChildren(...columns.map(column => new Option(column, column, false, column === target)));
    for (const [id, k] of [["column-x", 0], ["column-y", 1]]) {
      const options = numeric.map(column => new Option(column, column, false, column === free[k]));
      element(id).replaceChildren(...(k ? [] : [new Option(EVERY, "", false, free.length < 2)]), ...options);
    }
    element("file-says").textContent = `${name}: ${rows.toLocaleString("en")} rows, ${columns.length} columns. Which column is the class?`;
    element("columns").hidden = false;
    element("columns").scrollIntoView({ block: "center" });
    this.show();
  }

  async show() {
    const x = element("column-x").value, target = element("target").value;
    const columns = x === "" ? null : [x, element("column-y").value];
    element("column-y").disabled = x === "";
    const answer = await this.link.ask("columns", { file: this.file, target, columns });
    if (answer.kind !== "columns") {
      this.note([answer.why]);
      return;
    }
    this.note(answer.notes);
    this.onShow({ ...answer, others: this.others });
    scrollTo({ top: 0 });
  }

  note(notes) {
    element("file-notes").replaceChildren(...notes.map(words => item("li", words)));
  }
}
