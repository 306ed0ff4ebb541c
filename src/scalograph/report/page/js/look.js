// Colors, dashes and markers. Colors are roles of the style sheet, which holds both schemes; dash and marker distinguish
// lines of one color.

const COLORS = 8;
const DASHES = ["solid", "8px,3px", "2px,3px", "9px,3px,2px,3px", "5px,2px", "12px,4px", "1px,2px", "6px,2px,1px,2px,1px,2px"];
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star"];
const ROLE = /^(ink|muted|rule|paper|wait|line-\d)(?:([/~])([\d.]+))?$/;

// Kinds repeat once colors run out, each time shifted by one.
/** @param {string[]} kinds @param {number} style */
const shifted = (kinds, style) => kinds[(style + Math.floor(style / COLORS)) % kinds.length];

/** The letters that the figures are set in. */
const font = () => getComputedStyle(document.documentElement).getPropertyValue("--sans").trim();

// Resolve a color role: opaque, translucent (`/`) or mixed into the paper (`~`).
/** @param {string} text */
function color(text) {
  const [, role, how, share] = ROLE.exec(text) ?? [];
  if (!role) return text;
  const [red, green, blue] = hex(role);
  if (how === "/") return `rgba(${red},${green},${blue},${share})`;
  if (!how) return `rgb(${red},${green},${blue})`;
  const paper = hex("paper");
  return `rgb(${[red, green, blue].map((part, i) => Math.round(paper[i] + (part - paper[i]) * Number(share))).join(",")})`;
}

/** @param {string} role */
function hex(role) {
  const text = getComputedStyle(document.documentElement).getPropertyValue(`--${role}`).trim();
  return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
}

// Resolve the color roles in a value: only color keys hold roles.
/** @param {any} value @param {boolean} isColor @returns {any} */
function painted(value, isColor = false) {
  if (typeof value === "string") return isColor ? color(value) : value;
  if (Array.isArray(value)) return isColor || typeof value[0] === "object" ? value.map((each) => painted(each, isColor)) : value;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, painted(each, /color(scale)?$/.test(name))]));
}
