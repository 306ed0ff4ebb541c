// Any configuration against any other: the ratio of their runs with its interval.

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

/** Mean log of each block, as run names have it.
 * @param {Scored[]} runs */
function byBlock(runs) {
  /** @type {Map<string, number[]>} */
  const blocks = new Map();
  for (const { run, score } of runs) {
    const block = /^b(\d+)-/.exec(run)?.[1];
    if (block) blocks.set(block, [...(blocks.get(block) ?? []), Math.log(score)]);
  }
  return new Map([...blocks].map(([block, logs]) => [block, centered(logs).mean]));
}

/**
 * A over B: paired within the blocks that both have, where these are three or more, else Welch; t on logs.
 * @param {Scored[]} a @param {Scored[]} b @returns {Ratio | string}
 */
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

/** @param {Data} data */
function comparison(data) {
  const { samples, factors, responses } = data;
  const place = document.getElementById("compare-form");
  const names = Object.keys(samples.levels);
  const rows = samples.run.map((_, row) => row).filter((row) => names.every((name) => samples.levels[name][row] >= 0));
  if (!place || !rows.length) return document.getElementById("compare")?.remove();
  const levelsOf = (/** @type {number} */ row) => Object.fromEntries(names.map((name) => [name, samples.levels[name][row]]));
  const sides = /** @type {Record<string, Levelled>} */ ({ A: levelsOf(rows[rows.length - 1]), B: levelsOf(rows[0]) });
  let response = responses[0][0];
  const answer = el("p", { class: "ratio", role: "status" });
  const say = () => {
    const [a, b] = ["A", "B"].map((side) => countedRuns(data, response, sides[side]));
    const found = ratio(a, b);
    const shown = responses.find(([name]) => name === response)?.[1];
    const digits = typeof found === "string" || found.high === found.low ? 3 : Math.max(0, Math.min(6, Math.ceil(-Math.log10((found.high - found.low) / 2 / 3))));
    const text = typeof found === "string" ? found : `${found.value.toFixed(digits)} [${found.low.toFixed(digits)}, ${found.high.toFixed(digits)}], ${found.how}${found.low <= 1 && found.high >= 1 ? ". Not resolved: the interval holds 1" : ""}`;
    answer.replaceChildren(el("b", {}, `${shown}, A over B: `), `${text}.`);
  };
  const build = () => {
    const columns = Object.entries(sides).map(([side, chosen]) => el("fieldset", {}, el("legend", {}, side), ...names.map((name) => {
      const used = [...new Set(rows.map((row) => samples.levels[name][row]))].sort((x, y) => x - y);
      return choice(factors[name].title, used.map((level) => [level, factors[name].levels[level]]), chosen[name], (level) => {
        chosen[name] = Number(level);
        changed();
      });
    })));
    const measure = choice("Of", responses.map(([name, shown]) => [name, shown]), response, (name) => {
      response = name;
      changed();
    });
    place.replaceChildren(el("div", { class: "controls" }, ...columns, measure), answer, el("p", { class: "tools" }, tool("Copy link", "comparison", (button) => { keepLink("compare"); void copy(location.href, button); })));
    say();
  };
  const changed = () => {
    say();
    keepLink("compare");
  };
  const state = () => ({ of: response, ...Object.fromEntries(Object.entries(sides).map(([side, chosen]) => [side, names.map((name) => chosen[name]).join(".")])) });
  linkable("compare", state, (asked) => {
    response = responses.find(([name]) => name === asked.of)?.[0] ?? response;
    for (const side of Object.keys(sides)) {
      const levels = asked[side].split(".").map(Number);
      const known = names.every((name, i) => factors[name].levels[levels[i]] !== undefined);
      if (known) names.forEach((name, i) => (sides[side][name] = levels[i]));
    }
    build();
  });
  build();
}
