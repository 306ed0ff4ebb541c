// What colors and marks of break-even mean, in words beside a piece of each.

function evenKey(even) {
  const list = el("ul", { class: "even-key" });
  const item = (mark, text) => list.append(el("li", {}, mark, el("span", {}, text)));
  if (even.y) list.append(evenScale(even));
  const rows = even.maps.flatMap((one) => one.rows);
  if (!even.y) item(evenPiece("curve"), "speedup");
  if (!even.y) item(evenPiece("even"), "even");
  if (even.y && rows.some((row) => row.location !== null)) item(evenPiece("line"), "break-even");
  if (rows.some((row) => row.band)) item(evenPiece("open"), "not known who is faster");
  item(evenPiece("full"), `a pair measured, ${even.other} faster`);
  item(evenPiece("empty"), "a pair measured, not faster");
  return list;
}

const EVEN_PIECES = {
  line: () => [svg("line", { x1: 1, y1: 7, x2: 35, y2: 7, class: "even-ink", "stroke-width": 3.5 })],
  curve: () => [svg("rect", { x: 1, y: 2, width: 34, height: 10, class: "fill-0", opacity: 0.22 }), svg("line", { x1: 1, y1: 7, x2: 35, y2: 7, class: "stroke-0", "stroke-width": 2.4 })],
  even: () => [svg("rect", { x: 1, y: 1, width: 34, height: 12, class: "even-gray" }), svg("line", { x1: 1, y1: 7, x2: 35, y2: 7, class: "law-line", "stroke-width": 1.5 })],
  open: () => [
    ...[2, 34].map((x) => svg("line", { x1: x, y1: 0, x2: x, y2: 14, class: "even-ink", "stroke-width": 1.2, "stroke-dasharray": "5 3" })),
    ...[7, 14, 21, 28].flatMap((x) => [4, 10].map((y) => svg("circle", { cx: x, cy: y, r: 1.1, class: "even-dot" }))),
  ],
  full: () => [svg("circle", { cx: 18, cy: 7, r: 4, class: "even-dot" })],
  empty: () => [svg("circle", { cx: 18, cy: 7, r: 4, class: "even-ring", "stroke-width": 1.6 })],
};

const evenPiece = (name) => svg("svg", { width: 36, height: 14, "aria-hidden": "true", class: "swatch" }, ...EVEN_PIECES[name]());

// The colors of the map from one end to the other; the page's own color is under them, as in the map.
function evenScale(even) {
  const gradient = svg("linearGradient", { id: "even-colors" }, ...evenStops(even).map(([offset, side, strength]) => svg("stop", { offset, class: `even-${side}`, "stop-opacity": strength })));
  const bar = svg("svg", { width: 120, height: 14, "aria-hidden": "true", class: "swatch" }, svg("defs", {}, gradient), svg("rect", { x: 0.5, y: 1, width: 119, height: 12, fill: "url(#even-colors)", class: "even-frame" }));
  const most = `${2 ** even.octaves}\u00d7${even.is_cut ? " or more" : ""}`;
  return el("li", { class: "even-scale" }, el("span", {}, `${even.baseline} faster, ${most}`), bar, el("span", {}, `${even.other} faster, ${most}`));
}
