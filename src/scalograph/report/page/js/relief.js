// The surface as a relief: our own drawing, because the library's part that draws in depth is larger than a page may be.

const RELIEF = { width: 640, height: 380, foot: 24, turn: -30, tilt: 30 };

function reliefFigure(one) {
  const state = { turn: RELIEF.turn, tilt: RELIEF.tilt, scale: 1 };
  const label = `Relief of ${one.measure} over ${one.x.title} and ${one.y.title}; numbers in the table below the figure`;
  const picture = svg("svg", { class: "relief", role: "img", "aria-label": label });
  const draw = () => {
    if (!picture.isConnected) return drawings.delete(draw);
    // Where the page is narrow the picture is smaller, and its text is not.
    state.scale = Math.min(1, picture.clientWidth / RELIEF.width || 1);
    picture.setAttribute("viewBox", [0, 0, RELIEF.width * state.scale, RELIEF.height * state.scale + RELIEF.foot].join(" "));
    picture.replaceChildren(...relief(one, state, theme()));
  };
  drawings.add(draw);
  const slider = (name, title, min, max) => {
    const set = (event) => {
      state[name] = Number(event.target.value);
      draw();
    };
    return el("label", { class: "choice" }, el("span", {}, title), el("input", { type: "range", min, max, step: 5, value: state[name], oninput: set }));
  };
  const row = el("div", { class: "controls", role: "group", "aria-label": "From where the relief is seen" }, slider("turn", "Turn", -180, 180), slider("tilt", "Tilt", 5, 85));
  const head = el("figcaption", {}, el("h3", {}, `${one.measure}: relief`), el("p", { class: "key" }, "Height: time. Green: a CPU for each. Dashed: the ridge. Few CPUs, where it is high, are at the back. The sliders turn it, with the arrow keys too."));
  return { node: el("figure", { class: "surface" }, head, row, picture), draw };
}

// Places on the unit cube: levels true to their numbers, time from zero.
function cube(one) {
  const to = (levels) => levels.map((n) => (n - levels[0]) / (levels[levels.length - 1] - levels[0] || 1));
  const top = Math.max(0, ...one.z.flat().filter((z) => z !== null)) || 1;
  return { x: to(one.x.levels), y: to(one.y.levels), z: one.z.map((row) => row.map((z) => (z === null ? null : z / top))), top };
}

// Seen from far away: turned about the vertical, then tilted. Further back is larger `depth`. Few CPUs are at the back,
// so that the high part hides nothing.
function seen(state) {
  const [turn, tilt] = [state.turn, state.tilt].map((degrees) => (degrees * Math.PI) / 180);
  return ([x, y, z]) => {
    const [a, b] = [x - 0.5, 0.5 - y];
    const side = a * Math.cos(turn) - b * Math.sin(turn);
    const back = a * Math.sin(turn) + b * Math.cos(turn);
    const up = back * Math.sin(tilt) + (z - 0.45) * 0.8 * Math.cos(tilt);
    const [across, down] = [RELIEF.width / 2 + side * 380, RELIEF.height / 2 + 20 - up * 250];
    return { x: across * state.scale, y: down * state.scale, depth: back * Math.cos(tilt) - z * Math.sin(tilt) };
  };
}

function relief(one, state, look) {
  const places = cube(one);
  const eye = seen(state);
  const patches = patchesOf(one, places).map((patch) => ({ ...patch, seen: patch.corners.map(eye) }));
  patches.sort((a, b) => far(b) - far(a));
  const color = (patch) => (patch.flat ? mixed(look.paper, look.lines[2], 0.5) : mixed(look.paper, look.lines[0], 0.08 + 0.75 * patch.height));
  const drawn = patches.map((patch) => svg("path", { d: `${line(patch.seen)}Z`, fill: color(patch), stroke: look.paper, "stroke-width": 0.7, "stroke-linejoin": "round" }));
  return [...frame(one, places, eye, look), ...drawn, ...ridge(one, places, eye, look)];
}

const far = (patch) => patch.seen.reduce((sum, corner) => sum + corner.depth, 0) / patch.seen.length;
const line = (points) => points.map((p, i) => `${i ? "L" : "M"}${p.x.toFixed(1)} ${p.y.toFixed(1)}`).join("");

// A patch between four treatments, or two where the ridge divides it; none where a corner was not measured.
function patchesOf(one, { x, y, z }) {
  const found = [];
  const patch = (flat, ...corners) => {
    const places = corners.map(([i, j]) => [x[i], y[j], z[j][i]]);
    if (places.some((place) => place[2] === null)) return;
    found.push({ corners: places, height: places.reduce((sum, place) => sum + place[2], 0) / places.length, flat });
  };
  const isRidge = (i, j) => one.x.levels[i] === one.y.levels[j];
  for (let j = 0; j + 1 < y.length; j++) {
    for (let i = 0; i + 1 < x.length; i++) {
      const [near, right, across, left] = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
      if (isRidge(i, j) && isRidge(i + 1, j + 1)) {
        patch(true, near, across, left);
        patch(false, near, right, across);
      } else patch(one.x.levels[i + 1] <= one.y.levels[j], near, right, across, left);
    }
  }
  return found;
}

function ridge(one, { x, y, z }, eye, look) {
  const points = one.y.levels.map((cpus, j) => [one.x.levels.indexOf(cpus), j]).filter(([i, j]) => i >= 0 && z[j][i] !== null);
  const places = points.map(([i, j]) => eye([x[i], y[j], z[j][i]]));
  const marks = places.map((p) => svg("circle", { cx: p.x, cy: p.y, r: 3.4, fill: look.ink }));
  return places.length > 1 ? [svg("path", { d: line(places), fill: "none", stroke: look.ink, "stroke-width": 2.6, "stroke-dasharray": "5 4" }), ...marks] : marks;
}

// The floor, the upright at its left, and the ends of the three axes in numbers.
function frame(one, places, eye, look) {
  const corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]];
  const left = corners.reduce((best, corner) => (eye(corner).x < eye(best).x ? corner : best));
  const post = [left, [left[0], left[1], 1]].map(eye);
  const rule = (points, end = "") => svg("path", { d: line(points) + end, fill: "none", stroke: look.rule, "stroke-width": 1.2 });
  const text = (p, words, anchor = "middle", dy = 16) => svg("text", { x: p.x.toFixed(1), y: (p.y + dy).toFixed(1), "text-anchor": anchor, class: "relief-text" }, words);
  const near = (a, b) => (eye(a).depth < eye(b).depth ? a : b);
  const row = near([0.5, 0, 0], [0.5, 1, 0])[1];
  const column = near([0, 0.5, 0], [1, 0.5, 0])[0];
  const ends = (axis) => [axis.levels[0], axis.levels[axis.levels.length - 1]].map(String);
  const [x, y] = [ends(one.x), ends(one.y)];
  const aside = eye([column, 0.5, 0]).x < eye([1 - column, 0.5, 0]).x ? -14 : 14;
  const beside = (place, words) => text({ x: eye(place).x + aside, y: eye(place).y }, words, aside < 0 ? "end" : "start", 12);
  return [
    rule(corners.map(eye), "Z"), rule(post),
    text(eye([0.03, row, 0]), x[0]), text(eye([0.97, row, 0]), x[1]), text(eye([0.5, row, 0]), short(one.x.title, 24), "middle", 26),
    beside([column, 0.05, 0], y[0]), beside([column, 0.95, 0], y[1]), beside([column, 0.5, 0], short(one.y.title, 16)),
    text(post[1], `${tidy(places.top)} ${one.unit}`, "middle", -8),
  ];
}
