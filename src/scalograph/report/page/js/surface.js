// Workers over CPUs, seen from above: a map of every treatment, and lines of equal time.

const FLAT = "As long as there is a CPU for each (outlined), one more should cost nothing; from the ridge on (diamonds, dashed), where they are as many as the CPUs, time should rise.";

function surfaceSection(all) {
  const node = el("div", { class: "family" });
  const state = { chosen: 0 };
  const build = () => {
    const one = all[state.chosen];
    const figures = [mapFigure(one), contourFigure(one), reliefFigure(one)];
    const options = all.map((other, i) => [i, other.title || `${i + 1}`]);
    const pick = all.length > 1 ? el("div", { class: "controls" }, choice("Surface", options, state.chosen, rebuild)) : null;
    const heading = `${one.measure} over ${one.x.title} and ${one.y.title}`;
    const note = one.title ? el("p", { class: "note" }, `All with ${one.title}.`) : null;
    const grid = el("div", { class: "measures few" }, ...figures.map((figure) => figure.node));
    node.replaceChildren(...[el("h3", { class: "quiet" }, heading), pick, note, el("p", { class: "key" }, FLAT), grid, surfaceTable(one)].filter(Boolean));
    return figures.map((figure) => figure.draw);
  };
  const rebuild = (value) => {
    state.chosen = Number(value);
    build().forEach((draw) => draw());
    node.querySelector("select")?.focus();
  };
  return { node, draws: build() };
}

function surfaceFigure(one, title, key, make) {
  const unit = one.unit ? el("span", { class: "unit" }, ` (${one.unit})`) : null;
  const label = `${title} of ${one.measure} over ${one.x.title} and ${one.y.title}; numbers in the table below the figure`;
  const place = el("div", { class: "plot", role: "img", "aria-label": label });
  const head = el("figcaption", {}, el("h3", {}, `${one.measure}: ${title}`, unit), el("p", { class: "key" }, key));
  const node = el("figure", { class: "surface" }, head, el("div", { class: "panels single" }, el("div", { class: "panel" }, place)));
  return { node, draw: drawing(place, (look) => make(look, { width: place.clientWidth, height: place.clientHeight })) };
}

// Colors run from the page's own to a part of the first line's, so that labels stay readable on them.
const shades = (look) => [[0, mixed(look.paper, look.lines[0], 0.06)], [1, mixed(look.paper, look.lines[0], 0.72)]];

function mixed(from, to, share) {
  const parts = [1, 3, 5].map((i) => [from, to].map((hex) => parseInt(hex.slice(i, i + 2), 16)));
  return `rgb(${parts.map(([a, b]) => Math.round(a + (b - a) * share)).join(",")})`;
}

// Levels stand side by side, one cell each, however far apart their numbers are.
function mapFigure(one) {
  return surfaceFigure(one, "map", "One cell for each treatment; hovering over it tells what was expected, how fair it was, and how busy each CPU.", (look, box) => {
    const [at, up] = [one.x.levels, one.y.levels].map((levels) => levels.map((_, i) => i));
    const trace = {
      type: "heatmap", x: at, y: up, z: one.z, colorscale: shades(look), xgap: 1, ygap: 1, hoverongaps: false, hoverinfo: "text",
      text: told(one), colorbar: bar(look),
    };
    return { traces: [trace, ridgeCells(one, look)], layout: layout(look, box, { margin: { l: 54, r: 10, t: 8, b: 42 }, shapes: flatCells(one, look), xaxis: counted(look, one.x, at, box.width), yaxis: counted(look, one.y, up, box.height) }) };
  });
}

const told = (one) => one.told.map((row) => row.map((lines) => lines.map((line) => plain(short(line, 90))).join("<br>")));
const bar = (look) => ({ thickness: 8, outlinewidth: 0, tickfont: { color: look.muted, size: 11 }, nticks: 6 });

