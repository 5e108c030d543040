// Whether a line separates, in words, and the proof in the picture: the few points whose hulls meet, and a star where.
/* global polyline, ring, short */

export function verdictWords(answer, where) {
  if (answer.kind !== "separability") return "";
  if (answer.separable) {
    return `Separable: a ${where} has every point strictly on its own side, at least ${short(answer.margin)} away. Checked exactly.`;
  }
  const weakly = answer.verdict === "quasi" ? `; one has no point on its wrong side, but some on it` : "";
  return `Not separable: no ${where} has every point strictly on its own side${weakly}. The proof: ${answer.words}. Checked exactly.`;
}

// Why no line separates; hulls are drawn where they are those of the picture's own coordinates.
export function paintHulls(pen, at, proof, points, plain) {
  const rows = proof.points.map(k => points[k]).filter(row => row);
  for (const positive of plain ? [0, 1] : []) {
    const side = rows.filter(row => row.positive === positive).map(({ x, y }) => [at.x(x), at.y(y)]);
    for (const a of side) for (const b of side) {
      if (a !== b) polyline(pen, [a, b], { color: positive ? "positive" : "negative", width: 2 });
    }
  }
  for (const { x, y } of rows) ring(pen, at.x(x), at.y(y), 11, { color: "best", width: 2.5, dash: [4, 3] });
}

export function paintStar(pen, at, common) {
  const [x, y] = [at.x(common[0]), at.y(common[1])];
  for (const [dx, dy] of [[8, 0], [0, 8], [6, 6], [6, -6]]) {
    polyline(pen, [[x - dx, y - dy], [x + dx, y + dy]], { color: "cause", width: 3 });
  }
}
