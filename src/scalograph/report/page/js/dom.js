// Make elements. Text only ever enters as text, never as markup.

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @template {keyof HTMLElementTagNameMap} T @param {T} tag @param {Attributes} attributes @param {Child[]} children */
function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** @param {string} tag @param {Attributes} attributes @param {Child[]} children */
function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** @template {Element} E @param {E} node @param {Attributes} attributes @param {Child[]} children */
function filled(node, attributes, children = []) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, String(value));
  }
  node.append(...nodes(children));
  return node;
}

/** @param {Child[]} children */
const nodes = (children) => children.flatMap((child) => (child || child === 0 ? [child instanceof Node ? child : String(child)] : []));

// A labelled select.
/** @param {string} label @param {[string | number, string][]} options @param {unknown} chosen @param {(value: string) => void} changed */
function choice(label, options, chosen, changed) {
  const onchange = (/** @type {Event} */ event) => changed(/** @type {HTMLSelectElement} */ (event.target).value);
  const listed = options.map(([value, text]) => el("option", { value, selected: String(value) === String(chosen) }, text));
  return el("label", { class: "choice" }, el("span", {}, label), el("select", { onchange }, ...listed));
}

// A toggle button.
/** @param {boolean} down @param {(down: boolean) => void} changed @param {Child[]} children */
function toggle(down, changed, ...children) {
  const button = el("button", { type: "button", "aria-pressed": String(down) }, ...children);
  button.addEventListener("click", () => {
    const is = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(is));
    changed(is);
  });
  return button;
}

// A table of texts; the first cell of a row is its heading.
/** @param {TextTable} table */
function textTable({ title, head, rows }) {
  const heads = head.map((text, i) => el("th", { scope: "col", class: i ? "n" : null }, text));
  const cells = (/** @type {string[]} */ row) => row.map((text, i) => (i ? el("td", { class: "n" }, text) : el("th", { scope: "row" }, text)));
  const body = el("tbody", {}, ...rows.map((row) => el("tr", {}, ...cells(row))));
  const table = el("table", {}, el("caption", {}, title), el("thead", {}, el("tr", {}, ...heads)), body);
  sortable(table);
  return el("div", {}, el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": title }, table), tableTools(table));
}

// Details that are built when opened.
/** @param {string} summary @param {() => Node[]} make */
function onDemand(summary, make) {
  const details = el("details", { class: "as-table" }, el("summary", {}, summary));
  details.addEventListener("toggle", () => {
    if (details.childElementCount === 1) details.append(...make());
  });
  return details;
}

// Unpack gzip in base64, as report/first_screen.py packs it.
/** @param {string} id */
async function unpack(id) {
  const packed = Uint8Array.from(atob(byId(id).textContent ?? ""), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}
