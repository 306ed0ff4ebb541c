// All run scores: as a CSV download, and as a table.

const LISTED = 300;

// Column names, and the value of each in a row.
/** @param {Data} data @returns {[string, (row: number) => string | number][]} */
function sampleColumns({ samples, factors, responses }) {
  const head = (/** @type {string} */ name, /** @type {string} */ unit) => (unit && !name.endsWith(`_${unit}`) ? `${name}_${unit}` : name);
  const { log } = samples;
  return [
    ["run", (row) => samples.run[row]],
    ...Object.entries(log ?? {}).map(([name, values]) => /** @type {[string, (row: number) => string | number]} */ ([name, (row) => /** @type {any} */ (values[row]) ?? ""])),
    ["verdict", (row) => samples.verdicts[samples.verdict[row]]],
    ...Object.keys(samples.levels).map((name) => /** @type {[string, (row: number) => string | number]} */ ([head(name, factors[name].unit), (row) => factors[name].raw[samples.levels[name][row]] ?? ""])),
    ...responses.map(([name, shown, unit]) => /** @type {[string, (row: number) => string | number]} */ ([head(shown, unit), (row) => samples.scores[name][row] ?? ""])),
  ];
}

// Quote texts that a spreadsheet would run as a formula; numbers stay as they are.
/** @param {string | number | boolean} value */
function csvField(value) {
  if (typeof value !== "string") return String(value);
  const harmless = /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : value;
  return /[",\n\r']/.test(harmless) ? `"${harmless.replace(/"/g, '""')}"` : harmless;
}

// Rows in the order of the runs, where known.
/** @param {Data} data */
function inOrder({ samples }) {
  const started = samples.log?.start_s ?? [];
  return samples.run.map((_, row) => row).sort((a, b) => Number(started[a] ?? 1e15) - Number(started[b] ?? 1e15));
}

/** @param {Data} data */
function csv(data) {
  const columns = sampleColumns(data);
  const rows = inOrder(data).map((row) => columns.map(([, read]) => csvField(read(row))).join(","));
  return [columns.map(([name]) => csvField(name)).join(","), ...rows, ""].join("\r\n");
}

/** @param {Data} data */
function sampleTable(data) {
  const columns = sampleColumns(data);
  const n = data.samples.run.length;
  const rows = inOrder(data).slice(0, LISTED).map((row) => columns.map(([, read]) => String(read(row))));
  return textTable({ title: LISTED < n ? `The first ${LISTED} of ${n} runs; all are in the CSV` : "Every run", head: columns.map(([name]) => name), rows });
}

/** @param {Data} data */
function sampleList(data) {
  if (!data.samples.run.length) return;
  const save = () => download(`${data.study}-runs.csv`, new Blob([csv(data)], { type: "text/csv" }));
  const button = el("button", { type: "button", class: "action", onclick: save }, "Download all runs (CSV)");
  byId("sample-list").append(el("p", { class: "chrome" }, button), onDemand("Runs as a table", () => [sampleTable(data)]));
}
