// A crosshair through all panels of a chart, by pointer or arrow keys, with the value of each line.

const MOST_TOLD = 12;

/** @param {Family} family @param {Measure} measure @param {{ panel: PanelOfCurves, place: HTMLElement }[]} panels */
function crosshair(family, measure, panels) {
  const { at, labels } = family.data.axis;
  const order = at.map((_, i) => i).sort((a, b) => at[a] - at[b]);
  const marks = panels.map(({ panel, place }) => {
    const [rule, readout] = [el("i", { class: "cross", hidden: true }), el("div", { class: "readout", role: "status", hidden: true })];
    place.after(rule, readout);
    return { panel, place, rule, readout };
  });
  let shown = -1;
  const show = (/** @type {number} */ level) => {
    if (level === shown) return;
    shown = level;
    for (const { panel, place, rule, readout } of marks) {
      const axis = /** @type {any} */ (place)._fullLayout?.xaxis;
      rule.hidden = readout.hidden = level < 0 || !axis;
      if (rule.hidden) continue;
      const left = place.offsetLeft + axis._offset + axis.d2p(at[level]);
      Object.assign(rule.style, { left: `${left}px`, top: `${place.offsetTop}px` });
      readout.style.top = `${place.offsetTop}px`;
      readout.classList.toggle("left", left > place.offsetLeft + place.clientWidth / 2);
      readout.replaceChildren(el("b", {}, `${family.data.title}: ${labels[level]}`), ...valuesAt(family, measure, panel, level));
    }
  };
  const onpointermove = (/** @type {PointerEvent} */ { buttons, clientX, currentTarget }) => {
    const place = /** @type {any} */ (currentTarget);
    const axis = place._fullLayout?.xaxis;
    if (!axis || buttons) return;
    const x = axis.p2d(clientX - place.getBoundingClientRect().left - axis._offset);
    show(order.reduce((best, i) => (Math.abs(at[i] - x) < Math.abs(at[best] - x) ? i : best)));
  };
  const onkeydown = (/** @type {KeyboardEvent} */ { key }) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (step) show(order[Math.min(Math.max(order.indexOf(shown) + step, 0), order.length - 1)]);
    if (key === "Escape") show(-1);
  };
  for (const { place } of marks) filled(place, { tabindex: 0, onpointermove, onkeydown, onpointerleave: () => show(-1), onblur: () => show(-1) });
}

/** @param {Family} family @param {Measure} measure @param {PanelOfCurves} panel @param {number} level */
function valuesAt(family, measure, panel, level) {
  const told = family.visible(panel).flatMap((curve) => {
    const value = curve.points.find((point) => point.level === level)?.values[measure.id];
    if (!value) return [];
    const line = family.lineOf(curve);
    const name = family.line === null ? null : el("span", {}, family.factors[family.line].levels[line]);
    return [el("p", {}, lineSwatch(family.style(line)), name, ` ${value[3]} ${measure.unit}`)];
  });
  return told.length > MOST_TOLD ? [...told.slice(0, MOST_TOLD), el("p", {}, `and ${told.length - MOST_TOLD} more`)] : told;
}
