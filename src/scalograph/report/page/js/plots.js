// Charts are drawn when scrolled into view, and again for another color scheme, another width, or printing.

const CONFIG = { displayModeBar: false, responsive: false, showTips: false, doubleClick: "reset" };
const MARGIN = { l: 46, r: 10, t: 8, b: 42 };

/** @type {Map<Element, Make>} */
const drawings = new Map();
/** @type {Set<Element>} */
const fresh = new Set();
/** @type {Set<Element>} */
const inView = new Set();
const watcher = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      inView[isIntersecting ? "add" : "delete"](target);
      if (isIntersecting && !fresh.has(target)) draw(target);
    }
  },
  { rootMargin: "10%" },
);

/** @type {Promise<void> | undefined} */
let loading;

// The drawing library, unpacked for the first visible chart.
const library = () => (loading ??= unpack("library").then((code) => {
  const script = el("script", { nonce: NONCE });
  script.textContent = code;
  document.head.append(script);
  inView.forEach(draw);
}).catch(failed));

// A frame for a chart.
/** @param {string} label what it shows @param {Make} make @param {string} size */
function plot(label, make, size = "small") {
  const place = el("div", { class: `plot ${size}`, role: "img", "aria-label": label });
  drawings.set(place, make);
  watcher.observe(place);
  return place;
}

/** @param {Element} place */
function draw(place) {
  const make = drawings.get(place);
  if (!make || !place.isConnected) return forget(place);
  if (!("Plotly" in window)) return void library();
  fresh.add(place);
  const box = { width: place.clientWidth, height: place.clientHeight };
  const { data, layout } = make(box);
  Plotly.react(place, painted(data), painted(finished(layout, box)), CONFIG);
  const heard = /** @type {any} */ (place);
  for (const event of ["plotly_hover", "plotly_unhover"]) {
    heard.removeAllListeners(event); // of an earlier drawing
    heard.on(event, () => place.classList.toggle("pointed", event === "plotly_hover"));
  }
}

/** @param {Element} place */
function forget(place) {
  for (const kept of [drawings, fresh, inView]) kept.delete(place);
  watcher.unobserve(place);
}

// Charts out of view wait until they are seen; printing draws all.
/** @param {Element} within */
function redraw(within = document.documentElement) {
  for (const place of [...drawings.keys()]) {
    if (!place.isConnected) forget(place);
    else if (within.contains(place)) {
      fresh.delete(place);
      if (inView.has(place) || isPrinting()) draw(place);
    }
  }
}

// The layout that all charts share: quiet axes, no frame, no tool bar.
/** @param {Layout} layout @param {Box} box @returns {Layout} */
function finished(layout, box) {
  const margin = layout.margin ?? MARGIN;
  const inner = { width: box.width - margin.l - margin.r, height: box.height - margin.t - margin.b };
  const axes = Object.keys(layout).filter((name) => /^[xy]axis\d*$/.test(name));
  const isFine = matchMedia("(pointer: fine)").matches;
  return {
    ...box,
    margin: MARGIN,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: font(), size: 12, color: "muted" },
    showlegend: false,
    hovermode: "closest",
    hoverlabel: { bgcolor: "paper", bordercolor: "muted", font: { family: font(), size: 12, color: "ink" }, align: "left" },
    dragmode: isFine ? "zoom" : false,
    ...layout,
    annotations: fittingNotes(layout.annotations ?? [], inner),
    ...Object.fromEntries(axes.map((name) => [name, quiet(layout[name], name[0] === "x" ? inner.width : inner.height, isFine, name[0] === "x" ? 0 : margin.l)])),
  };
}

// Keep the first annotation that fits of those with the same name.
/** @param {Note[]} notes @param {Box} inner */
function fittingNotes(notes, inner) {
  /** @type {Set<string>} */
  const taken = new Set();
  return notes.filter(({ name, room }) => {
    if (!name || !room) return true;
    const fits = !taken.has(name) && room[0] <= inner.width && room[1] <= inner.height;
    if (fits) taken.add(name);
    return fits;
  }).map(({ room: _, ...note }) => note);
}

// Fit an axis to its length: a shortened title, and the labels that fit.
/** @param {Axis} axis @param {number} length @param {boolean} isFine @param {number} beside */
function quiet(axis, length, isFine, beside) {
  const title = axis.title && { standoff: 8, font: { size: 12 }, text: plain(short(axis.title.text, Math.min(60, Math.floor(length / 6.4)))) };
  const base = { color: "muted", gridcolor: "rule", zeroline: false, showline: false, ticks: "", fixedrange: !isFine, automargin: false, exponentformat: "none" };
  return { ...base, ...axis, title, ...(axis.ticktext && axis.type !== "log" && fitting(axis, length, beside)) };
}

// First and last tick keep their label, the others where there is room. Beside an upright axis there is room for so many pixels.
/** @param {Axis} axis @param {number} length @param {number} beside */
function fitting({ tickvals = [], ticktext = [], range = [0, 1] }, length, beside) {
  const at = tickvals.map((x) => ((x - range[0]) / (range[1] - range[0])) * length);
  const texts = ticktext.map((text) => short(text, beside ? Math.floor(beside / 6.4) : 14));
  const room = (/** @type {number} */ i, /** @type {number} */ j) => Math.abs(at[i] - at[j]) >= (beside ? 14 : 3.7 * (texts[i].length + texts[j].length) + 8);
  const order = at.map((_, i) => i).sort((a, b) => at[a] - at[b]);
  const last = order[order.length - 1];
  /** @type {number[]} */
  const kept = [];
  for (const i of order) {
    if (i === last || !kept.length || (room(i, kept[kept.length - 1]) && room(i, last))) kept.push(i);
  }
  return { ticktext: texts.map((text, i) => (kept.includes(i) ? plain(text) : "")) };
}

/** @param {string} text @param {number} letters */
const short = (text, letters) => (text.length > letters ? `${text.slice(0, Math.max(letters - 1, 0))}\u2026` : text);

// Escape the markup that the library reads in labels.
/** @param {string} text */
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

// A hover text, line by line.
/** @param {(string | false | null | undefined)[]} lines */
const hover = (lines) => lines.flatMap((line) => (line ? [plain(short(line, 90))] : [])).join("<br>");

function followMedia() {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
  let width = document.documentElement.clientWidth;
  let timer = 0;
  new ResizeObserver(() => {
    if (width === document.documentElement.clientWidth || isPrinting()) return;
    width = document.documentElement.clientWidth;
    clearTimeout(timer);
    timer = window.setTimeout(redraw, 120);
  }).observe(document.documentElement);
  addEventListener("beforeprint", () => printing(true));
  addEventListener("afterprint", () => printing(false));
  matchMedia("print").addEventListener("change", (event) => printing(event.matches));
  addEventListener("keydown", (event) => {
    if (event.key !== "p" || !(event.ctrlKey || event.metaKey) || "Plotly" in window) return;
    event.preventDefault();
    library().then(() => print());
  });
}

const isPrinting = () => document.documentElement.classList.contains("printing");

// Printing: the class sets width and colors of paper before layout.
/** @param {boolean} on @returns {void} */
function printing(on) {
  if (on === isPrinting()) return;
  if (on && !("Plotly" in window) && waiting.size) return void library().then(() => printing(matchMedia("print").matches));
  document.documentElement.classList.toggle("printing", on);
  if (on) document.querySelectorAll("details.secondary").forEach((details) => details.setAttribute("open", ""));
  if (on) [...waiting.keys()].forEach(buildNow);
  redraw();
}
