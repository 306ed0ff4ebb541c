// The few ways in which this page makes elements. Text only ever enters as text, never as markup.

const byId = (id) => document.getElementById(id);

function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// A labelled select; `options` are [value, text].
function choice(label, options, chosen, onchange) {
  const select = el("select", { onchange: (event) => onchange(event.target.value) });
  for (const [value, text] of options) {
    select.append(el("option", { value, selected: String(value) === String(chosen) }, text));
  }
  return el("label", { class: "choice" }, el("span", {}, label), select);
}

// The drawing library reads a little markup in labels; names from a study are not meant as any.
function plain(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

async function unpack(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

// A promise that lets the browser paint and answer between two drawings.
const breathe = () => new Promise((resolve) => setTimeout(resolve, 0));
