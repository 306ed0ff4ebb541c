// Exports: a link to a chart, its picture, a table as text.

const FULL = 60; // rows of a table that are shown at once

/** @param {string} text @param {Element} button */
async function copy(text, button) {
  await navigator.clipboard.writeText(text).then(() => told("Copied", button), () => told("This browser does not let a page copy", button));
}

// Announce a message, and show it beside the pressed button.
/** @param {string} text @param {Element} button */
function told(text, button) {
  const note = el("span", { class: "told", role: "status" }, text);
  button.after(note);
  setTimeout(() => note.remove(), 2000);
}

/** @param {string} name @param {Blob} content */
function download(name, content) {
  const link = el("a", { href: URL.createObjectURL(content), download: name.replace(/[^\w.-]+/g, "-") });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** @param {string} text @param {string} of @param {(button: Element) => void} press */
const tool = (text, of, press) => el("button", { type: "button", class: "tool", "aria-label": `${text}: ${of}`, onclick: (/** @type {Event} */ event) => press(/** @type {Element} */ (event.currentTarget)) }, text);

/** @param {string} id @param {string} of */
const linkTool = (id, of) => tool("Copy link", of, (button) => {
  keepLink(id);
  void copy(location.href, button);
});

/** @param {HTMLElement} figure @param {string} title */
function figureTools(figure, title) {
  const save = (/** @type {"svg" | "png"} */ kind) => (/** @type {Element} */ button) => picture(figure, kind).then((content) => download(`${title}.${kind}`, content), (error) => told(error.message, button));
  return el("p", { class: "tools chrome" }, linkTool(figure.id, title), tool("SVG", title, save("svg")), tool("PNG", title, save("png")));
}

// Render a chart with all its panels as one picture, with its legend below.
/** @param {HTMLElement} figure @param {"svg" | "png"} kind @returns {Promise<Blob>} */
async function picture(figure, kind) {
  await library();
  const frame = figure.getBoundingClientRect();
  const places = [...figure.querySelectorAll(".plot")];
  const parts = places.flatMap((place) => {
    if (!fresh.has(place)) draw(place);
    const { left, top } = place.getBoundingClientRect();
    return [...place.querySelectorAll("svg.main-svg")].map((one) => filled(/** @type {Element} */ (one.cloneNode(true)), { x: left - frame.left, y: top - frame.top }));
  });
  const foot = Math.max(...places.map((place) => place.getBoundingClientRect().bottom - frame.top)) + 8;
  const words = [...figure.querySelectorAll("h3, h4")].map((node) => {
    const { left, bottom } = node.getBoundingClientRect();
    return svg("text", { x: left - frame.left, y: bottom - frame.top - 4, fill: color("ink"), "font-size": parseFloat(getComputedStyle(node).fontSize), "font-weight": 600 }, node.textContent);
  });
  const items = [...figure.querySelectorAll(".key-lines li, .marks li")];
  const columns = Math.max(1, Math.floor(frame.width / (60 + 7 * Math.max(0, ...items.map((item) => item.textContent?.length ?? 0)))));
  const key = items.map((item, i) => svg("g", { transform: `translate(${((i % columns) * frame.width) / columns} ${foot + 20 * Math.floor(i / columns)})` }, inked(item.querySelector("svg")), svg("text", { x: 44, y: 12, fill: color("ink"), "font-size": 13 }, item.textContent)));
  const size = { width: Math.ceil(frame.width), height: Math.ceil(foot + 20 * Math.ceil(items.length / columns)) };
  const text = new XMLSerializer().serializeToString(svg("svg", { ...size, "font-family": font() }, svg("rect", { ...size, fill: color("paper") }), ...words, ...parts, ...key));
  return kind === "svg" ? new Blob([text], { type: "image/svg+xml" }) : pixels(text, size);
}

// A legend swatch with resolved colors.
/** @param {Element | null} mark */
function inked(mark) {
  if (!mark) return null;
  const copied = /** @type {Element} */ (mark.cloneNode(true));
  const now = [...mark.querySelectorAll("*")].map((part) => getComputedStyle(part));
  copied.querySelectorAll("*").forEach((part, i) => filled(part, { stroke: now[i].stroke, fill: now[i].fill }));
  return copied;
}

/** @param {string} text @param {Box} size @returns {Promise<Blob>} */
async function pixels(text, { width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = el("canvas", { width: 2 * width, height: 2 * height });
  canvas.getContext("2d")?.drawImage(image, 0, 0, 2 * width, 2 * height);
  return new Promise((done, fail) => canvas.toBlob((content) => (content ? done(content) : fail(new Error("too large")))));
}

// Export a table: intervals get columns of their own, numbers have no commas.
/** @param {HTMLTableElement} table */
function tableRows(table) {
  const lines = [...table.rows].map((row) => [...row.cells]);
  const hasEnds = lines[0].map((_, i) => lines.some((row) => row[i].querySelector("i")));
  const bare = (/** @type {string} */ text) => (/^[\d\s,.e+\u2212-]+$/.test(text) ? text.replace(/,/g, "").replace("\u2212", "-") : text);
  const ends = (/** @type {Element} */ cell, /** @type {boolean} */ isHead, /** @type {string} */ name) =>
    isHead ? [`${name} low`, `${name} high`] : (cell.querySelector("i")?.textContent ?? ",").replace(/^\[|\]$/g, "").split(/, | to |,(?!\d)/);
  return lines.map((row, line) => row.flatMap((cell, i) => {
    const value = bare(((cell.querySelector("b") ?? cell).textContent ?? "").trim());
    return hasEnds[i] ? [value, ...ends(cell, line === 0, value).map((end) => bare(end.trim()))] : [value];
  }));
}

/** @param {string[][]} rows */
const asCsv = (rows) => rows.map((row) => row.map(csvField).join(",")).join("\n");

/** @param {string[][]} rows */
function asMarkdown([head, ...rows]) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.map((text) => text.replace(/\|/g, "\\|").replace(/\s+/g, " ")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

// Controls below a table: export, and hidden rows.
/** @param {HTMLTableElement} table */
function tableTools(table) {
  const title = table.caption?.textContent ?? "table";
  const n = table.tBodies[0].rows.length;
  const all = tool("", title, () => {
    const isCut = table.classList.toggle("cut");
    filled(all, { "aria-expanded": String(!isCut), "aria-label": "" }).textContent = isCut ? `Show all ${n.toLocaleString("en")} rows` : `Show the first ${FULL} rows`;
  });
  if (n > FULL) all.click();
  const copies = [["Copy CSV", asCsv], ["Copy Markdown", asMarkdown]].map(([text, write]) => tool(/** @type {string} */ (text), title, (button) => copy(/** @type {typeof asCsv} */ (write)(tableRows(table)), button)));
  return el("p", { class: "tools chrome" }, n > FULL && all, ...copies);
}
