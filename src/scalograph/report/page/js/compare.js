// Compare any two configurations: the ratio of their runs with its interval.

const NEEDED = 3;

// Half-width in standard errors of a two-sided 95 % interval: with t = tan(a) sqrt(df), the density of a is cos(a)^(df - 1).
/** @param {number} df */
function tQuantile(df) {
  const n = 20000;
  const reach = Math.min(Math.PI / 2, 40 / Math.sqrt(df));
  const part = (/** @type {number} */ i) => Math.cos(((i + 0.5) * reach) / n) ** (df - 1);
  let whole = 0;
  for (let i = 0; i < n; i++) whole += part(i);
  let [sum, i] = [0, 0];
  while (sum < 0.95 * whole) sum += part(i++);
  return Math.sqrt(df) * Math.tan((i * reach) / n);
}

/** @param {number[]} x */
function centered(x) {
  const mean = x.reduce((a, b) => a + b, 0) / x.length;
  return { mean, n: x.length, variance: x.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (x.length - 1) / x.length };
}

// Mean log score of each block; the block is part of the run name.
/** @param {Scored[]} runs */
function byBlock(runs) {
  /** @type {Map<string, number[]>} */
  const blocks = new Map();
  for (const { run, score } of runs) {
    const block = /^b(\d+)-/.exec(run)?.[1];
    if (block) blocks.set(block, [...(blocks.get(block) ?? []), Math.log(score)]);
  }
  return new Map([...blocks].map(([block, logs]) => [block, centered(logs).mean]));
}

// Ratio A/B: paired by block with three common blocks or more, else Welch; t on logs.
/** @param {Scored[]} a @param {Scored[]} b @returns {Ratio | string} */
function ratio(a, b) {
  if (Math.min(a.length, b.length) < NEEDED) return `cannot be said: it takes ${NEEDED} runs that count of each, here are ${a.length} of A and ${b.length} of B`;
  if ([...a, ...b].some(({ score }) => score <= 0)) return "cannot be said: a score of zero or less has no logarithm";
  const [one, two] = [byBlock(a), byBlock(b)];
  const differences = [...one].flatMap(([block, log]) => (two.has(block) ? [log - Number(two.get(block))] : []));
  if (differences.length >= NEEDED) {
    const { mean, variance, n } = centered(differences);
    return ends(mean, variance, n - 1, `paired within ${n} blocks`);
  }
  const [x, y] = [a, b].map((runs) => centered(runs.map(({ score }) => Math.log(score))));
  const variance = x.variance + y.variance;
  const df = variance ? variance ** 2 / (x.variance ** 2 / (x.n - 1) + y.variance ** 2 / (y.n - 1)) : x.n + y.n - 2;
  return ends(x.mean - y.mean, variance, df, `${x.n} runs against ${y.n}, not paired`);
}

/** @param {number} log @param {number} variance @param {number} df @param {string} how @returns {Ratio} */
function ends(log, variance, df, how) {
  const half = variance ? tQuantile(df) * Math.sqrt(variance) : 0;
  return { value: Math.exp(log), low: Math.exp(log - half), high: Math.exp(log + half), how };
}

/** @param {Data} data @param {string} response @param {Levelled} levels @returns {Scored[]} */
function countedRuns({ samples }, response, levels) {
  const out = new Set(samples.left_out[response]);
  return samples.run.flatMap((run, row) => {
    const score = samples.scores[response][row];
    const isOne = Object.entries(levels).every(([name, level]) => samples.levels[name][row] === level);
    return isOne && typeof score === "number" && !out.has(row) ? [{ run, score }] : [];
  });
}

/** @param {Ratio | string} found */
function inWords(found) {
  if (typeof found === "string") return `${found}.`;
  const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10((found.high - found.low) / 6 || 0.001))));
  const [value, low, high] = [found.value, found.low, found.high].map((x) => x.toFixed(digits));
  return `${value} [${low}, ${high}], ${found.how}.${found.low <= 1 && found.high >= 1 ? " Not resolved: the interval holds 1." : ""}`;
}

/** @param {Data} data */
function comparison(data) {
  const { samples, factors, responses } = data;
  const names = Object.keys(samples.levels);
  const rows = samples.run.map((_, row) => row).filter((row) => responses.some(([name]) => samples.scores[name][row] !== null));
  if (!rows.length) return document.querySelectorAll("#compare, a[href='#compare']").forEach((node) => node.remove());
  const levelsOf = (/** @type {number} */ row) => Object.fromEntries(names.map((name) => [name, samples.levels[name][row]]));
  const far = rows.filter((row) => names.filter((name) => samples.levels[name][row] !== samples.levels[name][rows[0]]).length === 1);
  const sides = /** @type {Record<string, Levelled>} */ ({ A: levelsOf(far.pop() ?? rows[0]), B: levelsOf(rows[0]) });
  const titled = new Map(data.families.flatMap(({ measures }) => measures.map(({ response, title }) => [response, title])));
  const options = responses.map(([name, shown]) => /** @type {[string, string]} */ ([name, titled.get(name) ?? shown]));
  let response = responses[0][0];
  const answer = el("p", { class: "ratio", role: "status" });
  const say = () => {
    const [a, b] = ["A", "B"].map((side) => countedRuns(data, response, sides[side]));
    answer.replaceChildren(el("b", {}, `${new Map(options).get(response)}, A over B: `), inWords(ratio(a, b)));
  };
  const changed = () => {
    say();
    keepLink("compare");
  };
  const build = () => {
    const picks = Object.entries(sides).map(([side, chosen]) => el("fieldset", {}, el("legend", {}, side), ...names.map((name) => {
      const used = [...new Set(rows.map((row) => samples.levels[name][row]))].sort((x, y) => x - y);
      return choice(factors[name].title, used.map((level) => [level, factors[name].levels[level]]), chosen[name], (level) => {
        chosen[name] = Number(level);
        changed();
      });
    })));
    const of = choice("Of", options, response, (name) => {
      response = name;
      changed();
    });
    byId("compare-form").replaceChildren(el("div", { class: "controls" }, ...picks, of), answer, el("p", { class: "tools" }, linkTool("compare", "comparison")));
    say();
  };
  const state = () => ({ of: response, ...Object.fromEntries(Object.entries(sides).map(([side, chosen]) => [side, names.map((name) => chosen[name]).join(".")])) });
  linkable("compare", state, (asked) => {
    if (asked.of in samples.scores) response = asked.of;
    for (const side of Object.keys(sides)) {
      asked[side].split(".").forEach((level, i) => names[i] && factors[names[i]].levels[Number(level)] !== undefined && (sides[side][names[i]] = Number(level)));
    }
    build();
  });
  build();
}
