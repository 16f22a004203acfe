// Runs in a page; `writeSelectionFigure.ts` bundles it.
import * as Plot from '@observablehq/plot';

/** One point of a line. Shares are in percent. */
export interface FigurePoint {
  readonly population: string;
  readonly rates: string;
  readonly fixes: number;
  readonly rule: string;
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** The rules that the figure has, in colours of Okabe and Ito. */
const looks = [
  ['random', '#777777', 'circle'],
  ['fails on R', '#e69f00', 'square'],
  ['majority', '#56b4e9', 'triangle'],
  ['dual agreement', '#d55e00', 'diamond2'],
  ['agreement', '#0072b2', 'circle'],
  ['oracle', '#000000', 'star'],
] as const;

const width = 940;
const style = {
  ...{ background: 'white', color: '#222222', fontFamily: 'sans-serif', fontSize: '13px' },
  overflow: 'visible',
};
const rules = looks.map(([rule]) => rule);
const scales = {
  color: { domain: rules, range: looks.map(([, colour]) => colour) },
  symbol: { domain: rules, range: looks.map(([, , symbol]) => symbol) },
} as const;

/** The picture as the text of an SVG file with a background of its own. */
export function drawSelection(points: readonly FigurePoint[]): string {
  const rates = [...new Set(points.map((each) => each.rates))];
  const parts = [
    legend(),
    ...rates.map((rate, at) =>
      row(
        points.filter((each) => each.rates === rate),
        { isFirst: at === 0, isLast: at === rates.length - 1 },
      ),
    ),
  ];
  let height = 0;
  for (const part of parts) {
    part.setAttribute('y', String(height));
    height += Number(part.getAttribute('height'));
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    `<rect width="100%" height="100%" fill="white"/>${parts.map((part) => part.outerHTML).join('')}</svg>\n`
  );
}

/** The panels of one pair of rates, with a scale of their own. */
function row(
  points: readonly FigurePoint[],
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
): Drawn {
  const shown = points.filter(({ rule }) => rules.some((each) => each === rule));
  const populations = [...new Set(points.map(({ population }) => population))];
  const titles = populations.map((population) => ({ population }));
  const ends = shown.flatMap(({ low, high }) => [low, high]);
  // Side by side, so that the intervals of several rules can be told apart.
  const x = ({ fixes, rule }: FigurePoint): number =>
    fixes * 1.03 ** (rules.findIndex((each) => each === rule) - (rules.length - 1) / 2);
  const place = { fx: 'population', x } as const;
  const [marginTop, marginBottom] = [isFirst ? 58 : 34, isLast ? 46 : 16];
  return drawnBy({
    ...{ width, height: 150 + marginTop + marginBottom, style, figure: false, ...scales },
    ...{ marginLeft: 56, marginRight: 12, marginTop, marginBottom },
    fx: { domain: populations, label: null, padding: 0.08, axis: null },
    x: {
      ...{ type: 'log', domain: [0.88, 11.4], ticks: [1, 2, 3, 5, 10] },
      tickFormat: isLast ? 'd' : () => '',
      label: null,
    },
    y: {
      label: null,
      grid: true,
      ticks: 5,
      domain: [Math.min(...ends), Math.max(...ends)],
      nice: true,
    },
    marks: [
      Plot.frame({ stroke: '#bbbbbb' }),
      !isFirst
        ? null
        : Plot.text(titles, {
            ...{ fx: 'population', text: 'population', frameAnchor: 'top', dy: -42 },
            fontWeight: 'bold',
          }),
      Plot.text([points[0]], {
        ...{ fx: 'population', text: 'rates' },
        ...{ frameAnchor: 'top-left', dy: -18 },
      }),
      !isLast
        ? null
        : Plot.text(titles, {
            ...{ fx: 'population', text: () => 'number of fixes', frameAnchor: 'bottom', dy: 38 },
          }),
      Plot.ruleX(shown, {
        ...{ ...place, y1: 'low', y2: 'high' },
        stroke: 'rule',
        strokeWidth: 1.2,
      }),
      Plot.lineY(shown, { ...place, y: 'share', stroke: 'rule', strokeWidth: 1.8 }),
      Plot.dot(shown, { ...place, y: 'share', fill: 'rule', symbol: 'rule', r: 3 }),
    ],
  });
}

/** What the picture shows, and the look of each rule. */
function legend(): Drawn {
  const place = { x: (_: unknown, at: number): number => 16 * at, y: () => 0 };
  const title = 'Chosen tests that go F→P, in %, among five tests; bars are intervals of 95 %';
  return drawnBy({
    ...{ width, height: 66, style, figure: false, axis: null, ...scales },
    ...{ marginLeft: 14, marginTop: 30, marginBottom: 14 },
    x: { domain: [0, 100] },
    y: { domain: [0, 1] },
    marks: [
      Plot.text([title], {
        frameAnchor: 'top-left',
        dx: -5,
        dy: -16,
        text: (each: string) => each,
      }),
      Plot.dot(rules, {
        ...place,
        fill: (each: string) => each,
        symbol: (each: string) => each,
        r: 5,
      }),
      Plot.text(rules, { ...place, text: (each: string) => each, dx: 10, textAnchor: 'start' }),
    ],
  });
}

/** Without the types of a page, which only the dashboard has. */
function drawnBy(options: Plot.PlotOptions): Drawn {
  const plot: unknown = Plot.plot(options);
  return plot as Drawn;
}

/** What a plot is in a page. */
interface Drawn {
  readonly outerHTML: string;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
}
