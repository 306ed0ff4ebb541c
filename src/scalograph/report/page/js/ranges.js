// The range that all panels of a measure share, so that they can be compared by eye.

const CROWD = 24; // more levels than this get round numbers as ticks instead of themselves
const SPARE = 0.5; // how far past the estimates intervals may widen a figure, as a share of its height without them
const WIDE = 3; // a scale by ratios from here on

// Estimates and runs are always inside; an interval much longer than their range is clipped.
/** @param {Family} family @param {Measure} measure @param {PanelOfCurves[]} panels @returns {Extent | null} */
function extent(family, measure, panels) {
  const nth = family.data.measures.indexOf(measure);
  const curves = panels.flatMap((panel) => family.visible(panel));
  const reaches = curves.flatMap((curve) => [curve.reach[nth] ?? [], ...family.under(measure, curve).map((one) => one.reach)]).filter((reach) => reach.length);
  if (!reaches.length) return null;
  const core = { low: Math.min(...reaches.map(([low]) => low)), high: Math.max(...reaches.map(([, high]) => high)) };
  const whole = { low: Math.min(...reaches.map(([, , low]) => low)), high: Math.max(...reaches.map(([, , , high]) => high)) };
  const onLog = core.low > 0 && (family.vertical === "log" || (family.vertical === "auto" && core.high / core.low > WIDE));
  return { onLog, ...cut(core, whole, onLog) };
}

// The range, and whether an interval is clipped. Linear scales start at zero.
/** @param {Span} core @param {Span} whole @param {boolean} onLog */
function cut(core, whole, onLog) {
  const [to, from] = onLog ? [(/** @type {number} */ x) => (x > 0 ? Math.log(x) : -Infinity), Math.exp] : [Number, Number];
  const [foot, top] = onLog ? [to(core.low), to(core.high)] : [Math.min(0, core.low), Math.max(0, core.high)];
  const spare = SPARE * (top - foot) || 1;
  const low = Math.max(to(whole.low), foot - spare);
  const high = Math.min(to(whole.high), top + spare);
  return { low: from(low), high: from(high), isCut: to(whole.low) < low || to(whole.high) > high };
}

/** @param {PointData} point */
const rowsOf = (point) => point.rows.flatMap(([first, count]) => Array.from({ length: count }, (_, i) => first + i));

/** @param {Samples} samples @param {Measure} measure @param {number} row */
function scored(samples, measure, row) {
  const score = samples.scores[measure.response ?? ""]?.[row];
  return score === null || score === undefined ? null : score * measure.scale;
}

// The axis of the levels.
/** @param {Family} family @param {Measure} measure @param {Box} box @returns {Axis} */
function horizontal(family, measure, box) {
  const { data } = family;
  const { at, labels, scale } = data.axis;
  const further = data.curves.flatMap((curve) => family.under(measure, curve).flatMap((one) => one.end ?? []));
  const [low, high] = [Math.min(...at), Math.max(...at, ...further)];
  const pad = (high - low || 1) * 0.05;
  const isCrowded = at.length > CROWD && scale === "linear";
  const ticks = isCrowded ? { nticks: Math.max(3, Math.floor(box.width / 70)), separatethousands: true } : { tickmode: "array", tickvals: at, ticktext: labels };
  const title = { text: data.title + (scale === "log" ? " (log scale)" : "") };
  return { title, range: [low - pad, high + pad], showgrid: false, ticks: "outside", ticklen: 4, tickcolor: "muted", ...ticks };
}

/** @param {Extent | null} range @returns {Axis} */
function vertical(range) {
  if (!range) return { range: [0, 1] };
  if (range.onLog) return { type: "log", ...decades(range.low / 1.12, range.high * 1.12) };
  const low = Math.min(0, range.low * 1.05);
  return { range: [low, Math.max(0, range.high * 1.06) || 1], nticks: 6, rangemode: "tozero", separatethousands: true };
}

// Ticks of a logarithmic axis in full, such as 50, 100, 200: as many per decade as fit.
/** @param {number} low @param {number} high */
function decades(low, high) {
  const range = [Math.log10(low), Math.log10(high)];
  const length = range[1] - range[0];
  const steps = length > 2.5 ? [1] : length > 1.2 ? [1, 3] : [1, 2, 5];
  if (length < 0.3) return { range, nticks: 6 }; // 1, 2 and 5 may all lie outside
  const every = Math.ceil(length / 6);
  const powers = Array.from({ length: Math.ceil(length) + 2 }, (_, i) => 10 ** (Math.floor(range[0]) + i)).filter((_, i) => i % every === 0);
  const tickvals = powers.flatMap((power) => steps.map((step) => Number((step * power).toPrecision(3))));
  const ticktext = tickvals.map((x) => (x >= 1e9 || x < 1e-4 ? String(x) : x.toLocaleString("en", { maximumFractionDigits: 6 })));
  return { range, tickmode: "array", tickvals, ticktext };
}
