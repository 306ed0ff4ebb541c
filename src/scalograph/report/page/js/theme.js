// Colors and line styles of the figures. Colors come from the style sheet, so both schemes stay in one place;
// dash and marker tell lines apart where color does not.

const COLORS = 8;
const DASHES = ["solid", "8px,3px", "2px,3px", "9px,3px,2px,3px", "5px,2px", "12px,4px", "1px,2px", "6px,2px,1px,2px,1px,2px"];
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star"];

// Past the last color they begin again, each with the next dash and marker.
const shifted = (marks, style) => marks[(style + Math.floor(style / COLORS)) % marks.length];
const dashOf = (style) => shifted(DASHES, style);
const symbolOf = (style) => shifted(SYMBOLS, style);

function theme() {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: color("ink"),
    muted: color("muted"),
    rule: color("rule"),
    paper: color("paper"),
    wait: color("wait"),
    lines: Array.from({ length: COLORS }, (_, i) => color(`line-${i}`)),
    font: style.getPropertyValue("--sans").trim(),
  };
}

function faded(hex, alpha) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  return `rgba(${r},${g},${b},${alpha})`;
}

// What all figures share: quiet axes, no frame, no chrome.
function layout(look, box, over) {
  return {
    width: box.width,
    height: box.height,
    margin: { l: 46, r: 10, t: 8, b: 42 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: look.font, size: 12, color: look.muted },
    showlegend: false,
    hovermode: "closest",
    hoverlabel: { bgcolor: look.paper, bordercolor: look.muted, font: { family: look.font, size: 12, color: look.ink }, align: "left" },
    dragmode: matchMedia("(pointer: fine)").matches ? "zoom" : false,
    ...over,
  };
}

function quietAxis(look, over) {
  return {
    color: look.muted,
    gridcolor: look.rule,
    zeroline: false,
    showline: false,
    ticks: "",
    fixedrange: !matchMedia("(pointer: fine)").matches,
    automargin: false,
    exponentformat: "none",
    ...over,
  };
}

const CONFIG = { displayModeBar: false, responsive: false, showTips: false, doubleClick: "reset" };

// Every drawing registers here, so that another scheme, another width or paper draws it again.
const drawings = new Set();

function drawing(place, make) {
  const draw = () => {
    if (!place.isConnected) return drawings.delete(draw);
    const { traces, layout: shape } = make(theme(), place);
    Plotly.react(place, traces, shape, CONFIG);
  };
  drawings.add(draw);
  return draw;
}

function redraw() {
  for (const draw of [...drawings]) draw();
}

function followMedia() {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  let width = document.documentElement.clientWidth;
  let timer = 0;
  new ResizeObserver(() => {
    if (width === document.documentElement.clientWidth || isPrinting()) return;
    width = document.documentElement.clientWidth;
    clearTimeout(timer);
    timer = setTimeout(redraw, 120);
  }).observe(document.documentElement);
  addEventListener("beforeprint", () => printing(true));
  addEventListener("afterprint", () => printing(false));
  matchMedia("print").addEventListener("change", (event) => printing(event.matches));
}

const isPrinting = () => document.documentElement.classList.contains("printing");

// Paper is narrow and white: the class gives the page that width and those colors before it is laid out.
function printing(on) {
  if (on === isPrinting()) return;
  document.documentElement.classList.toggle("printing", on);
  redraw();
}
