// Charts of measures over a factor: lines with intervals, simultaneous bands, and runs as points.

const MANY_DOTS = 6000; // more runs than this in a figure, and of each point some are shown

/** @param {Family} family @param {Measure} measure @param {PanelOfCurves} panel @param {number} quota @param {number[]} range of the upright axis */
function curveTraces(family, measure, panel, quota, range) {
  const shown = family.visible(panel);
  const parts = shown.map((curve) => lineParts(family, measure, curve, quota, range));
  const layers = /** @type {const} */ (["band", "dots", "line", "arrows"]).flatMap((layer) => parts.flatMap((part) => part[layer]));
  return [...underTraces(family, measure, shown), ...layers];
}

/** @param {Family} family @param {Measure} measure @param {CurveData} curve @param {number} quota @param {number[]} range */
function lineParts(family, measure, curve, quota, range) {
  const style = family.style(family.lineOf(curve));
  const ink = family.ink(curve);
  const points = curve.points.flatMap((point) => {
    const value = point.values[measure.id];
    return value ? [{ point, value, x: family.data.axis.at[point.level] + dodge(family, style) }] : [];
  });
  const band = points.flatMap(({ value, x }) => (value[4] === undefined ? [] : [/** @type {[number, number, number]} */ ([x, value[4], value[5]])]));
  return {
    band: family.data.axis.ordered ? bandTrace(band, `${ink}/0.16`) : [],
    dots: measure.response === undefined ? [] : dotTrace(family, measure, curve, points, ink, quota),
    line: lineTraces(family, measure, curve, points, style, ink),
    arrows: arrowTrace(points, measure, range, ink),
  };
}

// Lines are offset a little, so that intervals at the same level do not overlap.
/** @param {Family} family @param {number} style */
function dodge(family, style) {
  if (family.line === null) return 0;
  const at = [...family.data.axis.at].sort((a, b) => a - b);
  const gaps = at.slice(1).map((x, i) => x - at[i]).filter((gap) => gap > 0);
  const room = Math.min(...gaps, (at[at.length - 1] - at[0] || 0.5) / 10);
  const n = Math.min(family.lines().length, COLORS);
  return (((style % COLORS) - (n - 1) / 2) * 0.5 * room) / Math.max(n, 4);
}

// Joined points, then the inconclusive ones, hollow and unjoined.
/** @param {Family} family @param {Measure} measure @param {CurveData} curve @param {Drawn[]} points @param {number} style @param {string} ink */
function lineTraces(family, measure, curve, points, style, ink) {
  const isOpen = (/** @type {Drawn} */ { point }) => point.open?.includes(measure.id) ?? false;
  const open = points.filter(isOpen);
  const trace = (/** @type {Drawn[]} */ some) => lineTrace(family, measure, curve, some, style, ink);
  if (!open.length) return [trace(points)];
  const joined = trace(points);
  joined.y = points.map((one) => (isOpen(one) ? null : one.value[0]));
  const hollow = trace(open);
  return [joined, { ...hollow, mode: "markers", marker: { .../** @type {object} */ (hollow.marker), color: "paper", line: { color: ink, width: 1.4 } } }];
}

/** @param {Family} family @param {Measure} measure @param {CurveData} curve @param {Drawn[]} points @param {number} style @param {string} ink @returns {Trace} */
function lineTrace(family, measure, curve, points, style, ink) {
  const above = points.map(({ value }) => (value[2] === null ? 0 : value[2] - value[0]));
  const below = points.map(({ value }) => (value[1] === null ? 0 : value[0] - value[1]));
  return {
    type: "scatter",
    mode: family.data.axis.mode,
    x: points.map(({ x }) => x),
    y: points.map(({ value }) => value[0]),
    line: { color: ink, width: 1.7, dash: shifted(DASHES, style) },
    marker: { color: ink, size: 6.5, symbol: shifted(SYMBOLS, style) },
    error_y: { type: "data", symmetric: false, array: above, arrayminus: below, color: ink, thickness: 1.4, width: 0 },
    hoverinfo: "text",
    hovertext: points.map(({ point, value }) => {
      const place = `${family.data.title}: ${family.data.axis.labels[point.level]}`;
      return hover([family.lineText(curve), place, `${value[3]} ${measure.unit}`, value[6] && `for all levels at once ${value[6]}`, point.open?.includes(measure.id) && "inconclusive", ...point.flags]);
    }),
  };
}

