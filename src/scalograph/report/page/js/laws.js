// Scaling laws under the curves of speedup: the fitted one with its band, Amdahl's, the ideal. Each can be hidden.

const MANY_LAWS = 3; // more lines than this to a panel, and the fitted laws wait until they are asked for
const LAWS = {
  fitted: { text: "fitted law", dash: "none" },
  amdahl: { text: "Amdahl\u2019s law", dash: "6 2 1 2" },
  ideal: { text: "ideal", dash: "3 3" },
};

function hasLaw(family, name) {
  const has = { fitted: (c) => c.law, amdahl: (c) => c.law?.amdahl.length, ideal: (c) => c.points.filter((p) => p.ideal !== null).length > 1 }[name];
  return family.measures.some((measure) => measure.id === "speedup") && family.curves.some(has);
}

// What is shown at first.
function firstLaws(family) {
  const most = family.line === null ? 1 : family.used(family.line).length;
  return new Set(["ideal", ...(most <= MANY_LAWS ? ["fitted"] : [])]);
}

const isShown = (family, measure, name) => measure.id === "speedup" && family.laws.has(name);

function lawLegend(family, changed) {
  const names = Object.keys(LAWS).filter((name) => hasLaw(family, name));
  if (!names.length) return null;
  const list = el("ul", { class: "legend laws", "aria-label": "Lines under the speedup; press to hide or show" });
  for (const name of names) {
    const toggle = () => {
      if (!family.laws.delete(name)) family.laws.add(name);
      button.setAttribute("aria-pressed", String(family.laws.has(name)));
      changed();
    };
    const button = el("button", { type: "button", "aria-pressed": String(family.laws.has(name)), onclick: toggle }, lawSwatch(LAWS[name].dash), el("span", {}, LAWS[name].text));
    list.append(el("li", {}, button));
  }
  return el("div", { class: "lines" }, el("span", { class: "lines-title" }, "Under the speedup"), list);
}

function lawSwatch(dash) {
  const line = svg("line", { x1: 1, y1: 7, x2: 35, y2: 7, class: "law-line", "stroke-width": 1.4, "stroke-dasharray": dash });
  return svg("svg", { width: 36, height: 14, "aria-hidden": "true", class: "swatch" }, line);
}

function lawTraces(family, measure, curves, look) {
  const drawn = curves.filter((curve) => curve.law).map((curve) => [curve.law, look.lines[family.style(family.lineOf(curve)) % COLORS], family.lineText(curve)]);
  const fitted = isShown(family, measure, "fitted") ? drawn.flatMap((law) => fittedTraces(...law)) : [];
  const amdahl = isShown(family, measure, "amdahl") ? drawn.filter(([law]) => law.amdahl.length).map((law) => amdahlTrace(...law)) : [];
  return [...fitted, ...amdahl];
}

// Dotted, and over a fainter band, where nothing was measured.
function fittedTraces(law, color, name) {
  const parts = [[0, law.inside, 0.1, "solid"], [law.inside - 1, law.at.length, 0.05, "2px,3px"]];
  const lines = parts.filter(([from, to]) => to - from > 1).flatMap(([from, to, alpha, dash]) => [lawBand(law, from, to, faded(color, alpha)), lawLine(law, law.fitted, from, to, { color, width: 1.1, dash }, name)]);
  return [...lines, optimumTrace(law, color)].filter(Boolean);
}

function lawLine(law, values, from, to, line, name) {
  const ends = (i) => (law.low[i] === null ? "" : ` [${tidy(law.low[i])}, ${law.high[i] === null ? "not bounded" : tidy(law.high[i])}]`);
  const hover = (i) => [name, `fitted law at ${law.sizes[i]}`, `${tidy(values[i])}${ends(i)}`, law.words];
  const hovertext = law.at.map((_, i) => hover(i).filter(Boolean).map((text) => plain(short(text, 90))).join("<br>"));
  return { type: "scatter", mode: "lines", x: law.at.slice(from, to), y: values.slice(from, to), line, hoverinfo: "text", hovertext: hovertext.slice(from, to) };
}

function lawBand(law, from, to, fillcolor) {
  const whole = law.at.map((x, i) => [x, law.low[i], law.high[i]]).slice(from, to).filter(([, low, high]) => low !== null && high !== null);
  if (whole.length < 2) return null;
  const back = [...whole].reverse();
  return { type: "scatter", mode: "lines", x: [...whole, ...back].map(([x]) => x), y: [...whole.map(([, , high]) => high), ...back.map(([, low]) => low)], fill: "toself", fillcolor, line: { width: 0 }, hoverinfo: "skip" };
}

function amdahlTrace(law, color) {
  return { type: "scatter", mode: "lines", x: law.at, y: law.amdahl, line: { color, width: 1.1, dash: "6px,2px,1px,2px" }, hoverinfo: "skip" };
}

// A diamond where the law is largest, with its interval; words at the end of the line where that lies further out.
function optimumTrace(law, color) {
  const best = law.optimum;
  if (best) {
    const error = { type: "data", symmetric: false, array: [(best.high ?? best.at) - best.at], arrayminus: [best.at - (best.low ?? best.at)], color, thickness: 1.2, width: 4 };
    return { type: "scatter", mode: "markers", x: [best.at], y: [best.value], marker: { symbol: "diamond-open", size: 9, color }, error_x: error, hoverinfo: "text", hovertext: [plain(law.words)] };
  }
  if (!law.words) return null;
  const last = law.at.length - 1;
  return { type: "scatter", mode: "text", x: [law.at[last]], y: [law.fitted[last]], text: [plain(law.words)], textposition: "top left", textfont: { size: 11, color }, hoverinfo: "skip", cliponaxis: false };
}

// Sizes that lines reach past the levels: the axis has to hold them.
function lawPlaces(family, measure) {
  return isShown(family, measure, "fitted") || isShown(family, measure, "amdahl") ? family.curves.flatMap((curve) => curve.law?.at ?? []) : [];
}

function takeLaws(family, measure, curve, core, whole) {
  if (!curve.law) return;
  if (isShown(family, measure, "fitted")) curve.law.fitted.forEach((y) => core.take(y));
  if (isShown(family, measure, "fitted")) [...curve.law.low, ...curve.law.high].forEach((y) => whole.take(y));
  if (isShown(family, measure, "amdahl")) curve.law.amdahl.forEach((y) => core.take(y));
}

function lawCaption(family, measure) {
  if (measure.id !== "speedup" || !hasLaw(family, "fitted")) return [];
  return ["thin line and faint band: fitted scaling law, where shown, dotted past the largest size measured; diamond: where it is largest, N*, with its interval"];
}

// The same in words, for each curve.
function lawWords(family, measure, panels) {
  if (measure.id !== "speedup") return null;
  const told = panels.flatMap((panel) => panel.curves.filter((curve) => curve.law).map((curve) => [panel.title, family.lineText(curve), curve.law.words, curve.law.end].filter(Boolean).join("; ")));
  if (!told.length) return null;
  const list = el("ul", {}, ...told.map((text) => el("li", {}, text)));
  return el("details", { class: "as-table" }, el("summary", {}, "Fitted laws in words"), list);
}
