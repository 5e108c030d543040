// The choice of a method and its settings, made of what the server says there is. A setting that a method has no use for
// stays in sight, with the reason.
import { readSetting } from "./address.js";

const element = id => document.getElementById(id);

export class MethodForm {
  constructor({ settings, algorithms, features }, onChange) {
    Object.assign(this, { settings, algorithms, onChange });
    for (const [name, { label }] of Object.entries(algorithms)) element("method").append(new Option(label, name));
    for (const [name, label] of Object.entries(features)) element("features").append(new Option(label, name));
    element("method").addEventListener("change", event => onChange({ method: { name: event.target.value } }));
    element("features").addEventListener("change", event => onChange({ features: event.target.value }));
  }

  show({ method, features }) {
    this.method = method;
    const algorithm = this.algorithms[method.name];
    element("method").value = method.name;
    element("features").value = features;
    element("method-says").textContent = algorithm.says;
    const shown = `${method.name} ${method.schedule}`;
    if (this.shown !== shown) element("settings").replaceChildren(...Object.keys(this.settings).map(name => this.row(name, algorithm)));
    this.shown = shown;
    for (const name of algorithm.uses) this.fill(name, method[name] ?? this.standard(name));
  }

  standard(name) {
    return this.algorithms[this.method.name].defaults[name] ?? this.settings[name].default;
  }

  row(name, algorithm) {
    const setting = this.settings[name], row = document.createElement("label");
    row.className = "row";
    const input = this.input(name, setting);
    row.append(setting.label, input);
    let why = algorithm.without[name];
    if (name === "eta" && algorithm.uses.includes("eta") && (this.method.schedule ?? "auto") === "auto") {
      why = "the step sizes are chosen by the data; choose constant or falling ones to set η";
    }
    if (why) {
      input.disabled = true;
      row.append(Object.assign(document.createElement("span"), { className: "why", textContent: `Not here: ${why}.` }));
    }
    return row;
  }

  input(name, { kind, choices, default: standard }) {
    const input = document.createElement(kind === "choice" ? "select" : "input");
    input.id = `setting-${name}`;
    if (kind === "choice") for (const [value, label] of Object.entries(choices)) input.append(new Option(label, value));
    if (kind === "yes") input.type = "checkbox";
    if (kind === "number") Object.assign(input, { type: "text", inputMode: "decimal", autocomplete: "off" });
    if (kind === "yes") input.checked = standard;
    else input.value = standard;
    input.addEventListener("change", () => this.changed(name, kind === "yes" ? input.checked : input.value));
    return input;
  }

  fill(name, value) {
    const input = element(`setting-${name}`);
    if (this.settings[name].kind === "yes") input.checked = value;
    else if (document.activeElement !== input || input.tagName === "SELECT") input.value = value;
  }

  changed(name, words) {
    const value = typeof words === "boolean" ? words : readSetting(this.settings[name], words);
    const method = { ...this.method, [name]: value };
    if (value === this.standard(name)) delete method[name];
    if ((method.schedule ?? "auto") === "auto") delete method.eta; // it would be ignored
    this.onChange({ method });
  }
}
