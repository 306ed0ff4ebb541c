// Where levels stand, which of their labels fit, and which range all panels of a figure share.

const CROWD = 24; // more levels than this get round numbers as ticks instead of themselves

function horizontal(family, look, width) {
  const { at, labels, scale } = family.axis;
  const low = Math.min(...at);
  const high = Math.max(...at);
  const pad = (high - low || 1) * 0.05;
  const range = [low - pad, high + pad];
  const ticks = at.length > CROWD && scale === "linear" ? { nticks: Math.max(3, Math.floor(width / 70)) } : fitting(at, labels, range, width);
  const title = family.title + (scale === "log" ? " (log scale)" : "");
  return quietAxis(look, { range, showgrid: false, ticks: "outside", ticklen: 4, tickcolor: look.muted, title: { text: plain(short(title, 60)), standoff: 8, font: { size: 12 } }, ...ticks });
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

// One range for all panels: what is compared by eye must be drawn alike.
function extent(family, measure, panels, samples) {
  let [low, high] = [Infinity, -Infinity];
  const take = (x) => {
    if (x === null || x === undefined || !Number.isFinite(x)) return;
    low = Math.min(low, x);
    high = Math.max(high, x);
  };
  for (const curve of panels.flatMap((panel) => family.visible(panel))) {
    for (const point of curve.points) {
      const value = point.values[measure.id];
      if (value) [value[0], value[1], value[2], value[4], value[5]].forEach(take);
      if (measure.id === "speedup") take(point.ideal);
      if (measure.id === "efficiency") take(1);
      if (measure.response !== undefined) for (const row of rowsOf(point)) take(scored(samples, measure, row));
    }
  }
  return low > high ? null : [low, high];
}

function rowsOf(point) {
  return point.rows.flatMap(([first, count]) => Array.from({ length: count }, (_, i) => first + i));
}

function scored(samples, measure, row) {
  const score = samples.scores[measure.response]?.[row];
  return score === null || score === undefined ? null : score * measure.scale;
}

function isLog(family, range) {
  if (!range || range[0] <= 0) return false;
  return family.vertical === "log" || (family.vertical === "auto" && range[1] / range[0] > 12);
}

function vertical(family, look, range) {
  if (!range) return quietAxis(look, { range: [0, 1] });
  if (isLog(family, range)) {
    const ends = [Math.log10(range[0] / 1.12), Math.log10(range[1] * 1.12)];
    return quietAxis(look, { type: "log", range: ends, dtick: ends[1] - ends[0] > 2.5 ? 1 : "D2", nticks: 6 });
  }
  const low = Math.min(0, range[0] * 1.05);
  return quietAxis(look, { range: [low, range[1] * 1.06 || 1], nticks: 6, rangemode: "tozero" });
}
