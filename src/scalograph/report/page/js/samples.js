// Every run score: as CSV to keep, and as a table to look at.

const LISTED = 300;

function sampleColumns(data) {
  const { samples, factors, responses } = data;
  const head = (name, unit) => (unit ? `${name}_${unit}` : name);
  const levels = Object.keys(samples.levels).map((name) => [head(name, factors[name].unit), (row) => factors[name].raw[samples.levels[name][row]] ?? ""]);
  const scores = responses.map(([name, shown, unit]) => [head(shown, unit), (row) => samples.scores[name][row] ?? ""]);
  return [["run", (row) => samples.run[row]], ["verdict", (row) => samples.verdicts[samples.verdict[row]]], ...levels, ...scores];
}

// A text that a spreadsheet would take for a formula gets a quote in front; numbers stay as they are.
function csvField(value) {
  if (typeof value === "number") return String(value);
  const harmless = /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : value;
  return /[",\n\r']/.test(harmless) ? `"${harmless.replace(/"/g, '""')}"` : harmless;
}

function csv(data) {
  const columns = sampleColumns(data);
  const rows = data.samples.run.map((_, row) => columns.map(([, read]) => csvField(read(row))).join(","));
  return [columns.map(([name]) => csvField(name)).join(","), ...rows, ""].join("\r\n");
}

function download(data) {
  const link = el("a", { href: URL.createObjectURL(new Blob([csv(data)], { type: "text/csv" })), download: `${data.study.replace(/[^\w-]/g, "_") || "study"}-samples.csv` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function sampleTable(data) {
  const columns = sampleColumns(data);
  const shown = Math.min(LISTED, data.samples.run.length);
  const cell = (value) => el("td", { class: typeof value === "number" ? "n" : "l", "data-sort": typeof value === "number" ? value : null }, String(value));
  const rows = Array.from({ length: shown }, (_, row) => el("tr", {}, ...columns.map(([, read]) => cell(read(row)))));
  const heads = columns.map(([name]) => el("th", { scope: "col" }, name));
  const title = shown < data.samples.run.length ? `The first ${shown} of ${data.samples.run.length} runs; all are in the CSV` : "Every run";
  const table = el("table", {}, el("caption", {}, title), el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows));
  sortable(table);
  return el("div", { class: "scroll long", role: "region", tabindex: 0, "aria-label": title }, table);
}

function sampleList(data) {
  const place = byId("sample-list");
  if (!data.samples.run.length) return place.append(el("p", {}, "No run scores are kept in this file: those of pairs, and of runs that have no result, are in the journal, and scalograph export writes them."));
  const rounded = data.samples.digits ? ` Scores are rounded to ${data.samples.digits} digits here; findings.json has them in full.` : "";
  const button = el("button", { type: "button", class: "action", onclick: () => download(data) }, "Download all run scores (CSV)");
  const details = el("details", { class: "as-table" }, el("summary", {}, "Run scores as a table"));
  details.addEventListener("toggle", () => details.childElementCount === 1 && details.append(sampleTable(data)));
  place.append(el("p", {}, `${data.samples.run.length.toLocaleString("en")} run scores are kept in this file.${rounded}`), el("p", { class: "chrome" }, button), details);
}
