// Tables work at once; then the data, then the drawing library, then one figure after another.

for (const table of document.querySelectorAll("table.sortable")) {
  giveHints(table);
  markRepeats(table);
  sortable(table);
}

function familySection(data, factors, samples) {
  const family = new Family(data, factors);
  const node = el("div", { class: "family" });
  const build = () => {
    const figures = family.measures.map((measure) => measureFigure(family, measure, samples));
    const share = shareFigure(family);
    if (share) figures.push(share);
    const fixed = family.fixed ? el("p", { class: "note" }, `All with ${family.fixed}.`) : null;
    const redrawn = () => figures.flatMap((figure) => figure.draws).forEach((draw) => draw());
    const head = el("div", { class: "family-head" }, controls(family, rebuild), legend(family, redrawn), lawLegend(family, redrawn));
    const few = family.panels().length === 1;
    const measures = el("div", { class: few ? "measures few" : "measures" }, ...figures.map((figure) => figure.node));
    node.replaceChildren(...[el("h3", { class: "quiet" }, `Along ${family.title}`), head, fixed, measures].filter(Boolean));
    return figures.flatMap((figure) => figure.draws);
  };
  const rebuild = () => {
    const focus = [...node.querySelectorAll("select")].indexOf(document.activeElement);
    build().forEach((draw) => draw());
    node.querySelectorAll("select")[focus]?.focus();
  };
  return { node, draws: build() };
}

async function loadLibrary() {
  const script = el("script", {});
  script.nonce = document.currentNonce;
  script.textContent = await unpack("library");
  document.head.append(script);
}

async function drawFigures(data) {
  const even = data.even ? evenSection(data.even) : null;
  if (even) byId("even").append(even.node);
  const surface = data.surfaces.length ? surfaceSection(data.surfaces) : null;
  if (surface) byId("surfaces").append(surface.node);
  const families = data.families.filter((family) => family.measures.length).map((family) => familySection(family, data.factors, data.samples));
  families.forEach((section) => byId("families").append(section.node));
  const sections = [even, surface, ...families].filter(Boolean);
  if (data.traces.length) {
    const section = traceSection(data.traces);
    byId("traces").append(section.node);
    sections.push(section);
  }
  if (data.timelines.length) {
    const section = timelineSection(data.timelines);
    byId("timelines").append(section.node);
    sections.push(section);
  } else if (data.untimed) byId("timelines").append(el("p", { class: "note" }, data.untimed));
  if (!sections.length) return say("No point of these findings has a value, so there is nothing to draw.");
  await loadLibrary();
  for (const draw of sections.flatMap((section) => section.draws)) {
    draw();
    await breathe();
  }
  followMedia();
}

function say(text) {
  const place = byId("drawing");
  if (place) Object.assign(place, { hidden: !text, textContent: text });
}

async function main() {
  const data = JSON.parse(await unpack("data"));
  sampleList(data);
  if (byId("figures")) await drawFigures(data);
}

document.currentNonce = document.currentScript.nonce;
main()
  .catch((error) => {
    say(`The figures could not be drawn here (${error.message}); their numbers stand in the tables below.`);
    console.error(error);
  })
  .finally(() => document.documentElement.setAttribute("data-drawn", "yes"));