// Counted: a dot; disturbed or excluded: an x. No run is hollow: that is an inconclusive point.
/** @param {Family} family @param {Measure} measure @param {CurveData} curve @param {Drawn[]} points @param {string} ink @param {number} quota @returns {Trace[]} */
function dotTrace(family, measure, curve, points, ink, quota) {
  const { samples } = family;
  const leftOut = new Set(samples.left_out[measure.response ?? ""]);
  const verdict = (/** @type {number} */ row) => samples.verdicts[samples.verdict[row]];
  const symbol = (/** @type {number} */ row) => (leftOut.has(row) || verdict(row) === "disturbed" ? "x-thin-open" : "circle");
  const dots = points.flatMap(({ point, x }) => spread(rowsOf(point), quota).map((row) => ({ x, row, y: scored(samples, measure, row) })));
  const told = dots.map(({ row, y }) => hover([family.lineText(curve), `run ${samples.run[row]}`, `${Number(y?.toPrecision(5))} ${measure.unit}`, verdict(row), leftOut.has(row) ? "excluded" : "counted"]));
  return [{
    type: "scatter",
    mode: "markers",
    x: dots.map(({ x }) => x),
    y: dots.map(({ y }) => y),
    marker: { color: `${ink}~0.87`, size: 6, symbol: dots.map(({ row }) => symbol(row)), line: { color: `${ink}~0.87`, width: dots.map(({ row }) => (symbol(row) === "circle" ? 0 : 1.3)) } },
    hoverinfo: "text",
    hovertext: told,
  }];
}

// Arrows where an interval goes on beyond the frame; as `_arrows` of report/first_chart.py.
/** @param {Drawn[]} points @param {Measure} measure @param {number[]} range @param {string} ink @returns {Trace[]} */
function arrowTrace(points, measure, [foot, top], ink) {
  const ends = points.flatMap(({ value, x }) => [
    ...(value[2] !== null && value[2] > top ? [{ x, y: top, symbol: "arrow-up", value }] : []),
    ...(value[1] !== null && value[1] < foot ? [{ x, y: foot, symbol: "arrow-down", value }] : []),
  ]);
  const marker = { color: ink, size: 7, symbol: ends.map(({ symbol }) => symbol) };
  const hovertext = ends.map(({ value }) => hover([`interval beyond the chart: ${value[3]} ${measure.unit}`]));
  const [x, y] = [ends.map((end) => end.x), ends.map((end) => end.y)];
  return ends.length ? [{ type: "scatter", mode: "markers", x, y, cliponaxis: false, marker, hoverinfo: "text", hovertext }] : [];
}

// Choose at most `quota` rows, evenly spaced.
/** @param {number[]} rows @param {number} quota */
function spread(rows, quota) {
  if (rows.length <= quota) return rows;
  return Array.from({ length: quota }, (_, i) => rows[Math.floor((i * rows.length) / quota)]);
}

/** @param {Family} family @param {Measure} measure @param {HTMLElement} node */
function measureNodes(family, measure, node) {
  const panels = family.panelsOf(measure);
  const points = panels.flatMap((panel) => panel.curves.flatMap((curve) => curve.points));
  const counts = points.map((point) => point.rows.reduce((sum, [, count]) => sum + count, 0));
  const quota = counts.reduce((a, b) => a + b, 0) <= MANY_DOTS ? Infinity : Math.max(4, Math.floor(MANY_DOTS / points.length));
  const range = () => extent(family, measure, panels);
  const drawn = panels.map((panel) => {
    const label = `${measure.title} over ${family.data.title}${panel.title && `, ${panel.title}`}: ${family.visible(panel).length} lines; numbers in the table below the chart`;
    const make = (/** @type {Box} */ box) => {
      const found = range();
      const said = family.visible(panel).flatMap((curve) => family.under(measure, curve).flatMap((one) => one.said ?? []));
      const dotted = [...new Set(said)].filter(Boolean).join("; ");
      const annotations = [...(found?.onLog ? [aside("log scale", 0)] : []), ...(dotted ? [aside(dotted, 1)] : [])];
      const yaxis = vertical(found);
      const ends = (yaxis.range ?? [-Infinity, Infinity]).map((end) => (found?.onLog ? 10 ** end : end));
      const letters = Math.max(...(yaxis.ticktext ?? [String(Math.round(yaxis.range?.[1] ?? 0))]).map((text) => text.length));
      const layout = { margin: { ...MARGIN, t: 18, l: Math.max(MARGIN.l, 8 * letters + 8) }, xaxis: horizontal(family, measure, box), yaxis, shapes: [...family.data.shapes, ...measure.shapes], annotations };
      return { data: curveTraces(family, measure, panel, quota, ends), layout };
    };
    const place = plot(label, make);
    return { panel, place, node: el("div", { class: "panel" }, panel.title && el("h4", {}, panel.title), place) };
  });
  crosshair(family, measure, drawn);
  const most = Math.max(...counts);
  const fewer = measure.response !== undefined && most > quota && ` ${quota} of up to ${most} runs a point.`;
  const key = el("p", { class: "key" }, measure.key, fewer, range()?.isCut && " Arrow: the interval goes on beyond the chart.");
  const head = el("figcaption", {}, headed(measure.title, measure.unit), key, keyLines(family));
  const numbers = onDemand("These numbers as a table", () => panels.map((panel) => textTable(panelTable(family, measure, panel))));
  return [head, el("div", { class: panels.length > 1 ? "panels" : "panels single" }, ...drawn.map((one) => one.node)), figureTools(node, measure.title), numbers];
}

