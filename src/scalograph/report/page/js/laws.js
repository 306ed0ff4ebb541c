// Under the curves: of speedup the fitted law with its band, Amdahl's, the ideal; published figures. Each can be hidden.

/** @param {Family} family @param {Measure} measure @param {CurveData[]} curves */
function lawTraces(family, measure, curves) {
  return curves.flatMap((curve) => {
    const ink = `line-${family.style(family.lineOf(curve)) % COLORS}`;
    const { law } = curve;
    if (!law) return [];
    const amdahl = family.shows(measure, "amdahl") && law.amdahl.length ? [quietLine(law.at, law.amdahl, { color: ink, width: 1.1, dash: "6px,2px,1px,2px" })] : [];
    return [...(family.shows(measure, "fitted") ? fittedTraces(law, ink, family.lineText(curve)) : []), ...amdahl];
  });
}

// A line of which nothing is told.
/** @param {Numbers} x @param {Numbers} y @param {object} line @param {object} more @returns {Trace} */
const quietLine = (x, y, line, more = {}) => ({ type: "scatter", mode: "lines", x, y, line, hoverinfo: "skip", ...more });

// What lies between two lines.
/** @param {[number, number, number][]} whole place, low, high @param {string} fillcolor @returns {Trace[]} */
function bandTrace(whole, fillcolor) {
  if (whole.length < 2) return [];
  const back = [...whole].reverse();
  const [x, y] = [[...whole, ...back].map(([at]) => at), [...whole.map(([, , high]) => high), ...back.map(([, low]) => low)]];
  return [quietLine(x, y, { width: 0 }, { fill: "toself", fillcolor })];
}

// Dotted, and over a fainter band, where nothing was measured.
/** @param {LawData} law @param {string} ink @param {string} name */
function fittedTraces(law, ink, name) {
  const ends = (/** @type {number} */ i) => (law.low[i] === null ? "" : ` [${tidy(law.low[i])}, ${law.high[i] === null ? "not bounded" : tidy(law.high[i])}]`);
  const hovertext = law.at.map((_, i) => hover([name, `fitted law at ${law.sizes[i]}`, `${tidy(law.fitted[i])}${ends(i)}`, law.words]));
  /** @param {number} from @param {number} to @param {number} share @param {string} dash */
  const part = (from, to, share, dash) => {
    if (to - from < 2) return [];
    const band = law.at.map((x, i) => [x, law.low[i], law.high[i]]).slice(from, to).filter(([, low, high]) => low !== null && high !== null);
    const line = quietLine(law.at.slice(from, to), law.fitted.slice(from, to), { color: ink, width: 1.1, dash }, { hoverinfo: "text", hovertext: hovertext.slice(from, to) });
    return [...bandTrace(/** @type {[number, number, number][]} */ (band), `${ink}/${share}`), line];
  };
  return [...part(0, law.inside, 0.1, "solid"), ...part(law.inside - 1, law.at.length, 0.05, "2px,3px"), ...optimumTrace(law, ink)];
}

// A diamond where the law is largest, with its interval; words at the end of the line where that lies further out.
/** @param {LawData} law @param {string} ink @returns {Trace[]} */
function optimumTrace(law, ink) {
  const best = law.optimum;
  if (best) {
    const error_x = { type: "data", symmetric: false, array: [(best.high ?? best.at) - best.at], arrayminus: [best.at - (best.low ?? best.at)], color: ink, thickness: 1.2, width: 4 };
    return [{ type: "scatter", mode: "markers", x: [best.at], y: [best.value], marker: { symbol: "diamond-open", size: 9, color: ink }, error_x, hoverinfo: "text", hovertext: [hover([law.words])] }];
  }
  const last = law.at.length - 1;
  const words = { mode: "text", text: [hover([law.words])], textposition: "top left", textfont: { size: 11, color: ink }, cliponaxis: false };
  return law.words ? [quietLine([law.at[last]], [law.fitted[last]], {}, words)] : [];
}

// Dotted with hollow marks, in the color of the curve that was measured at the same levels.
/** @param {Family} family @param {Measure} measure @param {CurveData[]} curves */
function publishedTraces(family, measure, curves) {
  const { axis, papers, title } = family.data;
  return curves.flatMap((curve) => family.printed(measure, curve).map(([paper, pairs]) => {
    const ink = `line-${family.style(family.lineOf(curve)) % COLORS}`;
    const points = [...pairs].sort(([a], [b]) => axis.at[a] - axis.at[b]);
    const told = points.map(([level, value]) => hover([paperText(papers[paper].name), family.lineText(curve), `${title}: ${axis.labels[level]}`, `${value} ${measure.unit}`]));
    const marks = { mode: lineMode(family, points.length), marker: { color: "paper", size: 6.5, symbol: shifted(SYMBOLS, paper), line: { color: ink, width: 1.3 } }, hoverinfo: "text", hovertext: told };
    return quietLine(points.map(([level]) => axis.at[level]), points.map(([, value]) => value), { color: ink, width: 1.3, dash: "1px,3px" }, marks);
  }));
}

/** @param {string} name */
const paperText = (name) => ["published", name].filter(Boolean).join(": ");

// The ideal differs between panels, never within one where CPUs are the panel's; each distinct one is drawn.
/** @param {Family} family @param {Measure} measure @param {CurveData[]} curves */
function idealTraces(family, measure, curves) {
  if (!family.shows(measure, "ideal") && measure.id !== "efficiency") return [];
  /** @type {Map<string, Trace>} */
  const seen = new Map();
  for (const curve of curves) {
    const points = curve.points.filter((point) => point.ideal !== null);
    const y = points.map((point) => (measure.id === "speedup" ? point.ideal : 1));
    const x = points.map((point) => family.data.axis.at[point.level]);
    if (points.length > 1) seen.set(y.join(" "), quietLine(x, y, { color: "muted", width: 1.2, dash: "3px,3px" }));
  }
  return [...seen.values()];
}

/** @param {number | null} x */
const tidy = (x) => String(Number((x ?? NaN).toPrecision(3)));
