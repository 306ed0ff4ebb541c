// Charts of questions: views of plots, one or several at a time, with notes and tables.

const FEW_TIMES = 8; // plots that end at places further apart than this have a scale each

// A chart that is built when scrolled into view.
/** @param {Figure} figure @param {string} id */
function laterFigure(figure, id) {
  const shown = figure.shown.map((place) => figure.views[place]);
  const node = el("figure", { id: `figure-${id}`, class: `${figure.id} later` }, headed(figure.title, figure.unit));
  const options = figure.views.map((view, place) => /** @type {[number, string]} */ ([place, view.name]));
  const slotOf = (/** @type {View} */ view, /** @type {number} */ i) => {
    const content = el("div", {});
    const show = () => content.replaceChildren(...viewNodes(shown[i], () => reachOf(shown)));
    const pick = choice(figure.choice, options, figure.views.indexOf(view), (place) => {
      shown[i] = figure.views[Number(place)];
      keepLink(node.id);
      show();
      redraw(node);
    });
    show();
    return el("div", {}, options.length > 1 && el("div", { class: "controls" }, pick), content);
  };
  const build = () => {
    const head = el("figcaption", {}, headed(figure.title, figure.unit), el("p", { class: "key" }, figure.caption), keyOf(figure.key));
    const body = el("div", { class: shown.length > 1 ? "panels pair" : null }, ...shown.map(slotOf));
    return [head, body, figureTools(node, figure.title), ...detailsOf(figure.details)];
  };
  linkable(node.id, () => ({ views: shown.map((view) => figure.views.indexOf(view)).join(".") }), ({ views }) => {
    views.split(".").forEach((place, i) => i in shown && figure.views[Number(place)] && (shown[i] = figure.views[Number(place)]));
    later(node, build);
  });
  return later(node, build);
}

/** @param {string} title @param {string} unit */
const headed = (title, unit) => el("h3", {}, title, unit ? el("span", { class: "unit" }, ` (${unit})`) : null);

// Plots with similar ends share one scale.
/** @param {View[]} shown */
function reachOf(shown) {
  const ends = shown.flatMap((view) => view.plots.flatMap((one) => one.reach ?? []));
  return Math.max(...ends) <= FEW_TIMES * Math.min(...ends) ? Math.max(...ends) : null;
}

/** @param {View} view @param {() => number | null} reach */
function viewNodes(view, reach) {
  const kind = view.plots.length < 2 ? "single" : view.plots.some((one) => one.size === "large") ? "pair" : "";
  const panels = el("div", { class: `panels ${kind}` }, ...view.plots.map((one) => panel(one, reach)));
  return [...(view.note ? [el("p", { class: "note" }, view.note)] : []), panels, ...detailsOf(view.details)];
}

/** @param {Plot} one @param {() => number | null} reach */
function panel(one, reach) {
  const make = () => {
    const end = one.reach && (reach() ?? one.reach);
    return { data: one.data, layout: end ? { ...one.layout, xaxis: { ...one.layout.xaxis, range: [0, end] } } : one.layout };
  };
  const above = [one.title && el("h4", {}, one.title), one.key && el("p", { class: "key" }, one.key)];
  return el("div", { class: "panel" }, ...above, plot(one.label, make, one.size), one.note && el("p", { class: "note" }, one.note), ...detailsOf(one.details));
}

/** @param {Details[]} details */
const detailsOf = (details) => details.map(({ summary, tables }) => onDemand(summary, () => tables.map(textTable)));

/** @param {KeyItem[]} items */
function keyOf(items) {
  /** @type {(mark: Mark) => SVGElement} */
  const piece = ([tag, attributes, children]) => svg(tag, attributes, ...children.map(piece));
  const marked = items.map(({ before, mark, width, text }) => {
    const picture = svg("svg", { width, height: 14, "aria-hidden": "true", class: "swatch" }, ...mark.map(piece));
    return el("li", {}, before && el("span", {}, before), picture, el("span", {}, text));
  });
  return items.length ? el("ul", { class: "marks" }, ...marked) : null;
}
