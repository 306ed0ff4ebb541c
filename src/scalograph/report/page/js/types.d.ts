// What the page's data are, as report/payload.py and protocol/figure.py write them; for the type checker alone.

// Newer than the checker.
declare class DecompressionStream extends TransformStream {
  constructor(format: "gzip");
}

declare const Plotly: { react(place: Element, data: Trace[], layout: Layout, config: object): void };

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, unknown>;
type Numbers = (number | null)[];
type Trace = Record<string, unknown>;
type Mark = [tag: string, attributes: Attributes, children: Mark[]];

type State = Record<string, string>;
interface Linked { first: State; state: () => State; restore: (state: State) => void }
type Levelled = Record<string, number>;
interface Scored { run: string; score: number }
interface Ratio { value: number; low: number; high: number; how: string }
interface Box { width: number; height: number }
interface Note { name?: string; room?: [number, number]; [name: string]: unknown }
interface Axis {
  title?: { text: string };
  type?: string;
  range?: number[];
  tickvals?: number[];
  ticktext?: string[];
  [name: string]: unknown;
}
type Layout = {
  margin?: { l: number; r: number; t: number; b: number };
  annotations?: Note[];
  xaxis?: Axis;
  [name: string]: any;
};
type Make = (box: Box) => { data: Trace[]; layout: Layout };

interface TextTable { title: string; head: string[]; rows: string[][] }
interface Details { summary: string; tables: TextTable[] }
interface Plot {
  label: string;
  data: Trace[];
  layout: Layout;
  title: string;
  key: string;
  note: string;
  details: Details[];
  reach: number | null;
  size: "small" | "large";
}
interface View { plots: Plot[]; name: string; note: string; details: Details[] }
interface KeyItem { text: string; mark: Mark[]; before: string; width: number }
interface Figure {
  id: string;
  title: string;
  caption: string;
  views: View[];
  shown: number[];
  unit: string;
  choice: string;
  key: KeyItem[];
  details: Details[];
}

interface Samples {
  run: string[];
  verdicts: string[];
  verdict: number[];
  levels: Record<string, number[]>;
  scores: Record<string, Numbers>;
  left_out: Record<string, number[]>;
  digits: number | null;
  log?: Record<string, (string | number | boolean | null)[]>;
}
interface FactorData { title: string; unit: string; levels: string[]; raw: (string | number)[] }
interface Measure { id: string; title: string; unit: string; scale: number; bars: string; response?: string; key: string; shapes: object[]; folded: boolean }
/** Value, low end, high end, text; of a speedup also the band for all levels at once, and its text. */
type Value = [value: number, low: number | null, high: number | null, text: string, below?: number, above?: number, band?: string];
interface PointData {
  level: number;
  ideal: number | null;
  values: Record<string, Value | undefined>;
  rows: [first: number, count: number][];
  flags: string[];
  open?: string[]; // measures that are inconclusive here
}
interface Under { of: string; measure: string; traces: Trace[]; reach: number[]; end?: number; said?: string }
interface CurveData { group: number[]; points: PointData[]; under: Under[]; reach: (number[] | null)[] }
interface FamilyData {
  id: string;
  axis: { scale: "log" | "linear" | "category"; ordered: boolean; mode: string; at: number[]; labels: string[] };
  title: string;
  groups: string[];
  line: string | null;
  used: Record<string, number[]>;
  panels: Record<string, { first: string; choices: [value: string, text: string][] }>;
  fixed: string;
  measures: Measure[];
  under: { of: string; name: string; dash: string; symbol?: string; shown: boolean }[];
  curves: CurveData[];
  shapes: object[];
  share: Figure | null;
}
interface PanelOfCurves { title: string; levels: number[]; curves: CurveData[] }
interface Drawn { point: PointData; value: Value; x: number }
interface Span { low: number; high: number }
interface Extent extends Span { onLog: boolean; isCut: boolean }
interface Data {
  study: string;
  first: { label: string; data: Trace[]; layout: Layout } | null;
  before: Figure[];
  families: FamilyData[];
  after: Figure[];
  untimed: string;
  samples: Samples;
  responses: [name: string, shown: string, unit: string][];
  factors: Record<string, FactorData>;
}
