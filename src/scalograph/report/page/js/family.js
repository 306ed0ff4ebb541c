// Which curves share a panel, and which factor tells the lines of a panel apart.

const MANY_PANELS = 12; // more than this, and one factor makes panels
const MOST_PANELS = 48; // more than this are not drawn at all: each is a figure for each measure

class Family {
  /** @param {FamilyData} data @param {Record<string, FactorData>} factors @param {Samples} samples */
  constructor(data, factors, samples) {
    this.data = data;
    this.factors = factors;
    this.samples = samples;
    this.line = data.line;
    this.panel = this.defaultPanel();
    /** @type {Set<number>} */
    this.hidden = new Set();
    this.laws = { ...data.laws };
    this.papers = new Set(data.papers.flatMap(({ shown }, i) => (shown ? [i] : [])));
    this.vertical = "auto";
    /** @type {Record<string, number>} */
    this.heldAt = Object.fromEntries(data.groups.map((name) => [name, this.used(name)[0]]));
  }

  // What a link keeps.
  /** @returns {State} */
  state() {
    const held = this.held().map((name) => [`at ${name}`, String(this.heldAt[name])]);
    const laws = Object.entries(this.laws).flatMap(([name, on]) => (on ? [name] : []));
    return { lines: this.line ?? "", panels: this.panel, scale: this.vertical, hidden: [...this.hidden].sort().join("."), laws: laws.join("."), published: [...this.papers].sort().join("."), ...Object.fromEntries(held) };
  }

  /** @param {State} asked */
  restore(asked) {
    const { groups } = this.data;
    if (groups.includes(asked.lines)) this.line = asked.lines;
    this.panel = this.panelChoices().some(([panel]) => panel === asked.panels) ? asked.panels : this.defaultPanel();
    this.vertical = SCALES.some(([scale]) => scale === asked.scale) ? asked.scale : "auto";
    this.hidden = new Set(asked.hidden.split(".").filter(Boolean).map(Number));
    this.papers = new Set(asked.published.split(".").filter(Boolean).map(Number));
    for (const name of /** @type {Law[]} */ (Object.keys(this.laws))) this.laws[name] = asked.laws.split(".").includes(name);
    for (const name of groups) if (this.used(name).includes(Number(asked[`at ${name}`]))) this.heldAt[name] = Number(asked[`at ${name}`]);
  }

  /** All other factors where their panels are few, else the one with the most levels that are few, else none. */
  defaultPanel() {
    if (this.combinations(this.others()) <= MANY_PANELS) return "all";
    const few = this.others().filter((name) => this.used(name).length <= MANY_PANELS);
    return few.sort((a, b) => this.used(b).length - this.used(a).length)[0] ?? "none";
  }

  // What may make panels: value and text of each.
  /** @returns {[string, string][]} */
  panelChoices() {
    const others = this.others();
    const n = this.combinations(others);
    /** @type {[string, string][]} */
    const single = others.filter((name) => this.used(name).length <= MOST_PANELS).map((name) => [name, this.factors[name].title]);
    /** @type {[string, string][]} */
    const all = others.length > 1 && n <= MOST_PANELS ? [["all", others.map((name) => this.factors[name].title).join(" \u00d7 ")]] : [];
    if (n <= MANY_PANELS) return others.length > 1 ? [...all, ...single] : all;
    return [...all, ...single, ["none", "none: one at a time"]];
  }

  /** @param {string} name */
  used(name) {
    const place = this.data.groups.indexOf(name);
    return [...new Set(this.data.curves.map((curve) => curve.group[place]))].sort((a, b) => a - b);
  }

  /** @param {string[]} names */
  combinations(names) {
    return names.reduce((product, name) => product * this.used(name).length, 1);
  }

  others() {
    return this.data.groups.filter((name) => name !== this.line);
  }

  /** Factors that make panels. */
  paneled() {
    return this.panel === "all" ? this.others() : this.others().filter((name) => name === this.panel);
  }

  /** Those that a select holds at one level. */
  held() {
    const paneled = this.paneled();
    return this.others().filter((name) => !paneled.includes(name));
  }

  /** @param {CurveData} curve @param {string} name */
  level(curve, name) {
    return curve.group[this.data.groups.indexOf(name)];
  }

  /** @param {string} name @param {number} level */
  titled(name, level) {
    return `${this.factors[name].title}: ${this.factors[name].levels[level]}`;
  }

  /** Levels of the lines. */
  lines() {
    return this.line === null ? [] : this.used(this.line);
  }

  /** @param {CurveData} curve */
  lineOf(curve) {
    return this.line === null ? 0 : this.level(curve, this.line);
  }

  // Colors go by the place among the levels in use, the same in every panel.
  /** @param {number} level */
  style(level) {
    return Math.max(this.lines().indexOf(level), 0);
  }

  /** @param {CurveData} curve */
  lineText(curve) {
    return this.line === null ? "" : this.titled(this.line, this.lineOf(curve));
  }

  // Panels in which the measure has a value at all.
  /** @param {Measure} measure */
  panelsOf(measure) {
    return this.panels().filter((panel) => panel.curves.some((curve) => curve.points.some((point) => point.values[measure.id])));
  }

  /** @returns {PanelOfCurves[]} */
  panels() {
    const names = this.paneled();
    const kept = this.data.curves.filter((curve) => this.held().every((name) => this.level(curve, name) === this.heldAt[name]));
    /** @type {Map<string, PanelOfCurves>} */
    const panels = new Map();
    for (const curve of kept) {
      const levels = names.map((name) => this.level(curve, name));
      const one = panels.get(levels.join(" ")) ?? { title: names.map((name, i) => this.titled(name, levels[i])).join(" \u00b7 "), levels, curves: [] };
      one.curves.push(curve);
      panels.set(levels.join(" "), one);
    }
    return [...panels.values()].sort((a, b) => compareLists(a.levels, b.levels));
  }

  /** @param {PanelOfCurves} panel */
  visible(panel) {
    return panel.curves.filter((curve) => !this.hidden.has(this.lineOf(curve)));
  }

  // Whether a line under the speedup is drawn.
  /** @param {Measure} measure @param {Law} name */
  shows(measure, name) {
    return measure.id === "speedup" && Boolean(this.laws[name]);
  }

  // What is published beside a curve, of those papers that are shown: which paper, and pairs of level and value.
  /** @param {Measure} measure @param {CurveData} curve @returns {[paper: number, points: [number, number][]][]} */
  printed(measure, curve) {
    return curve.published.flatMap(({ paper, values }) => {
      const points = this.papers.has(paper) ? values[measure.id] : undefined;
      return points ? [/** @type {[number, [number, number][]]} */ ([paper, points])] : [];
    });
  }
}

/** @param {number[]} a @param {number[]} b */
function compareLists(a, b) {
  const i = a.findIndex((x, k) => x !== b[k]);
  return i < 0 ? 0 : a[i] - b[i];
}
