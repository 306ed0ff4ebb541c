// How the CPU time of a treatment was spread over the CPUs: stacked to 100 %, or as a map where CPUs are many.

const FEW_CPUS = 8;

// A run that was held on one CPU has nothing to show; what ran elsewhere before it was placed is not a spread.
const isSpread = (point) => point.share.filter((share) => share > 0.01).length > 1;

function shareFigure(family) {
  const spread = family.curves.filter((curve) => curve.points.some(isSpread));
  if (!spread.length) return null;
  const state = { line: family.lineOf(spread[0]) };
  const grid = el("div", { class: "panels" });
  const most = Math.max(...spread.flatMap((curve) => curve.points.map((point) => point.share.length)));
  const explain = most > FEW_CPUS ? "Rows: CPUs; the stronger the color, the larger the share." : "Each bar: one level, its CPU time split over the CPUs from the first at the bottom; dotted lines: even shares.";
  const head = el("figcaption", {}, el("h3", {}, "CPU time by CPU"), el("p", { class: "key" }, explain));
  const build = () => {
    grid.replaceChildren();
    const draws = [];
    for (const panel of family.panels()) {
      const curve = panel.curves.find((c) => family.lineOf(c) === state.line && spread.includes(c));
      if (curve) draws.push(sharePanel(family, panel, curve, grid));
    }
    if (!draws.length) grid.append(el("p", { class: "note" }, "No run of this line could use more than one CPU."));
    grid.classList.toggle("single", draws.length === 1);
    return draws;
  };
  const levels = family.line === null ? [] : family.used(family.line).map((level) => [level, family.text(family.line, level)]);
  const pick = levels.length > 1 ? choice(family.factors[family.line].title, levels, state.line, (value) => {
    state.line = Number(value);
    build().forEach((draw) => draw());
  }) : null;
  return { node: el("figure", {}, head, pick && el("div", { class: "controls" }, pick), grid, shareTables(family, spread)), draws: build() };
}

// The same as text, built when it is asked for: a table for each curve.
function shareTables(family, curves) {
  const details = el("details", { class: "as-table" }, el("summary", {}, "These numbers as a table"));
  details.addEventListener("toggle", () => {
    if (details.childElementCount === 1) for (const curve of curves) details.append(shareTable(family, curve));
  });
  return details;
}

function shareTable(family, curve) {
  const points = curve.points.filter((point) => point.share.length);
  const cpus = Math.max(...points.map((point) => point.share.length));
  const heads = [family.title, ...Array.from({ length: cpus }, (_, cpu) => `CPU no. ${cpu + 1} (%)`)].map((text) => el("th", { scope: "col" }, text));
  const cells = (point) => Array.from({ length: cpus }, (_, cpu) => el("td", {}, percent(point, cpu)));
  const rows = points.map((point) => el("tr", {}, el("th", { scope: "row" }, family.axis.labels[point.level]), ...cells(point)));
  const fixed = family.groups.map((name) => family.titled(name, family.level(curve, name))).join(" \u00b7 ");
  const title = ["Share of CPU time on each CPU", fixed].filter(Boolean).join(", ");
  const table = el("table", {}, el("caption", {}, title), el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows));
  return el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": title }, table);
}

const percent = (point, cpu) => (100 * (point.share[cpu] ?? 0)).toFixed(1);

function sharePanel(family, panel, curve, grid) {
  const title = [family.lineText(curve), panel.title].filter(Boolean).join(" \u00b7 ");
  const place = el("div", { class: "plot", role: "img", "aria-label": `Share of CPU time on each CPU, ${title}` });
  grid.append(el("div", { class: "panel" }, title ? el("h4", {}, title) : null, place));
  const points = curve.points.filter((point) => point.share.length);
  const cpus = Math.max(...points.map((point) => point.share.length));
  return drawing(place, (look) => {
    const box = { width: place.clientWidth, height: place.clientHeight };
    const labels = points.map((point) => family.axis.labels[point.level]);
    const at = points.map((_, i) => i);
    const xaxis = quietAxis(look, { range: [-0.6, at.length - 0.4], showgrid: false, title: axisTitle(family.title, box.width), ...fitting(at, labels, [-0.6, at.length - 0.4], box.width) });
    const drawn = cpus > FEW_CPUS ? shareMap(points, at, cpus, look, labels) : shareBars(points, at, cpus, look, labels);
    return { traces: drawn.traces, layout: layout(look, box, { xaxis, ...drawn.over }) };
  });
}

function shareBars(points, at, cpus, look, labels) {
  const traces = Array.from({ length: cpus }, (_, cpu) => ({
    type: "bar",
    x: at,
    y: points.map((point) => 100 * (point.share[cpu] ?? 0)),
    marker: { color: faded(look.lines[0], 0.85 - (0.6 * cpu) / cpus), line: { color: look.paper, width: at.length > 40 ? 0 : 1 } },
    hoverinfo: "text",
    hovertext: points.map((point, i) => shareHover(labels[i], point, cpu, cpus)),
  }));
  const shapes = Array.from({ length: cpus - 1 }, (_, i) => evenLine((100 * (i + 1)) / cpus, look));
  return { traces, over: { barmode: "stack", bargap: at.length > 40 ? 0 : 0.25, shapes, yaxis: quietAxis(look, { range: [0, 100], ticksuffix: " %", nticks: 5 }) } };
}

const shareHover = (label, point, cpu, cpus) => plain(`${label}: ${percent(point, cpu)} % on CPU no. ${cpu + 1} of ${cpus}`);

function evenLine(y, look) {
  return { type: "line", xref: "paper", x0: 0, x1: 1, y0: y, y1: y, line: { color: look.ink, width: 1, dash: "dot" } };
}

function shareMap(points, at, cpus, look, labels) {
  const z = Array.from({ length: cpus }, (_, cpu) => points.map((point) => 100 * (point.share[cpu] ?? 0)));
  const trace = {
    type: "heatmap",
    x: at,
    z,
    zmin: 0,
    colorscale: [[0, look.paper], [1, look.lines[0]]],
    colorbar: { thickness: 8, outlinewidth: 0, ticksuffix: " %", tickfont: { color: look.muted, size: 11 } },
    hoverinfo: "text",
    hovertext: z.map((_, cpu) => points.map((point, i) => shareHover(labels[i], point, cpu, cpus))),
  };
  return { traces: [trace], over: { yaxis: quietAxis(look, { title: { text: "CPU", font: { size: 12 } }, showgrid: false }) } };
}
