// Which curves share a panel, and which factor tells the lines of a panel apart.

const MANY_PANELS = 12; // more than this, and one factor makes panels
const MOST_PANELS = 48; // more than this are not drawn at all: each is a figure for each measure

class Family {
  constructor(data, factors) {
    Object.assign(this, data);
    this.factors = factors;
    this.hidden = new Set();
    this.vertical = "auto";
    this.line = this.groups.length ? this.defaultLine() : null;
    this.panel = this.defaultPanel();
    this.laws = firstLaws(this);
    this.heldAt = {};
    for (const name of this.groups) this.heldAt[name] = this.used(name)[0];
  }

  // The factor with the most levels that still get a color each.
  defaultLine() {
    const sized = this.groups.map((name) => [this.used(name).length, name]);
    const fitting = sized.filter(([n]) => n <= COLORS).sort(([a], [b]) => b - a);
    return (fitting[0] ?? sized.sort(([a], [b]) => a - b)[0])[1];
  }

  // All other factors where their panels are few, else the one with the most levels that are few, else none.
  defaultPanel() {
    if (this.combinations(this.others()) <= MANY_PANELS) return "all";
    const few = this.others().filter((name) => this.used(name).length <= MANY_PANELS);
    return few.sort((a, b) => this.used(b).length - this.used(a).length)[0] ?? "none";
  }

  // What may make panels: value and text of each.
  panelChoices() {
    const names = this.others().filter((name) => this.used(name).length <= MOST_PANELS);
    const title = (name) => this.factors[name].title;
    const whole = this.others().length > 1 && this.combinations(this.others()) <= MOST_PANELS;
    const all = whole ? [["all", this.others().map(title).join(" \u00d7 ")]] : [];
    const none = this.combinations(this.others()) > MANY_PANELS ? [["none", "none: one at a time"]] : [];
    const single = this.others().length > 1 || none.length ? names.map((name) => [name, title(name)]) : [];
    return [...all, ...single, ...none];
  }

  used(name) {
    const place = this.groups.indexOf(name);
    return [...new Set(this.curves.map((curve) => curve.group[place]))].sort((a, b) => a - b);
  }

  combinations(names) {
    return names.reduce((product, name) => product * this.used(name).length, 1);
  }

  others() {
    return this.groups.filter((name) => name !== this.line);
  }

  // Factors that make panels, and those that a select holds at one level.
  paneled() {
    return this.panel === "all" ? this.others() : this.others().filter((name) => name === this.panel);
  }

  held() {
    const paneled = this.paneled();
    return this.others().filter((name) => !paneled.includes(name));
  }

  level(curve, name) {
    return curve.group[this.groups.indexOf(name)];
  }

  text(name, level) {
    return this.factors[name].levels[level];
  }

  titled(name, level) {
    return `${this.factors[name].title}: ${this.text(name, level)}`;
  }

  lineOf(curve) {
    return this.line === null ? 0 : this.level(curve, this.line);
  }

  // Colors go by the place among the levels in use, the same in every panel.
  style(level) {
    return Math.max(this.line === null ? 0 : this.used(this.line).indexOf(level), 0);
  }

  lineText(curve) {
    return this.line === null ? "" : this.titled(this.line, this.lineOf(curve));
  }

  // Panels in which the measure has a value at all.
  panelsOf(measure) {
    const drawn = (curve) => curve.points.some((point) => point.values[measure.id]);
    return this.panels().filter((panel) => panel.curves.some(drawn));
  }

  panels() {
    const kept = this.curves.filter((c) => this.held().every((name) => this.level(c, name) === this.heldAt[name]));
    const names = this.paneled();
    const panels = new Map();
    for (const curve of kept) {
      const levels = names.map((name) => this.level(curve, name));
      const id = levels.join(" ");
      if (!panels.has(id)) {
        const title = names.map((name, i) => this.titled(name, levels[i])).join(" \u00b7 ");
        panels.set(id, { title, levels, curves: [] });
      }
      panels.get(id).curves.push(curve);
    }
    return [...panels.values()].sort((a, b) => compareLists(a.levels, b.levels));
  }

  visible(panel) {
    return panel.curves.filter((curve) => !this.hidden.has(this.lineOf(curve)));
  }
}

function compareLists(a, b) {
  const i = a.findIndex((x, k) => x !== b[k]);
  return i < 0 ? 0 : a[i] - b[i];
}
