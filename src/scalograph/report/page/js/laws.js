// Underlays of curves, as drawn by report/underlays.py: laws, the ideal, published values. Each can be hidden.

// In the color and with the name of each curve; equal ones are drawn once.
/** @param {Family} family @param {Measure} measure @param {CurveData[]} curves @returns {Trace[]} */
function underTraces(family, measure, curves) {
  const drawn = curves.flatMap((curve) => {
    const name = JSON.stringify(family.line === null ? "" : `${hover([family.lineText(curve)])}<br>`).slice(1, -1);
    const own = (/** @type {Trace} */ trace) => JSON.stringify(trace).replaceAll("line-own", family.ink(curve)).replaceAll("{line}", () => name);
    return family.under(measure, curve).flatMap(({ traces }) => traces.map(own));
  });
  return [...new Set(drawn)].map((text) => JSON.parse(text));
}

// The area between two lines.
/** @param {[number, number, number][]} whole place, low, high @param {string} fillcolor @returns {Trace[]} */
function bandTrace(whole, fillcolor) {
  if (whole.length < 2) return [];
  const back = [...whole].reverse();
  const [x, y] = [[...whole, ...back].map(([at]) => at), [...whole.map(([, , high]) => high), ...back.map(([, low]) => low)]];
  return [{ type: "scatter", mode: "lines", x, y, line: { width: 0 }, hoverinfo: "skip", fill: "toself", fillcolor }];
}
