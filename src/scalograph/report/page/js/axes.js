// Where levels stand, which of their labels fit, and which range all panels of a figure share.

const CROWD = 24; // more levels than this get round numbers as ticks instead of themselves

// `further`: places past the levels that have to be seen too.
function horizontal(family, look, width, further = []) {
  const { at, labels, scale } = family.axis;
  const low = Math.min(...at);
  const high = Math.max(...at, ...further);
  const pad = (high - low || 1) * 0.05;
  const range = [low - pad, high + pad];
  const ticks = at.length > CROWD && scale === "linear" ? { nticks: Math.max(3, Math.floor(width / 70)) } : fitting(at, labels, range, width);
  const title = family.title + (scale === "log" ? " (log scale)" : "");
  return quietAxis(look, { range, showgrid: false, ticks: "outside", ticklen: 4, tickcolor: look.muted, title: axisTitle(title, width), ...ticks });
}

// As much of a long name as the axis has room for; the figure's heading and the tables have it whole.
function axisTitle(text, width) {
  return { text: plain(short(text, Math.min(60, Math.floor((width - 56) / 6.4)))), standoff: 8, font: { size: 12 } };
}

const short = (text, letters) => (text.length > letters ? `${text.slice(0, letters - 1)}\u2026` : text);

// First and last level keep their label, the others where there is room.
function fitting(at, labels, range, width) {
  const places = at.map((x) => ((x - range[0]) / (range[1] - range[0])) * (width - 56));
  const texts = labels.map((text) => short(text, 14));
  const room = (i, j) => Math.abs(places[i] - places[j]) >= 3.7 * (texts[i].length + texts[j].length) + 8;
  const order = at.map((_, i) => i).sort((a, b) => at[a] - at[b]);
  const last = order[order.length - 1];
  const kept = [];
  for (const i of order) {
    if (i === last) kept.push(i);
    else if ((!kept.length || room(i, kept[kept.length - 1])) && (room(i, last) || !kept.length)) kept.push(i);
  }
  return { tickmode: "array", tickvals: at, ticktext: at.map((_, i) => (kept.includes(i) ? plain(texts[i]) : "")) };
}

// One range for all panels: what is compared by eye must be drawn alike. Estimates and runs are always inside; an
// interval that would squeeze them into a corner leaves the frame, and the caption says so.
function extent(family, measure, panels, samples) {
  const core = new Reach();
  const whole = new Reach();
  const curves = panels.flatMap((panel) => family.visible(panel));
  for (const curve of curves) takeLaws(family, measure, curve, core, whole);
  for (const point of curves.flatMap((curve) => curve.points)) {
    const value = point.values[measure.id];
    if (value) core.take(value[0]);
    if (value) [value[1], value[2], value[4], value[5]].forEach((x) => whole.take(x));
    if (isShown(family, measure, "ideal")) core.take(point.ideal);
    if (measure.id === "efficiency") core.take(1);
    if (measure.response !== undefined) for (const row of rowsOf(point)) core.take(scored(samples, measure, row));
  }
  if (core.isEmpty()) return null;
  whole.take(core.low);
  whole.take(core.high);
  const onLog = isLog(family, core);
  return { onLog, ...cut(core, whole, onLog) };
}

class Reach {
  low = Infinity;
  high = -Infinity;

  take(x) {
    if (x === null || x === undefined || !Number.isFinite(x)) return;
    this.low = Math.min(this.low, x);
    this.high = Math.max(this.high, x);
  }

  isEmpty() {
    return this.low > this.high;
  }
}

const SPARE = 0.5; // how far past the estimates intervals may widen a figure, as a share of its height without them

// The range, and whether an interval leaves it. Where the scale is not logarithmic, figures stand on zero.
function cut(core, whole, onLog) {
  const [to, from] = onLog ? [(x) => (x > 0 ? Math.log(x) : -Infinity), Math.exp] : [Number, Number];
  const [foot, top] = onLog ? [to(core.low), to(core.high)] : [Math.min(0, core.low), Math.max(0, core.high)];
  const spare = SPARE * (top - foot) || 1;
  const low = Math.max(to(whole.low), foot - spare);
  const high = Math.min(to(whole.high), top + spare);
  return { low: from(low), high: from(high), isCut: to(whole.low) < low || to(whole.high) > high };
}

function rowsOf(point) {
  return point.rows.flatMap(([first, count]) => Array.from({ length: count }, (_, i) => first + i));
}

function scored(samples, measure, row) {
  const score = samples.scores[measure.response]?.[row];
  return score === null || score === undefined ? null : score * measure.scale;
}

function isLog(family, range) {
  if (range.low <= 0) return false;
  return family.vertical === "log" || (family.vertical === "auto" && range.high / range.low > 12);
}

function vertical(look, range) {
  if (!range) return quietAxis(look, { range: [0, 1] });
  if (range.onLog) return quietAxis(look, { type: "log", ...decades(range.low / 1.12, range.high * 1.12) });
  const low = Math.min(0, range.low * 1.05);
  return quietAxis(look, { range: [low, Math.max(0, range.high * 1.06) || 1], nticks: 6, rangemode: "tozero", separatethousands: true });
}

// Ticks of a logarithmic axis in full: 50, 100, 200, as many to a decade as its length leaves room for.
function decades(low, high) {
  const range = [Math.log10(low), Math.log10(high)];
  const length = range[1] - range[0];
  const steps = length > 2.5 ? [1] : length > 1.2 ? [1, 3] : [1, 2, 5];
  if (length < 0.3) return { range, nticks: 6 }; // 1, 2 and 5 may all lie outside
  const powers = Array.from({ length: Math.ceil(length) + 2 }, (_, i) => 10 ** (Math.floor(range[0]) + i));
  const every = Math.ceil(length / 6);
  const tickvals = powers.filter((_, i) => i % every === 0).flatMap((power) => steps.map((step) => Number((step * power).toPrecision(3))));
  const ticktext = tickvals.map((x) => (x >= 1e6 || x < 1e-4 ? String(x) : x.toLocaleString("en", { maximumFractionDigits: 6 })));
  return { range, tickmode: "array", tickvals, ticktext };
}
