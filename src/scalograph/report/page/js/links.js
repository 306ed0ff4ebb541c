// Links to a chart in its present state: changes from the default follow its name in the address.

/** @type {Map<string, Linked>} */
const linked = new Map();

/** @param {string} id @param {() => State} state @param {(state: State) => void} restore */
function linkable(id, state, restore) {
  linked.set(id, { first: state(), state, restore });
}

/** @param {string} id */
function linkOf(id) {
  const one = linked.get(id);
  const changed = Object.entries(one?.state() ?? {}).filter(([name, value]) => value !== one?.first[name]);
  return `#${id}${changed.length ? `?${new URLSearchParams(changed)}` : ""}`;
}

/** @param {string} id */
const keepLink = (id) => history.replaceState(null, "", linkOf(id));

// Show what the address asks for.
function followLink() {
  const [id, query = ""] = location.hash.slice(1).split("?");
  const one = linked.get(id);
  one?.restore({ ...one.first, ...Object.fromEntries(new URLSearchParams(query)) });
  const place = id && document.getElementById(id);
  if (!place) return;
  place.closest("details")?.setAttribute("open", "");
  buildNow(place);
  hold(place);
}

const MOVES = ["wheel", "touchmove", "keydown", "pointerdown"]; // by which readers go on
const HELD_MS = 3000; // since the page last changed its height
let release = () => {};

// Keep a target in sight while charts above it are built, until the reader moves.
/** @param {Element} place */
function hold(place) {
  release();
  const moved = new AbortController();
  let timer = 0;
  const aim = () => {
    place.scrollIntoView(/** @type {any} */ ({ behavior: "instant" })); // newer than the checker
    clearTimeout(timer);
    timer = window.setTimeout(() => release(), HELD_MS);
  };
  const grown = new ResizeObserver(aim);
  release = () => {
    grown.disconnect();
    moved.abort();
  };
  for (const name of MOVES) addEventListener(name, () => release(), { signal: moved.signal });
  grown.observe(document.body);
  aim();
}

// Frames that are filled when scrolled into view; all of them for printing.
/** @type {Map<Element, () => Child[]>} */
const waiting = new Map();
const nearby = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => isIntersecting && buildNow(target)), { rootMargin: "60%" });

/** @template {Element} E @param {E} node @param {() => Child[]} fill */
function later(node, fill) {
  waiting.set(node, fill);
  nearby.observe(node);
  return node;
}

/** @param {Element} node */
function buildNow(node) {
  const fill = waiting.get(node);
  waiting.delete(node);
  nearby.unobserve(node);
  if (fill && node.isConnected) filled(node, { class: node.className.replace(/\blater\b/, "").trim() }).replaceChildren(...nodes(fill()));
}
