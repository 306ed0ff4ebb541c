// One shot of a program that divides its work: which worker did which subtask when.

function traceSection(traces) {
  const grid = el("div", { class: traces.length > 1 ? "panels pair" : "panels single" });
  const ends = traces.map((one) => one.end);
  const shared = Math.max(...ends) <= 8 * Math.min(...ends) ? Math.max(...ends) : null;
  const draws = traces.map((one) => tracePanel(one, shared ?? one.end, grid));
  const key = "Of each treatment, one shot in the run nearest the median. Each bar is a subtask, in two shades by turns, on the row of the worker that did it; in a gap the worker did none.";
  const head = el("figcaption", {}, el("h3", {}, "Which worker did which subtask"), el("p", { class: "key" }, key));
  return { node: el("figure", { class: "trace" }, head, grid), draws };
}

function tracePanel(one, reach, grid) {
  const place = el("div", { class: "plot", role: "img", "aria-label": `Subtasks by worker over time, ${one.title}. ${one.words}` });
  grid.append(el("div", { class: "panel" }, el("h4", {}, one.title), place, el("p", { class: "note" }, one.words), traceTable(one)));
  return drawing(place, (look) => traceDrawing(one, reach, look, { width: place.clientWidth, height: place.clientHeight }));
}

function traceDrawing(one, reach, look, box) {
  const nth = traceOrder(one);
  const color = nth.map((n) => (n % 2 ? mixed(look.paper, look.lines[0], 0.6) : look.lines[0]));
  const hovertext = one.start.map((start, i) => plain(`worker ${one.workers[one.row[i]]}, its subtask ${nth[i] + 1}: ${tidy(one.length[i])} ${one.unit} from ${tidy(start)} ${one.unit} on`));
  const bars = { type: "bar", orientation: "h", base: one.start, x: one.length, y: one.row, width: 0.8, marker: { color, line: { width: 0 } }, hoverinfo: "text", hovertext, textposition: "none" };
  const range = [one.workers.length - 0.5, -0.5];
  const title = (text) => ({ text, standoff: 6, font: { size: 12 } });
  return {
    traces: [bars],
    layout: layout(look, box, {
      margin: { l: 54, r: 10, t: 8, b: 42 },
      xaxis: quietAxis(look, { range: [0, reach * 1.01 || 1], ticks: "outside", ticklen: 4, tickcolor: look.muted, nticks: 6, separatethousands: true, title: title(`time since the shot began (${one.unit})`) }),
      yaxis: quietAxis(look, { range, showgrid: false, title: title("worker"), ...fitting(one.row.length ? one.workers.map((_, i) => i) : [], one.workers, range, box.height) }),
    }),
  };
}

// Of each subtask, how many its worker began before.
function traceOrder(one) {
  const begun = one.workers.map(() => 0);
  const nth = one.start.map(() => 0);
  const order = one.start.map((_, i) => i).sort((a, b) => one.start[a] - one.start[b]);
  for (const i of order) nth[i] = begun[one.row[i]]++;
  return nth;
}

function traceTable(one) {
  const heads = ["worker", "subtasks", "busy (%)"].map((text) => el("th", { scope: "col", class: "n" }, text));
  const count = (row) => one.row.filter((other) => other === row).length;
  const rows = one.workers.map((worker, row) => el("tr", {}, el("th", { scope: "row" }, worker), ...[count(row), one.busy[row]].map((n) => el("td", { class: "n" }, String(n)))));
  const title = `Subtasks by worker, run ${one.run}`;
  const table = el("table", {}, el("caption", {}, title), el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows));
  return el("details", { class: "as-table" }, el("summary", {}, "This trace as a table"), el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": title }, table));
}
