// Break-even over two factors: colors for the speedup, one row for each level of the second factor.

const EVEN_STRONG = 0.66; // of a line's color in the strongest shade, so that marks stay readable on it

function evenMap(even, one, look, box) {
  const margin = { l: 54, r: one.rows.some(evenWord) ? 88 : 12, t: 8, b: 42 };
  const [columns, edges] = [one.x, one.rows.map((row) => row.at)].map(evenEdges);
  const [across, up] = [columns, edges].map((all) => [all[0], all[all.length - 1]]);
  const inner = { width: box.width - margin.l - margin.r, height: box.height - margin.t - margin.b };
  const words = evenBeside(one, edges, inner, look);
  const sides = [true, false].map((wins) => evenRegion(even, one, wins, look, inner, across, up)).filter(Boolean);
  return {
    traces: [evenHeat(even, one, look), ...evenBands(one, edges, look), ...evenLines(one, edges, look, inner.width < 400 ? 2.4 : 3.5), evenPairs(even, one, look, (pair) => pair.y)],
    layout: layout(look, box, {
      margin, annotations: [...words.annotations, ...sides], shapes: words.shapes,
      xaxis: evenAxis(look, even.x, across, inner.width + 56), yaxis: evenAxis(look, even.y, up, inner.height + 56),
    }),
  };
}

// Where one row ends and the next begins.
function evenEdges(at) {
  const inner = at.slice(1).map((y, i) => (y + at[i]) / 2);
  if (!inner.length) return [at[0] - 0.5, at[0] + 0.5];
  return [2 * at[0] - inner[0], ...inner, 2 * at[at.length - 1] - inner[inner.length - 1]];
}

function evenHeat(even, one, look) {
  const z = one.rows.map((row) => row.speedup.map(Math.log2));
  const text = one.rows.map((row) => row.speedup.map((_, i) => evenHover([`${one.places[i]}, ${row.text}`, ...evenTold(even, [row.speedup[i], row.low[i], row.high[i]]), row.said])));
  return { type: "heatmap", x: one.x, y: one.rows.map((row) => row.at), z, text, hoverinfo: "text", zsmooth: "best", zmin: -even.octaves, zmax: even.octaves, colorscale: evenColors(even, look), showscale: false };
}

// No color where both are even, and a step where one of them is not: place, whose color, how much of it.
function evenStops(even) {
  const share = Math.min(Math.log2(1 + even.even) / (2 * even.octaves), 0.45);
  return [[0, "loses", EVEN_STRONG], [0.5 - share, "loses", 0.14], [0.5 - share, "loses", 0], [0.5 + share, "wins", 0], [0.5 + share, "wins", 0.14], [1, "wins", EVEN_STRONG]];
}

function evenColors(even, look) {
  const [wins, loses] = look.lines;
  return evenStops(even).map(([at, side, strength]) => [at, mixed(look.paper, { wins, loses }[side], strength)]);
}

// Rows that follow each other and are alike, as [first, last].
function evenRuns(rows, like) {
  const runs = [];
  rows.forEach((row, i) => {
    const last = runs[runs.length - 1];
    if (like(row) === null) return;
    if (last && last[1] === i - 1 && like(rows[last[0]]) === like(row)) last[1] = i;
    else runs.push([i, i]);
  });
  return runs;
}

// Through the rows of a run, from its lower edge to its upper one.
function evenThrough(one, edges, [first, last], place) {
  const rows = one.rows.slice(first, last + 1);
  return [[place(rows[0]), edges[first]], ...rows.map((row) => [place(row), row.at]), [place(rows[rows.length - 1]), edges[last + 1]]];
}

function evenBands(one, edges, look) {
  return evenRuns(one.rows, (row) => (row.band ? "band" : null)).flatMap((run) => {
    const sides = [0, 1].map((end) => evenThrough(one, edges, run, (row) => row.band[end]));
    return evenOpen([...sides[0], ...[...sides[1]].reverse()], sides, look);
  });
}

function evenLines(one, edges, look, width) {
  return evenRuns(one.rows, (row) => (row.location === null ? null : row.kind)).map((run) => {
    const points = evenThrough(one, edges, run, (row) => row.location);
    return { type: "scatter", mode: "lines", name: "break-even", x: points.map(([x]) => x), y: points.map(([, y]) => y), line: { color: look.ink, width }, hoverinfo: "skip" };
  });
}

// One word for each run of rows that are no part of the line, and a rule along them.
function evenBeside(one, edges, inner, look) {
  const runs = evenRuns(one.rows, (row) => evenWord(row) || null);
  const word = ([first, last]) => ({ xref: "paper", x: 1, xanchor: "left", xshift: 8, y: (one.rows[first].at + one.rows[last].at) / 2, text: evenWord(one.rows[first]), showarrow: false, font: { size: 12, color: look.ink } });
  const aside = 1 + 5 / inner.width;
  const rule = ([first, last]) => ({ type: "line", xref: "paper", x0: aside, x1: aside, y0: edges[first], y1: edges[last + 1], line: { color: look.ink, width: 2 } });
  return { annotations: runs.map(word), shapes: runs.map(rule) };
}
