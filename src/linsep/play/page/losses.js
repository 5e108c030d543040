// The loss over z with every point on it, slacks in the picture, and the curves that only the page has. The server sends the
// loss as a table; z of a point is y times g, which the frame's own coefficients give as they give the line.
/* global axes, behind, discriminant, inset, inView, makeChart, markers, placed, polyline, prepare, reach, short, STYLES, ticks */

const SLACK = { color: "cause", width: 1.6, dash: [4, 2] };

// z of every point drawn in a frame, each with its place among them.
export function agreements({ frames, points }, { basis, agreements: listed, rows }, frame) {
  if (listed) return rows.map((k, j) => ({ k, z: listed[frame][j] }));
  const g = discriminant({ u: { length: points.drawn }, v: [0], basis: basis ?? [points.u, points.v] }, frames.plane[frame]);
  return Array.from(g, (value, k) => ({ k, z: points.positive[k] ? value : -value }));
}

// The height of a table at z: between two entries it is straight, beyond them their last.
function height({ z: places, values }, z) {
  let low = 0, high = places.length - 1;
  if (z <= places[0]) return values[0];
  if (z >= places[high]) return values[high];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (places[middle] <= z) low = middle;
    else high = middle;
  }
  return values[low] + (z - places[low]) / (places[high] - places[low]) * (values[high] - values[low]);
}

export class LossPlot {
  constructor(figure) {
    Object.assign(this, { figure, canvas: figure.querySelector("canvas"), caption: figure.querySelector("figcaption") });
  }

  // While a film plays, what nobody sees is drawn when it stops.
  draw(film, loss, frame, playing) {
    const unseen = playing && !this.figure.hidden && !inView(this.canvas);
    this.figure.hidden = !film;
    if (!film || unseen) return;
    const every = agreements(film, loss, frame), wrong = every.filter(({ z }) => z <= 0).length;
    const inside = every.filter(({ z }) => z > 0 && z < 1).length, some = every.length < film.total ? `, of ${every.length} of the points` : "";
    const caption = `Loss ${loss.formula} at every point's z = y·g(x), g(x) = w·x + b${some}`;
    if (this.caption.textContent !== caption) this.caption.textContent = caption;
    this.canvas.setAttribute("aria-label", `${caption}: ${wrong} at z ≤ 0, ${inside} between 0 and 1, ${every.length - wrong - inside} beyond.`);
    const { pen, width, height: tall } = prepare(this.canvas), across = [loss.z[0], loss.z.at(-1)];
    const scale = reach(loss.values, false), box = inset(pen, { width, height: tall }, scale.ticks);
    const at = placed(box, across, scale.up);
    behind(this.canvas, pen, loss, own => {
      axes(own, box, at, ticks(...across, box.width / 60), scale.ticks);
      for (const z of [0, ...(loss.margin ? [1] : [])]) {
        polyline(own, [[at.x(z), box.y], [at.x(z), box.y + box.height]], z ? STYLES.margin : { color: "quiet", width: 1 });
      }
      polyline(own, loss.z.map((z, k) => [at.x(z), at.y(loss.values[k])]), { color: "plane", width: 2 });
    });
    const kinds = [[], [], [], []];
    for (const { k, z } of every) {
      const held = Math.min(across[1], Math.max(across[0], z)); // one beyond the edge lies on it
      kinds[2 * (z <= 0) + film.points.positive[k]].push([at.x(held), at.y(height(loss, z))]);
    }
    kinds.forEach((places, kind) => { if (places.length) markers(pen, places, kind & 1, kind >> 1, every.length > 120 ? 2.6 : 3.6); });
  }
}

// From every point that is not beyond its margin a line to it, as long as the slack 1 − z says. Only where g is straight in
// the picture: there three corners tell its slope.
export function paintSlacks(pen, at, film, grid, loss, frame) {
  const { kind } = film.picture, plane = film.frames.plane[frame];
  if (!loss.margin || kind === "projection" || grid.basis.length !== 2 || film.points.drawn > 400) return;
  const g = discriminant(grid, plane), columns = grid.u.length;
  const a = (g[columns - 1] - g[0]) / (grid.u.at(-1) - grid.u[0]), b = (g[columns * (grid.v.length - 1)] - g[0]) / (grid.v.at(-1) - grid.v[0]);
  const square = a * a + b * b;
  if (!(square > 0)) return;
  for (const { k, z } of agreements(film, loss, frame)) {
    if (z >= 1) continue;
    const { u, v, positive } = film.points, far = (positive[k] ? 1 : -1) * (1 - z) / square;
    polyline(pen, [[at.x(u[k]), at.y(v[k])], [at.x(u[k] + far * a), at.y(v[k] + far * b)]], SLACK);
  }
}

export const slackStyle = SLACK;

// The curves that a method has beside those of every film: the duality gap, and both bounds of the exact search.
export function moreCharts(film, { gap, bounds }, go) {
  const figure = name => document.getElementById(`${name}-chart`), values = list => list ?? film.frames.step.map(() => null);
  return [
    makeChart(figure("gap"), film.frames, go, "Duality gap: how far from the optimum at the most, as a share of the objective", [
      { name: "gap of the best so far", values: values(gap), color: "plane", width: 2 },
    ]),
    makeChart(figure("bounds"), film.frames, go, "Fewest mistakes: found, and proven necessary", [
      { name: "found so far", values: values(bounds?.upper), color: "plane", width: 2 },
      { name: "every line makes at least", values: values(bounds?.lower), ...STYLES.level },
    ], { wide: false, stepped: true }),
  ].filter(chart => chart);
}
