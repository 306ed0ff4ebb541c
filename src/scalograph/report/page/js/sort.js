// Sort tables by their values, by click or keyboard; a third press restores the original order.

/** @typedef {string | number | null} SortKey */

/** @type {Record<string, string>} */
const NEXT = { none: "ascending", ascending: "descending", descending: "none" };

/** @param {HTMLTableElement} table */
function sortable(table) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const headings = [...(table.tHead?.rows[0].cells ?? [])];
  if (original.length < 2) return;
  headings.forEach((heading, column) => {
    const button = el("button", { type: "button", title: "Sort by this column" });
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const order = NEXT[heading.getAttribute("aria-sort") ?? "none"];
      for (const other of headings) other.removeAttribute("aria-sort");
      if (order !== "none") heading.setAttribute("aria-sort", order);
      table.classList.toggle("sorted", order !== "none");
      body.append(...ordered(original, column, order));
    });
  });
}

/** @param {HTMLTableRowElement[]} rows @param {number} column @param {string} order */
function ordered(rows, column, order) {
  if (order === "none") return rows;
  const sign = order === "ascending" ? 1 : -1;
  const keyed = rows.map((row) => ({ key: sortKey(row.cells[column]), row }));
  return keyed.sort((a, b) => compareKeys(a.key, b.key, sign)).map(({ row }) => row);
}

/** @param {HTMLTableCellElement} cell @returns {SortKey} */
function sortKey(cell) {
  const text = (cell.querySelector("b") ?? cell).firstChild?.textContent?.trim() ?? "";
  const number = /\b[en]\b/.test(cell.className) ? text.replace(/,/g, "").replace("\u2212", "-") : "";
  if (number !== "" && !Number.isNaN(Number(number))) return Number(number);
  return text === "\u2013" || text === "" ? null : text;
}

// Cells without a value stay at the end in both directions.
/** @param {SortKey} a @param {SortKey} b @param {number} sign */
function compareKeys(a, b, sign) {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}

// Hover texts of values; the table holds each text once.
/** @param {HTMLTableElement} table */
function giveHints(table) {
  const hints = /** @type {string[]} */ (JSON.parse(table.dataset.hints ?? "[]"));
  for (const cell of /** @type {NodeListOf<HTMLElement>} */ (table.querySelectorAll("td[data-h]"))) cell.title = hints[Number(cell.dataset.h)];
}