// A label above a corner of the frame.
/** @param {string} text @param {0 | 1} x */
const aside = (text, x) => ({ xref: "paper", yref: "paper", x, y: 1, xanchor: x ? "right" : "left", yanchor: "bottom", text, showarrow: false, font: { size: 11, color: "muted" } });

/** @param {Family} family @param {Measure} measure @param {PanelOfCurves} panel @returns {TextTable} */
function panelTable(family, measure, panel) {
  const head = [family.data.title, ...panel.curves.map((curve) => family.lineText(curve) || measure.title)];
  const value = (/** @type {CurveData} */ curve, /** @type {number} */ level) => curve.points.find((point) => point.level === level)?.values[measure.id]?.[3];
  const rows = family.data.axis.labels.map((label, level) => [label, ...panel.curves.map((curve) => value(curve, level) ?? "\u2013")]);
  return { title: [measure.title, measure.unit && `(${measure.unit})`, panel.title].filter(Boolean).join(" "), head, rows };
}

/** @param {FamilyData} data @param {Data} all */
function familySection(data, all) {
  const family = new Family(data, all.factors, all.samples);
  const node = el("div", { class: "family", id: `figure-${data.id}` });
  const share = data.share && laterFigure(data.share, `${data.id}-shares`);
  const changed = () => {
    keepLink(node.id);
    redraw(node);
  };
  const build = () => {
    const kind = family.panels().length === 1 ? "measures few" : "measures";
    const figures = (/** @type {boolean} */ folded) => data.measures.filter((measure) => measure.folded === folded).map((measure) => {
      const figure = el("figure", { class: "later", id: measureId(measure) }, headed(measure.title, measure.unit));
      return later(figure, () => measureNodes(family, measure, figure));
    });
    const rest = figures(true);
    const folded = rest.length ? [el("details", { class: "secondary" }, el("summary", {}, `Secondary measures (${rest.length})`), el("div", { class: kind }, ...rest))] : [];
    const head = el("div", { class: "family-head" }, controls(family, rebuild), legend(family, changed), el("div", { class: "lines" }, underLegend(family, changed), runMarks()));
    new ResizeObserver(() => node.style.setProperty("--head", `${head.offsetHeight}px`)).observe(head); // of jumps, which stop below it
    const measures = el("div", { class: kind }, ...figures(false), share);
    const fixed = data.fixed ? [el("p", { class: "note" }, `All with ${data.fixed}.`)] : [];
    node.replaceChildren(el("h3", { class: "quiet" }, `Along ${data.title}`), head, ...fixed, measures, ...folded);
  };
  const rebuild = () => {
    const focus = [...node.querySelectorAll("select")].findIndex((select) => select === document.activeElement);
    keepLink(node.id);
    build();
    node.querySelectorAll("select")[focus]?.focus();
  };
  const measureId = (/** @type {Measure} */ measure) => `figure-${data.id}-${measure.id.replace(/\W+/g, "-")}`;
  for (const id of [node.id, ...data.measures.map(measureId)]) {
    linkable(id, () => family.state(), (asked) => {
      family.restore(asked);
      build();
    });
  }
  build();
  return node;
}
