// Tables work at once; then the data, then the drawing library, then each figure when it comes into view.

const NONCE = /** @type {HTMLScriptElement} */ (document.currentScript).nonce;

async function loadLibrary() {
  const script = el("script", {});
  script.nonce = NONCE;
  script.textContent = await unpack("library");
  document.head.append(script);
}

/** @param {Data} data */
async function drawFigures(data) {
  const place = byId("drawn");
  const sections = [
    ...data.before.map(figureSection),
    ...data.families.map((family) => familySection(family, data)),
    ...data.after.map(figureSection),
  ];
  place.append(...sections, ...(data.untimed ? [el("p", { class: "note" }, data.untimed)] : []));
  if (!sections.length) return say("No point of these findings has a value, so there is nothing to draw.");
  await loadLibrary();
  followMedia();
}

/** @param {string} text */
function say(text) {
  const place = document.getElementById("drawing");
  if (place) Object.assign(place, { hidden: !text, textContent: text });
}

async function main() {
  for (const table of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll("table.sortable"))) {
    giveHints(table);
    markRepeats(table);
    sortable(table);
  }
  const data = /** @type {Data} */ (JSON.parse(await unpack("data")));
  sampleList(data);
  if (document.getElementById("drawn")) await drawFigures(data);
}

main()
  .catch((error) => {
    say(`The figures could not be drawn here (${error.message}); their numbers stand in the tables below.`);
    console.error(error);
  })
  .finally(() => document.documentElement.setAttribute("data-drawn", "yes"));
