// Which curves share a panel, and which factor separates the lines of a panel.

class Family {
  /** @param {FamilyData} data @param {Record<string, FactorData>} factors @param {Samples} samples */
  constructor(data, factors, samples) {
    this.data = data;
    this.factors = factors;
    this.samples = samples;
    this.line = data.line;
    this.panel = this.arranged().first;
    /** @type {Set<number>} */
    this.hidden = new Set();
    this.shown = new Set(data.under.flatMap(({ of, shown }) => (shown ? [of] : [])));
    this.vertical = "auto";
    /** @type {Record<string, number>} */
    this.heldAt = Object.fromEntries(data.groups.map((name) => [name, this.used(name)[0]]));
  }

  // The state that a link keeps.
  /** @returns {State} */
  state() {
    const held = this.held().map((name) => [`at ${name}`, String(this.heldAt[name])]);
    return { lines: this.line ?? "", panels: this.panel, scale: this.vertical, hidden: [...this.hidden].sort().join("."), under: [...this.shown].sort().join("."), ...Object.fromEntries(held) };
  }

  /** @param {State} asked */
  restore(asked) {
    const { groups } = this.data;
    if (groups.includes(asked.lines)) this.line = asked.lines;
    this.panel = this.arranged().choices.some(([panel]) => panel === asked.panels) ? asked.panels : this.arranged().first;
    this.vertical = SCALES.some(([scale]) => scale === asked.scale) ? asked.scale : "auto";
    this.hidden = new Set(asked.hidden.split(".").filter(Boolean).map(Number));
    this.shown = new Set(asked.under.split("."));
    for (const name of groups) if (this.used(name).includes(Number(asked[`at ${name}`]))) this.heldAt[name] = Number(asked[`at ${name}`]);
  }

  // The factors that can make panels, and the default, for the chosen factor of lines.
  arranged() {
    return this.data.panels[this.line ?? ""];
  }

  /** @param {string} name */
  used(name) {
    return this.data.used[name];
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

  // Colors follow the order of the levels in use, the same in every panel.
  /** @param {number} level */
  style(level) {
    return Math.max(this.lines().indexOf(level), 0);
  }

  /** @param {CurveData} curve */
  ink(curve) {
    return `line-${this.style(this.lineOf(curve)) % COLORS}`;
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

  // The visible underlays of a curve.
  /** @param {Measure} measure @param {CurveData} curve */
  under(measure, curve) {
    return curve.under.filter((one) => one.measure === measure.id && this.shown.has(one.of));
  }
}

/** @param {number[]} a @param {number[]} b */
function compareLists(a, b) {
  const i = a.findIndex((x, k) => x !== b[k]);
  return i < 0 ? 0 : a[i] - b[i];
}
