// Measures over a factor: a line with intervals, a band for all levels at once, every run as a point.

const MANY_DOTS = 6000;

function curveTraces(family, measure, panel, look, samples, quota) {
  const shown = family.visible(panel);
  const ideal = isShown(family, measure, "ideal") || measure.id === "efficiency" ? idealTrace(family, measure, shown, look) : null;
  const laws = lawTraces(family, measure, shown, look);
  const parts = shown.map((curve) => lineParts(family, measure, curve, look, samples, quota));
  return [...(ideal ? [ideal] : []), ...laws, ...parts.map((p) => p.band), ...parts.map((p) => p.dots), ...parts.map((p) => p.line)].filter(Boolean);
}

function lineParts(family, measure, curve, look, samples, quota) {
  const style = family.style(family.lineOf(curve));
  const color = look.lines[style % COLORS];
  const points = curve.points.filter((point) => point.values[measure.id]);
  const x = points.map((point) => family.axis.at[point.level] + dodge(family, style));
  const values = points.map((point) => point.values[measure.id]);
  return {
    band: bandTrace(x, values, color),
    dots: measure.response === undefined ? null : dotTrace(family, measure, curve, points, x, color, samples, quota),
    line: lineTrace(family, measure, curve, points, x, values, style, color),
  };
}

// Lines step aside a little, so that intervals at the same level do not cover each other.
function dodge(family, style) {
  if (family.line === null) return 0;
  const at = [...family.axis.at].sort((a, b) => a - b);
  const gaps = at.slice(1).map((x, i) => x - at[i]).filter((gap) => gap > 0);
  const room = Math.min(...gaps, (at[at.length - 1] - at[0] || 0.5) / 10);
  const n = Math.min(family.used(family.line).length, COLORS);
  return (((style % COLORS) - (n - 1) / 2) * 0.5 * room) / Math.max(n, 4);
}

function lineTrace(family, measure, curve, points, x, values, style, color) {
  const above = values.map((v) => (v[2] === null ? 0 : v[2] - v[0]));
  const below = values.map((v) => (v[1] === null ? 0 : v[0] - v[1]));
  const many = points.length > 60;
  return {
    type: "scatter",
    mode: many ? "lines" : "lines+markers",
    x,
    y: values.map((v) => v[0]),
    line: { color, width: 1.7, dash: dashOf(style) },
    marker: { color, size: 6.5, symbol: symbolOf(style) },
    error_y: { type: "data", symmetric: false, array: above, arrayminus: below, color, thickness: 1.4, width: 0 },
    hoverinfo: "text",
    hovertext: points.map((point, i) => lineHover(family, measure, curve, point, values[i])),
  };
}

function lineHover(family, measure, curve, point, value) {
  const lines = [family.lineText(curve), `${family.title}: ${family.axis.labels[point.level]}`, `${value[3]} ${measure.unit}`];
  if (value[6]) lines.push(`for all levels at once ${value[6]}`);
  lines.push(...point.flags);
  return lines.filter(Boolean).map((text) => plain(short(text, 90))).join("<br>");
}

function bandTrace(x, values, color) {
  const whole = values.map((v, i) => [x[i], v[4], v[5]]).filter(([, low]) => low !== undefined);
  if (whole.length < 2) return null;
  const back = [...whole].reverse();
  return {
    type: "scatter",
    mode: "lines",
    x: [...whole.map((p) => p[0]), ...back.map((p) => p[0])],
    y: [...whole.map((p) => p[2]), ...back.map((p) => p[1])],
    fill: "toself",
    fillcolor: faded(color, 0.16),
    line: { width: 0, color },
    hoverinfo: "skip",
  };
}

function dotTrace(family, measure, curve, points, x, color, samples, quota) {
  const dots = points.flatMap((point, i) => spread(rowsOf(point), quota).map((row) => [x[i], row]));
  const disturbed = (row) => isDisturbed(samples.verdicts[samples.verdict[row]]);
  return {
    type: "scatter",
    mode: "markers",
    x: dots.map(([place]) => place),
    y: dots.map(([, row]) => scored(samples, measure, row)),
    marker: {
      color: faded(color, 0.5),
      size: 4,
      symbol: dots.map(([, row]) => (disturbed(row) ? "x-thin-open" : "circle")),
      line: { color, width: dots.map(([, row]) => (disturbed(row) ? 1.2 : 0)) },
    },
    hoverinfo: "text",
    hovertext: dots.map(([, row]) => dotHover(family, measure, curve, samples, row)),
  };
}

const isDisturbed = (verdict) => !["clean", ""].includes(verdict);
const crossed = (samples) => samples.verdicts.filter(isDisturbed);

function dotHover(family, measure, curve, samples, row) {
  const score = scored(samples, measure, row);
  const verdict = samples.verdicts[samples.verdict[row]];
  const texts = [family.lineText(curve), `run ${samples.run[row]}`, `${Number(score?.toPrecision(5))} ${measure.unit}`, verdict];
  return texts.filter(Boolean).map((text) => plain(short(text, 90))).join("<br>");
}

// At most `quota` of the rows, evenly spaced.
function spread(rows, quota) {
  if (rows.length <= quota) return rows;
  return Array.from({ length: quota }, (_, i) => rows[Math.floor((i * rows.length) / quota)]);
}

