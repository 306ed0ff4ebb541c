// One run over time: which CPUs ran its tasks, and above the line the tasks that waited for a CPU.

function timelineSection(lines) {
  const grid = el("div", { class: "panels pair" });
  const second = lines.length > 1 ? [lines.length - 1] : [];
  const shown = [];
  const draws = [0, ...second].map((chosen, i) => timelinePanel(lines, chosen, grid, shown, i, () => draws.forEach((draw) => draw())));
  if (!second.length) grid.classList.add("single");
  const key = "Of each treatment, the run nearest the median. Below the line: tasks on a CPU, one band for each CPU. Above it: tasks that were ready and had to wait (vertical scales differ).";
  const head = el("figcaption", {}, el("h3", {}, "On the CPUs over time"), el("p", { class: "key" }, key));
  return { node: el("figure", { class: "timeline" }, head, grid), draws };
}

const nBins = (line) => line.busy[0].length;

// Two runs of similar length share one time scale, so that the shorter one looks shorter.
function timeEnd(line, shown) {
  const ends = shown.map((other) => nBins(other) * other.bin);
  const own = nBins(line) * line.bin;
  return Math.max(...ends) <= 8 * Math.min(...ends) ? Math.max(...ends) : own;
}

function timelinePanel(lines, first, grid, shown, slot, redrawAll) {
  const state = { line: lines[first] };
  shown[slot] = state.line;
  const place = el("div", { class: "plot tall", role: "img" });
  const title = el("h4", {});
  const words = el("p", { class: "note" });
  const tasks = el("div", {});
  const name = () => {
    title.textContent = state.line.title;
    words.textContent = state.line.words;
    place.setAttribute("aria-label", `Tasks on CPUs over time, ${state.line.title}. ${state.line.words}`);
    tasks.replaceChildren(taskTable(state.line), overTime(state.line));
  };
  const draw = drawing(place, (look) => timelineDrawing(state.line, look, place, timeEnd(state.line, shown)));
  const options = lines.map((line, i) => [i, line.title]);
  const pick = lines.length > 1 ? choice("Treatment", options, first, (value) => {
    state.line = shown[slot] = lines[Number(value)];
    name();
    redrawAll();
  }) : null;
  name();
  grid.append(el("div", { class: "panel" }, pick && el("div", { class: "controls" }, pick), title, place, words, tasks));
  return draw;
}

function timelineDrawing(line, look, place, reach) {
  const box = { width: place.clientWidth, height: place.clientHeight };
  const x = line.busy[0].map((_, i) => i * line.bin);
  const end = nBins(line) * line.bin;
  const few = line.cpus.length <= FEW_CPUS;
  const running = few ? cpuBands(line, x, end, look) : [cpuMap(line, x, look)];
  const known = line.waiting.length > 0;
  const split = { type: "line", xref: "paper", yref: "paper", x0: 0, x1: 1, y0: 0.59, y1: 0.59, line: { color: look.ink, width: 1 } };
  const title = (text) => ({ text, standoff: 6, font: { size: 12 } });
  const top = few ? mostRunning(line) : 0;
  const rows = few ? { range: [0, top * 1.02], dtick: Math.ceil(top / 4) } : { range: [-0.5, line.cpus.length - 0.5], showgrid: false };
  const waiting = known ? { yaxis2: quietAxis(look, { domain: [0.63, 1], range: [0, Math.max(1, ...line.waiting) * 1.05], title: title("waiting"), nticks: 4 }) } : {};
  return {
    traces: known ? [...running, waitingTrace(line, x, end, look)] : running,
    layout: layout(look, box, {
      margin: { l: 54, r: 10, t: 8, b: 42 },
      shapes: known ? [split] : [],
      xaxis: quietAxis(look, { range: [0, reach], showgrid: false, anchor: "y", ticks: "outside", ticklen: 4, tickcolor: look.muted, nticks: 6, title: title(`time since the start (${line.unit})`) }),
      yaxis: quietAxis(look, { domain: [0, known ? 0.56 : 1], title: title(few ? "on a CPU" : "CPU"), ...rows }),
      ...waiting,
    }),
  };
}

