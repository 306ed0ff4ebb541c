// Break-even along one factor: the speedup as a curve, and where it crosses 1.

function evenCurve(even, one, look, box) {
  const [row] = one.rows;
  const spare = 0.03 * (even.x.ends[1] - even.x.ends[0] || 1);
  const across = [even.x.ends[0] - spare, even.x.ends[1] + spare];
  const range = evenReach(even, one, row);
  const color = look.lines[0];
  const held = row.band ? evenHeld(row.band, range, look) : [];
  const hovertext = one.x.map((_, i) => evenHover([one.places[i], ...evenTold(even, [row.speedup[i], row.low[i], row.high[i]]), row.said]));
  return {
    traces: [
      evenArea(across, [1 / (1 + even.even), 1 / (1 + even.even)], [1 + even.even, 1 + even.even], faded(look.muted, 0.18)),
      { type: "scatter", mode: "lines", x: across, y: [1, 1], line: { color: look.muted, width: 1.5 }, hoverinfo: "skip" },
      ...held,
      evenArea(one.x, row.low, row.high, faded(color, 0.22)),
      { type: "scatter", mode: "lines", name: "speedup", x: one.x, y: row.speedup, line: { color, width: 2.4 }, hoverinfo: "text", hovertext },
      evenPairs(even, one, look, (pair) => pair.speedup),
    ],
    layout: layout(look, box, {
      margin: { l: 54, r: 10, t: 8, b: 42 },
      annotations: evenSides(even, row, look),
      xaxis: evenAxis(look, even.x, across, box.width),
      yaxis: quietAxis(look, { type: "log", ...decades(...range), title: axisTitle("speedup (log scale)", box.height) }),
    }),
  };
}

// Curve and pairs are always inside; an interval may leave the frame.
function evenReach(even, one, row) {
  const [core, whole] = [new Reach(), new Reach()];
  [1 / (1 + even.even), 1 + even.even, ...row.speedup, ...one.pairs.map((pair) => pair.speedup)].forEach((y) => core.take(y));
  [...row.low, ...row.high].forEach((y) => whole.take(y));
  const { low, high } = cut(core, whole, true);
  return [Math.min(low, core.low) / 1.15, Math.max(high, core.high) * 1.15];
}

function evenArea(x, low, high, fillcolor) {
  return { type: "scatter", mode: "lines", x: [...x, ...[...x].reverse()], y: [...high, ...[...low].reverse()], fill: "toself", fillcolor, line: { width: 0 }, hoverinfo: "skip" };
}

// The places at which the curve may cross 1.
function evenHeld([low, high], [bottom, top], look) {
  const edges = [low, high].map((x) => [[x, bottom], [x, top]]);
  return evenOpen([...edges[0], ...[...edges[1]].reverse()], edges, look);
}

// Who is faster above the line at 1 and below it, each at the end where the curve is on the other side.
function evenSides(even, row, look) {
  const rises = row.speedup[0] < row.speedup[row.speedup.length - 1];
  const side = (name, isAbove) => {
    const left = isAbove === rises;
    const at = Math.log10(isAbove ? 1 + even.even : 1 / (1 + even.even));
    return { xref: "paper", x: left ? 0.01 : 0.99, xanchor: left ? "left" : "right", y: at, yanchor: isAbove ? "bottom" : "top", text: plain(`${name} is faster`), showarrow: false, font: { size: 13, color: look.ink } };
  };
  return [side(even.other, true), side(even.baseline, false)];
}
