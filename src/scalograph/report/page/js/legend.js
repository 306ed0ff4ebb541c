// Above the figures: which factor makes lines and panels, and the lines by name, dash and marker.

const MARKS = {
  circle: "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
  square: "M-3.2 -3.2h6.4v6.4h-6.4z",
  diamond: "M0 -4.6L4.6 0L0 4.6L-4.6 0z",
  "triangle-up": "M0 -4.4L4.2 3.2H-4.2z",
  cross: "M-1.4 -4.2h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8v-2.8h2.8z",
  x: "M-4 -2.2L-2.2 -4L0 -1.8L2.2 -4L4 -2.2L1.8 0L4 2.2L2.2 4L0 1.8L-2.2 4L-4 2.2L-1.8 0z",
  "triangle-down": "M0 4.4L4.2 -3.2H-4.2z",
  star: "M0 -5L1.3 -1.6L4.8 -1.5L2 0.7L3 4.2L0 2.2L-3 4.2L-2 0.7L-4.8 -1.5L-1.3 -1.6z",
};

function swatch(style) {
  const kind = `stroke-${style % COLORS}`;
  const dash = dashOf(style).replace(/px/g, "").replace("solid", "none");
  const line = svg("line", { x1: 1, y1: 7, x2: 35, y2: 7, class: kind, "stroke-width": 2, "stroke-dasharray": dash });
  const mark = svg("path", { d: MARKS[symbolOf(style)], transform: "translate(18 7)", class: `fill-${style % COLORS}` });
  return svg("svg", { width: 36, height: 14, "aria-hidden": "true", class: "swatch" }, line, mark);
}

function legend(family, changed) {
  if (family.line === null) return null;
  const list = el("ul", { class: "legend", "aria-label": `Lines: ${family.factors[family.line].title}; press to hide or show` });
  for (const level of family.used(family.line)) {
    const toggle = () => {
      if (!family.hidden.delete(level)) family.hidden.add(level);
      button.setAttribute("aria-pressed", String(!family.hidden.has(level)));
      changed();
    };
    const shown = String(!family.hidden.has(level));
    const button = el("button", { type: "button", "aria-pressed": shown, onclick: toggle }, swatch(family.style(level)), el("span", {}, family.text(family.line, level)));
    list.append(el("li", {}, button));
  }
  return el("div", { class: "lines" }, el("span", { class: "lines-title" }, family.factors[family.line].title), list);
}

// The same without buttons, for paper.
function keyLines(family) {
  if (family.line === null) return null;
  const shown = family.used(family.line).filter((level) => !family.hidden.has(level));
  const lines = shown.map((level) => el("li", {}, swatch(family.style(level)), family.titled(family.line, level)));
  return el("ul", { class: "key-lines", "aria-hidden": "true" }, ...lines);
}

function controls(family, rebuild) {
  const row = el("div", { class: "controls", role: "group", "aria-label": "How the figures are arranged" });
  const titled = (name) => [name, family.factors[name].title];
  const set = (name) => (value) => {
    family[name] = value;
    family.hidden.clear();
    if (name === "line") family.panel = family.defaultPanel();
    rebuild();
  };
  if (family.groups.length > 1) row.append(choice("Lines", family.groups.map(titled), family.line, set("line")));
  const panels = family.panelChoices();
  if (panels.length > 1) row.append(choice("Panels", panels, family.panel, set("panel")));
  for (const name of family.held()) {
    const options = family.used(name).map((level) => [level, family.text(name, level)]);
    row.append(choice(family.factors[name].title, options, family.heldAt[name], (value) => {
      family.heldAt[name] = Number(value);
      rebuild();
    }));
  }
  const scales = [["auto", "as the range asks"], ["linear", "linear"], ["log", "logarithmic"]];
  row.append(choice("Vertical scale", scales, family.vertical, set("vertical")));
  return row;
}
