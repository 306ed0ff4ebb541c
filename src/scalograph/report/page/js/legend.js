// The legend: factors of lines and panels, lines by name, dash and marker, and their underlays.

/** @type {Record<string, string>} */
const MARKS = {
  circle: "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
  square: "M-3.2 -3.2h6.4v6.4h-6.4z",
  diamond: "M0 -4.6L4.6 0L0 4.6L-4.6 0z",
  "triangle-up": "M0 -4.4L4.2 3.2H-4.2z",
  cross: "M-1.4 -4.2h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8v-2.8h2.8z",
  x: "M-4 -2.2L-2.2 -4L0 -1.8L2.2 -4L4 -2.2L1.8 0L4 2.2L2.2 4L0 1.8L-2.2 4L-4 2.2L-1.8 0z",
  "triangle-down": "M0 4.4L4.2 -3.2H-4.2z",
  "line-ew": "M-5 0h10",
  "line-ns": "M0 -5v10",
  "line-ne": "M-4 4l8 -8",
  "line-nw": "M-4 -4l8 8",
  star: "M0 -5L1.3 -1.6L4.8 -1.5L2 0.7L3 4.2L0 2.2L-3 4.2L-2 0.7L-4.8 -1.5L-1.3 -1.6z",
};
const DISK = "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z";
const RUN_MARKS = [["counted", DISK], ["inconclusive", DISK], ["disturbed", "M-3 -3L3 3M-3 3L3 -3", "disturbed or excluded"]];
/** @type {[string, string][]} */
const SCALES = [["auto", "as the range asks"], ["linear", "linear"], ["log", "logarithmic"]];

/** @param {string} kind @param {string} dash @param {number} width @param {Element | null} mark */
function swatch(kind, dash, width, mark = null) {
  const line = svg("line", { x1: 1, y1: 7, x2: 35, y2: 7, class: kind, "stroke-width": width, "stroke-dasharray": dash });
  return svg("svg", { width: 36, height: 14, "aria-hidden": "true", class: "swatch" }, line, mark);
}

/** @param {number} style */
function lineSwatch(style) {
  const dash = shifted(DASHES, style).replace(/px/g, "").replace("solid", "none");
  const mark = svg("path", { d: MARKS[shifted(SYMBOLS, style)], transform: "translate(18 7)", class: `fill-${style % COLORS}` });
  return swatch(`stroke-${style % COLORS}`, dash, 2, mark);
}

/** @param {string} kind @param {string} title @param {string} label @param {HTMLElement[]} buttons */
function buttonRow(kind, title, label, buttons) {
  const list = el("ul", { class: kind, "aria-label": `${label}; press to hide or show` }, ...buttons.map((button) => el("li", {}, button)));
  return el("div", { class: "lines" }, el("span", { class: "lines-title" }, title), list);
}

/** @param {Family} family @param {() => void} changed */
function legend(family, changed) {
  const { line } = family;
  if (line === null) return null;
  const { title, levels } = family.factors[line];
  const buttons = family.lines().map((level) => {
    const pressed = (/** @type {boolean} */ down) => {
      family.hidden[down ? "delete" : "add"](level);
      changed();
    };
    return toggle(!family.hidden.has(level), pressed, lineSwatch(family.style(level)), el("span", {}, levels[level]));
  });
  return buttonRow("legend", title, `Lines: ${title}`, buttons);
}

/** @param {Family} family @param {() => void} changed */
function underLegend(family, changed) {
  const buttons = family.data.under.map(({ of, name, dash, symbol }) => {
    const pressed = (/** @type {boolean} */ down) => {
      family.shown[down ? "add" : "delete"](of);
      changed();
    };
    const mark = symbol ? svg("path", { d: MARKS[symbol], transform: "translate(18 7)", class: "published-mark" }) : null;
    return toggle(family.shown.has(of), pressed, swatch("law-line", dash, 1.4, mark), el("span", {}, name));
  });
  return buttons.length ? buttonRow("legend laws", "Under the curves", "Lines under the curves", buttons) : null;
}

// What a mark means, everywhere on the page.
const runMarks = () => el("p", { class: "run-marks" }, ...RUN_MARKS.map(([word, path, text = word]) => el("a", { href: `#word-${word.replace(" ", "-")}` }, svg("svg", { width: 12, height: 12, "aria-hidden": "true" }, svg("path", { d: path, class: "run-mark", transform: "translate(6 6)" })), text)));

// The legend without buttons, for paper.
/** @param {Family} family */
function keyLines(family) {
  const { line } = family;
  if (line === null) return null;
  const shown = family.lines().filter((level) => !family.hidden.has(level));
  return el("ul", { class: "key-lines", "aria-hidden": "true" }, ...shown.map((level) => el("li", {}, lineSwatch(family.style(level)), family.titled(line, level))));
}

/** @param {Family} family @param {() => void} rebuild */
function controls(family, rebuild) {
  const { groups } = family.data;
  /** @param {"line" | "panel" | "vertical"} name */
  const set = (name) => (/** @type {string} */ value) => {
    family[name] = value;
    family.hidden.clear();
    if (name === "line") family.panel = family.arranged().first;
    rebuild();
  };
  const panels = family.arranged().choices;
  const held = family.held().map((name) => {
    const { title, levels } = family.factors[name];
    const options = family.used(name).map((level) => /** @type {[number, string]} */ ([level, levels[level]]));
    return choice(title, options, family.heldAt[name], (value) => {
      family.heldAt[name] = Number(value);
      rebuild();
    });
  });
  return el(
    "div",
    { class: "controls", role: "group", "aria-label": "How the figures are arranged" },
    groups.length > 1 ? choice("Lines", groups.map((name) => [name, family.factors[name].title]), family.line, set("line")) : null,
    panels.length > 1 ? choice("Panels", panels, family.panel, set("panel")) : null,
    ...held,
    choice("Vertical scale", SCALES, family.vertical, set("vertical")),
  );
}
