// Points to begin with: presets as buttons, and the lectures' figures by document.
/* global item */

const element = id => document.getElementById(id);

export function offerPictures({ presets, figures, documents, functions }, { choosePreset, steps }) {
  for (const [name, { label }] of Object.entries(presets)) {
    const button = item("button", label);
    button.dataset.preset = name;
    button.addEventListener("click", () => choosePreset(name));
    element("presets").append(button);
  }
  const select = element("figures"), walks = Object.entries(functions).map(([name, { label }]) => [`steps:${name}`, { label: `Walking down ${label}`, document: "001" }]);
  const digits = ["digits", { label: "3s and 7s, and their pixels' weights", document: "001" }];
  select.append(new Option("Figures of the lectures …", ""));
  for (const [number, words] of Object.entries(documents)) {
    const group = Object.assign(document.createElement("optgroup"), { label: words });
    const own = [...Object.entries(figures), ...walks, digits].filter(([, figure]) => figure.document === number);
    group.append(...own.map(([name, { label }]) => new Option(label, name)));
    select.append(group);
  }
  select.addEventListener("change", () => {
    const [panel, name] = select.value.split(":");
    if (select.value in figures) choosePreset(select.value);
    else if (panel === "steps") show("steps-box", () => steps.read(name));
    else if (panel === "digits") show("digit-box", () => { element("digit-box").open = true; });
  });
}

function show(id, open) {
  open();
  element(id).scrollIntoView({ block: "start" });
}

// Which of them is shown.
export function tellPicture(name) {
  for (const button of element("presets").children) button.setAttribute("aria-pressed", String(button.dataset.preset === name));
  const select = element("figures");
  select.value = [...select.options].some(({ value }) => value === name) ? name : "";
}
