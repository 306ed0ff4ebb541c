// Who is faster, in words on the map: where it is sure, where there is room, and where no pair was measured.

const EVEN_LETTER = 7; // pixels that a letter takes at most
const EVEN_LINE = 17; // and a line of them

function evenRegion(even, one, wins, look, inner, across, up) {
  const name = wins ? even.other : even.baseline;
  const [perX, perY] = [inner.width / (across[1] - across[0]), inner.height / (up[1] - up[0])];
  const labels = [[`${name} is faster`], [name, "is faster"]].map((lines) => {
    const length = EVEN_LETTER * Math.max(...lines.map((line) => line.length)) + 8;
    return { lines, across: length / perX, up: (EVEN_LINE * lines.length) / perY };
  });
  const spots = labels.flatMap((label) => evenSpots(one, wins, label));
  const spot = spots.find((each) => !one.pairs.some((pair) => evenCovers(each, pair, 7 / perX, 7 / perY))) ?? spots[0];
  if (!spot) return null;
  const text = spot.lines.map(plain).join("<br>");
  return { x: spot.x, y: spot.y, text, showarrow: false, borderpad: 2, bgcolor: faded(look.paper, 0.75), font: { size: 13, color: look.ink } };
}

// Places between two rows where all rows that the label covers are sure, the longest first: its middle and its ends.
function evenSpots(one, wins, label) {
  const found = one.rows.slice(1).flatMap((row, j) => {
    const y = (row.at + one.rows[j].at) / 2;
    const covered = one.rows.filter((other, k) => k === j || k === j + 1 || Math.abs(other.at - y) < label.up / 2);
    const columns = one.x.map((x, i) => ({ x, isSure: covered.every((other) => (wins ? other.low[i] > 1 : other.high[i] < 1)) }));
    const runs = evenRuns(columns, (column) => (column.isSure ? "sure" : null)).map(([first, last]) => [one.x[first], one.x[last]]);
    return runs.filter(([from, to]) => to - from > label.across).map(([from, to]) => ({ from, to, y }));
  });
  found.sort((a, b) => b.to - b.from - (a.to - a.from));
  const half = label.across / 2;
  return found.flatMap(({ from, to, y }) => [(from + to) / 2, to - half, from + half].map((x) => ({ ...label, x, y })));
}

const evenCovers = (spot, pair, wide, tall) => Math.abs(pair.x - spot.x) < spot.across / 2 + wide && Math.abs(pair.y - spot.y) < spot.up / 2 + tall;
