// Break-even: which of two versions is faster where, and the line at which they are even.

const EVEN_SURE = "95 %";

function evenSection(even) {
  const grid = el("div", { class: even.maps.length > 1 ? "panels" : "panels single" });
  const make = even.y ? evenMap : evenCurve;
  const draws = even.maps.map((one) => evenPanel(even, one, make, grid));
  const heading = el("h3", {}, `Where ${even.other} is faster than ${even.baseline}`);
  const head = el("figcaption", {}, heading, el("p", { class: "key" }, evenCaption(even)), evenKey(even));
  return { node: el("figure", { class: "even" }, head, grid), draws };
}

function evenPanel(even, one, make, grid) {
  const rows = one.rows.map((row) => (row.text ? `${row.text}: ${row.said}` : row.said));
  const label = [evenOver(even), one.title, ...rows.slice(0, FEW_ROWS), "numbers in the tables below"].filter(Boolean).join("; ");
  const place = el("div", { class: "plot", role: "img", "aria-label": label });
  grid.append(el("div", { class: "panel" }, one.title ? el("h4", {}, one.title) : null, place));
  return drawing(place, (look) => make(even, one, look, { width: place.clientWidth, height: place.clientHeight }));
}

const evenOver = (even) => `speedup of ${even.other} over ${even.baseline} by ${[even.x, even.y].filter(Boolean).map((axis) => axis.title).join(" and ")}`;

function evenCaption(even) {
  const over = `S${evenOver(even).slice(1)}`;
  const alike = `${tidy(100 * even.even)} % more or less counts as even`;
  if (!even.y) return `${over}: above 1 ${even.other} is faster, below 1 ${even.baseline} is; ${alike}. The band around the curve is its ${EVEN_SURE} interval; the dotted one holds the place where the curve crosses 1.`;
  const rows = even.maps.flatMap((one) => one.rows);
  const line = rows.some((row) => row.location !== null) ? ` Both are even along the bold line; the dotted band holds it with ${EVEN_SURE}. Between rows, both are only drawn through.` : "";
  const words = Object.entries(EVEN_WORDS).filter(([kind]) => rows.some((row) => row.kind === kind)).map(([, [word, meaning]]) => `\u201c${word}\u201d, where ${meaning(even)}`);
  const beside = words.length ? ` Rows without a line: ${words.join("; ")}.` : "";
  return `${over}: the stronger a color, the further they are apart; ${alike} and has none.${line}${beside}`;
}

// What stands beside rows that the line does not cross.
const EVEN_WORDS = {
  always: ["always", (even) => `${even.other} is always faster, or even`],
  never: ["never", (even) => `${even.other} is never faster by more than that`],
  several: ["several", (even) => `${even.other} is faster in several regions`],
  unmeasured: ["not measured", () => "no pair there has two times"],
  undecided: ["not decided", () => "more pairs would be needed"],
};
const evenWord = (row) => EVEN_WORDS[row.kind]?.[0] ?? "";

// The speedup with its ends, and what they say.
function evenTold(even, values) {
  const [speedup, low, high] = values;
  const least = 1 + even.even;
  const kind = low > 1 ? `${even.other} is faster` : high < 1 ? `${even.baseline} is faster` : low > 1 / least && high < least ? "even" : "not known which is faster";
  return [`speedup ${tidy(speedup)} [${tidy(low)}, ${tidy(high)}]`, kind];
}

const evenHover = (lines) => lines.filter(Boolean).map((line) => plain(short(line, 90))).join("<br>");

// Disks: full where the other version was faster, larger where there are several pairs.
function evenPairs(even, one, look, up) {
  const faster = one.pairs.map((pair) => pair.speedup > 1);
  const marker = {
    size: one.pairs.map((pair) => Math.min(8 + 2.5 * Math.sqrt(pair.n - 1), 16)),
    color: faster.map((yes) => (yes ? look.ink : look.paper)), opacity: 1, line: { color: look.ink, width: 1.6 },
  };
  const hovertext = one.pairs.map((pair) => evenHover([pair.text, `${pair.n} ${pair.n === 1 ? "pair" : "pairs"}: speedup ${tidy(pair.speedup)}`]));
  return { type: "scatter", mode: "markers", x: one.pairs.map((pair) => pair.x), y: one.pairs.map(up), marker, hoverinfo: "text", hovertext, cliponaxis: false };
}

// An area of which nobody knows the side: dots between dashed edges.
function evenOpen(points, edges, look) {
  const fillpattern = { shape: ".", fgcolor: look.ink, fgopacity: 0.7, bgcolor: "rgba(0,0,0,0)", size: 6, solidity: 0.13, fillmode: "replace" };
  const area = { type: "scatter", mode: "lines", x: points.map(([x]) => x), y: points.map(([, y]) => y), fill: "toself", fillpattern, line: { width: 0 }, hoverinfo: "skip" };
  const edge = (line) => ({ type: "scatter", mode: "lines", x: line.map(([x]) => x), y: line.map(([, y]) => y), line: { color: look.ink, width: 1, dash: "5px,3px" }, hoverinfo: "skip" });
  return [area, ...edges.map(edge)];
}

function evenAxis(look, axis, range, length) {
  const title = axis.title + (axis.is_log ? " (log scale)" : "");
  return quietAxis(look, { range, showgrid: false, ticks: "outside", ticklen: 4, tickcolor: look.muted, title: axisTitle(title, length), ...fitting(axis.at, axis.labels, range, length) });
}
