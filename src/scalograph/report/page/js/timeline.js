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

// Two runs of similar length share one time scale, so that the shorter one looks shorter.
function timeEnd(line, shown) {
  const ends = shown.map((other) => other.waiting.length * other.bin);
  const own = line.waiting.length * line.bin;
  return Math.max(...ends) <= 8 * Math.min(...ends) ? Math.max(...ends) : own;
}

function timelinePanel(lines, first, grid, shown, slot, redrawAll) {
  const state = { line: lines[first] };
  shown[slot] = state.line;
  const place = el("div", { class: "plot tall", role: "img" });
  const title = el("h4", {});
  const tasks = el("div", {});
  const name = () => {
    title.textContent = state.line.title;
    place.setAttribute("aria-label", `Tasks on CPUs over time, ${state.line.title}`);
    tasks.replaceChildren(taskTable(state.line));
  };
  const draw = drawing(place, (look) => timelineDrawing(state.line, look, place, timeEnd(state.line, shown)));
  const options = lines.map((line, i) => [i, line.title]);
  const pick = lines.length > 1 ? choice("Treatment", options, first, (value) => {
    state.line = shown[slot] = lines[Number(value)];
    name();
    redrawAll();
  }) : null;
  name();
  grid.append(el("div", { class: "panel" }, pick && el("div", { class: "controls" }, pick), title, place, tasks));
  return draw;
}

function timelineDrawing(line, look, place, reach) {
  const box = { width: place.clientWidth, height: place.clientHeight };
  const x = line.waiting.map((_, i) => i * line.bin);
  const end = line.waiting.length * line.bin;
  const most = Math.max(1, ...line.waiting);
  const few = line.cpus.length <= FEW_CPUS;
  const waiting = { type: "scatter", mode: "lines", x: [...x, end], y: [...line.waiting, line.waiting[line.waiting.length - 1]], yaxis: "y2", fill: "tozeroy", line: { color: look.wait, width: 1, shape: "hv" }, fillcolor: faded(look.wait, 0.35), hoverinfo: "text", hovertext: line.waiting.map((n, i) => `${tidy(x[i])} ${line.unit}: ${tidy(n)} waiting`) };
  const running = few ? cpuBands(line, x, end, look) : [cpuMap(line, x, look)];
  const split = { type: "line", xref: "paper", yref: "paper", x0: 0, x1: 1, y0: 0.59, y1: 0.59, line: { color: look.ink, width: 1 } };
  const title = (text) => ({ text, standoff: 6, font: { size: 12 } });
  const rows = few ? { range: [0, line.cpus.length * 1.02], dtick: Math.ceil(line.cpus.length / 4) } : { range: [-0.5, line.cpus.length - 0.5], showgrid: false };
  return {
    traces: [...running, waiting],
    layout: layout(look, box, {
      margin: { l: 54, r: 10, t: 8, b: 42 },
      shapes: [split],
      xaxis: quietAxis(look, { range: [0, reach], showgrid: false, anchor: "y", ticks: "outside", ticklen: 4, tickcolor: look.muted, nticks: 6, title: title(`time since the start (${line.unit})`) }),
      yaxis: quietAxis(look, { domain: [0, 0.56], title: title(few ? "on a CPU" : "CPU"), ...rows }),
      yaxis2: quietAxis(look, { domain: [0.63, 1], range: [0, most * 1.05], title: title("waiting"), nticks: 4 }),
    }),
  };
}

const tidy = (x) => String(Number(x.toPrecision(3)));

// Bands are stacked by hand: each is the sum up to its CPU, drawn from the top one down.
function cpuBands(line, x, end, look) {
  const sums = line.waiting.map(() => 0);
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
