// The whole state of the page in its address, after the #: numbers are written with all their digits, so the same address
// gives the same points and the same plane to the last digit.
import { AXES, axesOf, LONGEST, SIDES } from "./points.js";

export function writeAddress({ preset, points, method, features, compare, stop, file, steps, surface, view, frame, hand, digit, names, classes }) {
  const parts = new URLSearchParams();
  if (stop) parts.set("stop", stop);
  if (preset) parts.set("preset", preset);
  else if (!file) parts.set("points", points.map(({ x, y, positive }) => `${x},${y}${positive ? "p" : "n"}`).join(""));
  if (names !== AXES && !file) for (const name of names) parts.append("axis", name);
  if (classes !== SIDES && !file) for (const name of classes) parts.append("class", name.slice(0, LONGEST));
  if (features !== "plain") parts.set("features", features);
  for (const [name, value] of Object.entries(method)) parts.set(name === "name" ? "method" : name, String(value));
  if (compare.length) parts.set("compare", compare.join(","));
  if (steps) parts.set("steps", steps);
  for (const [name, words] of Object.entries({ surface, hand, digit })) if (words) parts.set(name, words);
  if (frame !== null) parts.set("frame", frame);
  if (view) parts.set("view", view.flat().map(value => Number(value.toPrecision(6))).join(","));
  return `#${parts.toString().replaceAll("%2C", ",")}`;
}

// What an address says, as words; null where it says nothing of it. Numbers that are none are left out.
export function readAddress(hash, settings) {
  const parts = new URLSearchParams(hash.slice(1)), said = {};
  for (const name of ["stop", "preset", "features", "steps", "surface", "hand", "digit"]) if (parts.has(name)) said[name] = parts.get(name);
  if (parts.has("compare")) said.compare = parts.get("compare").split(",");
  if (parts.has("axis")) said.names = axesOf(parts.getAll("axis"));
  if (parts.getAll("class").length === 2) said.classes = parts.getAll("class");
  const edges = (parts.get("view") ?? "").split(",").map(Number);
  if (edges.length === 4 && edges.every(Number.isFinite) && edges[0] < edges[1] && edges[2] < edges[3]) {
    said.view = [edges.slice(0, 2), edges.slice(2)];
  }
  if (/^\d{1,9}$/.test(parts.get("frame") ?? "")) said.frame = Number(parts.get("frame"));
  if (parts.has("points")) {
    said.points = [...parts.get("points").matchAll(/([-+.\de]+),([-+.\de]+)([pn])/g)]
      .map(([, x, y, side]) => ({ x: Number(x), y: Number(y), positive: side === "p" ? 1 : 0 }))
      .filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
  }
  if (parts.has("method")) {
    said.method = { name: parts.get("method") };
    for (const [name, setting] of Object.entries(settings)) {
      if (parts.has(name)) said.method[name] = readSetting(setting, parts.get(name));
    }
  }
  return said;
}

export function readSetting({ kind }, words) {
  if (kind === "yes") return words === "true";
  if (kind === "choice" || words.trim().toLowerCase() === "inf") return words.trim();
  const number = Number(words.replace(",", "."));
  return words.trim() === "" || !Number.isFinite(number) ? words : number; // the server says what is wrong with it
}
