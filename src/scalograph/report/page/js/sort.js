// Tables that sort by what they show, with a click or the keyboard; a third press gives the first order back.

function sortable(table) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  if (original.length < 2) return;
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = el("button", { type: "button", title: "Sort by this column" });
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const next = { none: "ascending", ascending: "descending", descending: "none" };
      const order = next[heading.getAttribute("aria-sort") ?? "none"];
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      if (order !== "none") heading.setAttribute("aria-sort", order);
      table.classList.toggle("sorted", order !== "none");
      body.append(...ordered(original, column, order));
    });
  });
}

function ordered(rows, column, order) {
  if (order === "none") return rows;
  const sign = order === "ascending" ? 1 : -1;
  const keyed = rows.map((row) => [sortKey(row.cells[column]), row]);
  return keyed.sort(([a], [b]) => compareKeys(a, b, sign)).map(([, row]) => row);
}

function sortKey(cell) {
  const text = (cell.querySelector("b") ?? cell).firstChild?.textContent.trim() ?? "";
  const number = cell.dataset.sort ?? (/\b[en]\b/.test(cell.className) ? text.replace(/,/g, "") : "");
  if (number !== "" && !Number.isNaN(Number(number))) return Number(number);
  return text === "\u2013" || text === "" ? null : text;
}

// Cells without a value stay at the end in both directions.
function compareKeys(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}

// What a value rests on is said on hover; the table keeps each such text once.
function giveHints(table) {
  const hints = JSON.parse(table.dataset.hints ?? "[]");
  for (const cell of table.querySelectorAll("td[data-h]")) cell.title = hints[cell.dataset.h];
}

// Labels that repeat the row above are set back, so that groups show.
function markRepeats(table) {
  const rows = [...table.tBodies[0].rows];
  rows.forEach((row, i) => {
    for (let column = 0; i > 0 && column < row.cells.length; column++) {
      const cell = row.cells[column];
      if (!cell.classList.contains("l") && !cell.classList.contains("n")) break;
      if (cell.textContent !== rows[i - 1].cells[column].textContent) break;
      cell.classList.add("again");
    }
  });
}