function counted(look, axis, at, length) {
  const range = [at[0] - 0.5, at[at.length - 1] + 0.5];
  return quietAxis(look, { range, showgrid: false, title: axisTitle(axis.title, length), ...fitting(at, axis.levels.map(String), range, length) });
}

// The outline of all cells that have a CPU for each worker, as steps.
function flatCells(one, look) {
  const ends = one.y.levels.map((cpus) => one.x.levels.filter((workers) => workers <= cpus).length - 0.5);
  const steps = ends.map((end, row) => `L${end},${row - 0.5}L${end},${row + 0.5}`).join("");
  return [{ type: "path", path: `M-0.5,-0.5${steps}L-0.5,${ends.length - 0.5}Z`, line: { color: look.ink, width: 1.6 } }];
}

// A mark in each cell that has as many workers as CPUs.
function ridgeCells(one, look) {
  const cells = one.y.levels.map((cpus, row) => [one.x.levels.indexOf(cpus), row]).filter(([column]) => column >= 0);
  const marker = { symbol: "diamond", size: 7, color: look.ink };
  return { type: "scatter", mode: "markers", x: cells.map(([column]) => column), y: cells.map(([, row]) => row), marker, hoverinfo: "skip" };
}

// Here both axes are true to their numbers, so that the ridge is a straight line.
function contourFigure(one) {
  return surfaceFigure(one, "lines of equal time", "Along a line the time is the same; numbers of both axes to scale.", (look, box) => {
    const [x, y] = [one.x.levels, one.y.levels];
    const trace = {
      type: "contour", x, y, z: one.z, colorscale: shades(look), connectgaps: true, ncontours: 12, hoverinfo: "text", text: told(one), colorbar: bar(look),
      line: { color: look.muted, width: 1 }, contours: { coloring: "heatmap", showlabels: true, labelfont: { color: look.ink, size: 11, family: look.font } },
    };
    const top = Math.min(x[x.length - 1], y[y.length - 1]);
    const foot = Math.max(x[0], y[0]);
    const flat = { type: "path", path: `M${x[0]},${foot}L${top},${top}L${x[0]},${top}Z`, line: { color: look.ink, width: 1.6 } };
    const ridge = { type: "line", x0: foot, y0: foot, x1: top, y1: top, line: { color: look.ink, width: 2.4, dash: "4px,4px" } };
    return { traces: [trace], layout: layout(look, box, { margin: { l: 54, r: 10, t: 8, b: 42 }, shapes: [flat, ridge], xaxis: scaled(look, one.x, box.width), yaxis: scaled(look, one.y, box.height) }) };
  });
}

// A little longer than its levels, so that the first labels of two axes do not meet in the corner.
function scaled(look, axis, length) {
  const [first, last] = [axis.levels[0], axis.levels[axis.levels.length - 1]];
  const spare = 0.03 * (last - first || 1);
  const range = [first - spare, last + spare];
  return quietAxis(look, { range, showgrid: false, title: axisTitle(axis.title, length), ...fitting(axis.levels, axis.levels.map(String), range, length) });
}

// The same numbers as text, built when they are asked for.
function surfaceTable(one) {
  const title = `${one.measure}${one.unit ? ` (${one.unit})` : ""}`;
  const details = el("details", { class: "as-table" }, el("summary", {}, "These numbers as a table"));
  details.addEventListener("toggle", () => {
    if (details.childElementCount > 1) return;
    const heads = one.y.levels.map((cpus) => el("th", { scope: "col" }, `${one.y.title} ${cpus}`));
    const rows = one.x.levels.map((workers, column) => el("tr", {}, el("th", { scope: "row" }, String(workers)), ...one.shown.map((row) => el("td", {}, row[column] || "\u2013"))));
    const table = el("table", {}, el("caption", {}, title), el("thead", {}, el("tr", {}, el("th", { scope: "col" }, one.x.title), ...heads)), el("tbody", {}, ...rows));
    details.append(el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": title }, table));
  });
  return details;
}