// The ideal differs between panels, never within one where CPUs are the panel's; each distinct one is drawn.
function idealTrace(family, measure, curves, look) {
  if (!["speedup", "efficiency"].includes(measure.id)) return null;
  const seen = new Map();
  for (const curve of curves) {
    const points = curve.points.filter((point) => point.ideal !== null);
    const y = points.map((point) => (measure.id === "speedup" ? point.ideal : 1));
    if (points.length > 1) seen.set(y.join(" "), [points.map((point) => family.axis.at[point.level]), y]);
  }
  const [x, y] = [0, 1].map((i) => [...seen.values()].flatMap((pair) => [...pair[i], null]));
  if (!x.length) return null;
  return { type: "scatter", mode: "lines", x, y, line: { color: look.muted, width: 1.2, dash: "3px,3px" }, hoverinfo: "skip", connectgaps: false };
}

function caption(family, measure, quota, most, marked, isCut) {
  const parts = [`Line: estimate; bars: its ${measure.confidence} interval`];
  if (measure.id === "speedup") parts.push("shaded: interval that holds for all levels at once");
  if (["speedup", "efficiency"].includes(measure.id)) parts.push("dashed gray: ideal");
  parts.push(...lawCaption(family, measure));
  if (family.cliffs.length) parts.push("shaded upright: levels between which the time jumps");
  if (measure.response !== undefined) {
    parts.push(most > quota ? `dots: ${quota} of up to ${most} runs a point` : "dots: every run");
    if (marked.length) parts.push(`crosses: runs that are ${marked.join(" or ")}`);
  }
  if (isCut) parts.push("intervals wider than the frame are cut off, hovering over a point tells their ends");
  return `${parts.join("; ")}.`;
}

// Upright bands, the whole frame high.
function cliffShapes(family, look) {
  const band = { type: "rect", yref: "paper", y0: 0, y1: 1, layer: "below", line: { width: 1, color: look.muted, dash: "2px,3px" } };
  return family.cliffs.map(({ low, high }) => ({ ...band, x0: low, x1: high, fillcolor: faded(look.lines[1], 0.18) }));
}

function measureFigure(family, measure, samples) {
  const panels = family.panelsOf(measure);
  const points = panels.flatMap((panel) => panel.curves.flatMap((curve) => curve.points));
  const counts = points.map((point) => point.rows.reduce((sum, [, count]) => sum + count, 0));
  const total = counts.reduce((a, b) => a + b, 0);
  const quota = total <= MANY_DOTS ? Infinity : Math.max(4, Math.floor(MANY_DOTS / points.length));
  const grid = el("div", { class: panels.length > 1 ? "panels" : "panels single" });
  const ranges = new Map(); // by the lines that are hidden or shown: every panel asks, one answer serves all
  const rangeOf = () => {
    const hidden = [...family.hidden, ...family.laws].sort().join(" ");
    if (!ranges.has(hidden)) ranges.set(hidden, extent(family, measure, panels, samples));
    return ranges.get(hidden);
  };
  const draws = panels.map((panel) => {
    const place = el("div", { class: "plot", role: "img", "aria-label": `${measure.title} over ${family.title}${panel.title ? `, ${panel.title}` : ""}: ${family.visible(panel).length} lines; numbers in the table below the figure` });
    grid.append(el("div", { class: "panel" }, panel.title ? el("h4", {}, panel.title) : null, place));
    return drawing(place, (look) => {
      const range = rangeOf();
      const box = { width: place.clientWidth, height: place.clientHeight };
      return {
        traces: curveTraces(family, measure, panel, look, samples, quota),
        layout: layout(look, box, { xaxis: horizontal(family, look, box.width, lawPlaces(family, measure)), yaxis: vertical(look, range), shapes: cliffShapes(family, look) }),
      };
    });
  });
  const unit = measure.unit ? el("span", { class: "unit" }, ` (${measure.unit})`) : null;
  const head = el("figcaption", {}, el("h3", {}, measure.title, unit), el("p", { class: "key" }, caption(family, measure, quota, Math.max(...counts), crossed(samples), rangeOf()?.isCut)), keyLines(family));
  const texts = [asTable(family, measure, panels), lawWords(family, measure, panels)].filter(Boolean);
  return { node: el("figure", {}, head, grid, ...texts), draws };
}

// The same numbers as text, built when they are asked for.
function asTable(family, measure, panels) {
  const details = el("details", { class: "as-table" }, el("summary", {}, "These numbers as a table"));
  details.addEventListener("toggle", () => {
    if (details.childElementCount === 1) for (const panel of panels) details.append(panelTable(family, measure, panel));
  });
  return details;
}

function panelTable(family, measure, panel) {
  const lines = panel.curves.map((curve) => el("th", { scope: "col" }, family.lineText(curve) || measure.title));
  const rows = family.axis.labels.map((label, level) => {
    const cells = panel.curves.map((curve) => {
      const point = curve.points.find((p) => p.level === level);
      return el("td", {}, point?.values[measure.id]?.[3] ?? "\u2013");
    });
    return el("tr", {}, el("th", { scope: "row" }, label), ...cells);
  });
  const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, family.title), ...lines));
  const title = [measure.title, measure.unit && `(${measure.unit})`, panel.title].filter(Boolean).join(" ");
  const table = el("table", {}, el("caption", {}, title), head, el("tbody", {}, ...rows));
  return el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": title }, table);
}