function waitingTrace(line, x, end, look) {
  const hovertext = line.waiting.map((n, i) => `${tidy(x[i])} ${line.unit}: ${tidy(n)} waiting`);
  return { type: "scatter", mode: "lines", x: [...x, end], y: [...line.waiting, line.waiting[line.waiting.length - 1]], yaxis: "y2", fill: "tozeroy", line: { color: look.wait, width: 1, shape: "hv" }, fillcolor: faded(look.wait, 0.35), hoverinfo: "text", hovertext };
}

// CPUs that the axis holds: all rows, or what the tree as one row had at most.
const mostRunning = (line) => Math.max(line.cpus.length, Math.ceil(Math.max(...line.busy[0]) / 100));

const tidy = (x) => String(Number(x.toPrecision(3)));

// Bands are stacked by hand: each is the sum up to its CPU, drawn from the top one down.
function cpuBands(line, x, end, look) {
  const sums = line.busy[0].map(() => 0);
  const bands = line.busy.map((row, cpu) => {
    row.forEach((percent, i) => (sums[i] += percent / 100));
    const color = look.lines[0];
    const shade = 0.9 - (0.55 * cpu) / line.cpus.length;
    const y = [...sums];
    const hovertext = row.map((percent, i) => plain(`${tidy(x[i])} ${line.unit}: CPU ${line.cpus[cpu]} busy ${percent} %`));
    return { type: "scatter", mode: "lines", x: [...x, end], y: [...y, y[y.length - 1]], fill: cpu ? "tonexty" : "tozeroy", fillcolor: faded(color, shade), line: { width: 0.6, color: look.paper, shape: "hv" }, hoverinfo: "text", hovertext };
  });
  return bands;
}

function cpuMap(line, x, look) {
  return { type: "heatmap", x: x.map((t) => t + line.bin / 2), y: line.cpus.map((_, i) => i), z: line.busy, zmin: 0, zmax: 100, showscale: false, colorscale: [[0, look.paper], [1, look.lines[0]]], hoverinfo: "z" };
}

function taskTable(line) {
  if (!line.tasks.length) return el("p", { class: "note" }, "The tasks of this run were not recorded.");
  const heads = ["task", "on CPU", "waiting", "moves"].map((text, i) => el("th", { scope: "col", class: i ? "n" : "l" }, text));
  const rows = line.tasks.map((task) => el("tr", {}, ...task.map((text, i) => el("td", { class: i ? "n" : "l" }, text))));
  const table = el("table", {}, el("caption", {}, `Busiest tasks of run ${line.run}`), el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows));
  return el("details", { class: "as-table" }, el("summary", {}, "Busiest tasks"), el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": "Busiest tasks" }, table));
}

const FEW_ROWS = 20;

// The picture as numbers, in a few steps of time; built when it is asked for.
function overTime(line) {
  const details = el("details", { class: "as-table" }, el("summary", {}, "This timeline as a table"));
  details.addEventListener("toggle", () => {
    if (details.childElementCount === 1) details.append(timeTable(line));
  });
  return details;
}

function timeTable(line) {
  const step = Math.ceil(nBins(line) / FEW_ROWS);
  const starts = Array.from({ length: Math.ceil(nBins(line) / step) }, (_, i) => i * step);
  const mean = (row, from) => row.slice(from, from + step).reduce((sum, x) => sum + x, 0) / row.slice(from, from + step).length;
  const each = line.cpus.length <= FEW_CPUS ? line.cpus.map((cpu, i) => [`CPU ${cpu} (%)`, (from) => String(Math.round(mean(line.busy[i], from)))]) : [];
  const running = (from) => tidy(line.busy.reduce((sum, row) => sum + mean(row, from) / 100, 0));
  const columns = [["on a CPU", running], ...each, ...(line.waiting.length ? [["waiting", (from) => tidy(mean(line.waiting, from))]] : [])];
  const head = el("tr", {}, ...[`from (${line.unit})`, ...columns.map(([name]) => name)].map((text) => el("th", { scope: "col", class: "n" }, text)));
  const rows = starts.map((from) => el("tr", {}, el("th", { scope: "row" }, tidy(from * line.bin)), ...columns.map(([, of]) => el("td", { class: "n" }, of(from)))));
  const title = `Tasks over time, run ${line.run}`;
  return el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": title }, el("table", {}, el("caption", {}, title), el("thead", {}, head), el("tbody", {}, ...rows)));
}
