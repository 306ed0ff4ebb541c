// The texts whose contrast to what lies behind them is too low.
() => {
  const parse = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((x) => x / 255)
    .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
    .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const color = parse(getComputedStyle(node).backgroundColor);
      if (color.length === 3 || color[3] > 0.99) return color;
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll("h1,h2,h3,h4,p,li,td,th,dt,dd,caption,summary,button,label,a,svg text")];
  const low = [];
  for (const node of texts) {
    const style = getComputedStyle(node);
    if (!node.textContent.trim() || !node.getClientRects().length) continue;
    const ink = parse(node.namespaceURI.endsWith("svg") ? style.fill : style.color);
    const [a, b] = [light(ink), light(ground(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(`${node.tagName} ${node.textContent.trim().slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return low;
}
