// Every run score: as CSV to keep, and as a table to look at.

const LISTED = 300;

// Names of the columns, and what each has in a row.
/** @param {Data} data @returns {[string, (row: number) => string | number][]} */
function sampleColumns({ samples, factors, responses }) {
  const head = (/** @type {string} */ name, /** @type {string} */ unit) => (unit ? `${name}_${unit}` : name);
  return [
    ["run", (row) => samples.run[row]],
    ["verdict", (row) => samples.verdicts[samples.verdict[row]]],
    ...Object.keys(samples.levels).map((name) => /** @type {[string, (row: number) => string | number]} */ ([head(name, factors[name].unit), (row) => factors[name].raw[samples.levels[name][row]] ?? ""])),
    ...responses.map(([name, shown, unit]) => /** @type {[string, (row: number) => string | number]} */ ([head(shown, unit), (row) => samples.scores[name][row] ?? ""])),
  ];
}

// A text that a spreadsheet would take for a formula gets a quote in front; numbers stay as they are.
/** @param {string | number | boolean} value */
function csvField(value) {
  if (typeof value !== "string") return String(value);
  const harmless = /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : value;
  return /[",\n\r']/.test(harmless) ? `"${harmless.replace(/"/g, '""')}"` : harmless;
}

/** @param {Data} data */
function csv(data) {
  const columns = sampleColumns(data);
  const rows = data.samples.run.map((_, row) => columns.map(([, read]) => csvField(read(row))).join(","));
  return [columns.map(([name]) => csvField(name)).join(","), ...rows, ""].join("\r\n");
}

/** @param {Data} data */
function download(data) {
  const name = data.study.replace(/[^\w-]/g, "_") || "study";
  const link = el("a", { href: URL.createObjectURL(new Blob([csv(data)], { type: "text/csv" })), download: `${name}-samples.csv` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** @param {Data} data */
function sampleTable(data) {
  const columns = sampleColumns(data);
  const n = data.samples.run.length;
  const cell = (/** @type {string | number} */ value) => el("td", { class: typeof value === "number" ? "n" : "l", "data-sort": typeof value === "number" ? value : null }, String(value));
  const rows = Array.from({ length: Math.min(LISTED, n) }, (_, row) => el("tr", {}, ...columns.map(([, read]) => cell(read(row)))));
  const heads = columns.map(([name]) => el("th", { scope: "col" }, name));
  const title = LISTED < n ? `The first ${LISTED} of ${n} runs; all are in the CSV` : "Every run";
  const table = el("table", {}, el("caption", {}, title), el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows));
  sortable(table);
  return el("div", { class: "scroll long", role: "region", tabindex: 0, "aria-label": title }, table);
}

/** @param {Data} data */
function sampleList(data) {
  const place = byId("sample-list");
  const n = data.samples.run.length;
  if (!n) return place.append(el("p", {}, "No run scores are kept in this file: those of pairs, and of runs that have no result, are in the journal, and scalograph export writes them."));
  const rounded = data.samples.digits ? ` Scores are rounded to ${data.samples.digits} digits here; findings.json has them in full.` : "";
  const button = el("button", { type: "button", class: "action", onclick: () => download(data) }, "Download all run scores (CSV)");
  const kept = el("p", {}, `${n.toLocaleString("en")} run scores are kept in this file.${rounded}`);
  place.append(kept, el("p", { class: "chrome" }, button), onDemand("Run scores as a table", () => [sampleTable(data)]));
}
