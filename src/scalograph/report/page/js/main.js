// Tables work at once, then the data is unpacked; charts and their library are loaded when scrolled into view.

const NONCE = /** @type {HTMLScriptElement} */ (document.currentScript).nonce;

/** @param {Data} data */
function drawFigures(data) {
  const figures = (/** @type {Figure[]} */ some) => some.map((figure) => laterFigure(figure, figure.id));
  const sections = [...figures(data.before), ...data.families.map((family) => familySection(family, data)), ...figures(data.after)];
  byId("drawn").append(...sections, ...(data.untimed ? [el("p", { class: "note" }, data.untimed)] : []));
  if (!sections.length) say("No point of these findings has a value, so there is nothing to draw.");
}

// The still picture shows at once; on interaction the live chart replaces it, at the same size.
/** @param {Data} data */
function wakeFirst({ first }) {
  const still = document.querySelector("#first-figure .picture");
  if (!still || !first) return;
  const { yaxis, margin, annotations = [] } = first.layout; // the title of the upright axis stands above it, as in the still picture
  const title = { ...aside(plain(yaxis?.title?.text ?? ""), 0), xshift: -(margin?.l ?? 0), font: { size: 13, color: "ink" } };
  const layout = { ...first.layout, yaxis: { ...yaxis, title: undefined }, annotations: [...annotations, title] };
  const wake = () => library().then(() => still.replaceWith(plot(first.label, () => ({ data: first.data, layout }), "first")));
  still.addEventListener("pointerenter", wake, { once: true });
}

/** @param {Error} error */
function failed(error) {
  say(`The figures could not be drawn here (${error.message}); their numbers stand in the tables below.`);
  console.error(error);
}

const say = (/** @type {string} */ text) => Object.assign(document.getElementById("drawing") ?? {}, { hidden: !text, textContent: text });

async function main() {
  for (const table of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll("table.sortable"))) {
    giveHints(table);
    sortable(table);
    table.closest(".sheet")?.append(tableTools(table));
  }
  const data = /** @type {Data} */ (JSON.parse(await unpack("data")));
  sampleList(data);
  if (!document.getElementById("drawn")) return;
  followMedia();
  drawFigures(data);
  comparison(data);
  wakeFirst(data);
  followLink();
  addEventListener("hashchange", followLink);
  await new Promise((done) => setTimeout(done)); // what is in sight already asks for the library
  await loading;
}

main()
  .catch(failed)
  .finally(() => document.documentElement.setAttribute("data-drawn", "yes"));
