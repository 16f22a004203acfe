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

/** The rules that the figure has, from the bottom of it to the top, by colours of Okabe and Ito. */
const looks = [
  ['random', '#777777', 'circle'],
  ['fails on R', '#e69f00', 'square'],
  ['majority', '#56b4e9', 'triangle'],
  ['dual agreement', '#d55e00', 'diamond2'],
  ['agreement', '#0072b2', 'circle'],
  ['oracle', '#000000', 'star'],
] as const;

/** The picture as the text of an SVG file with a background of its own. */
export function drawSelection(points: readonly FigurePoint[]): string {
  const rules = looks.map(([rule]) => rule);
  const rates = [...new Set(points.map((each) => each.rates))];
  const populations = [...new Set(points.map(({ population }) => population))];
  const shown = points.filter(({ rule }) => rules.some((each) => each === rule));
  const scales = {
    color: { domain: rules, range: looks.map(([, colour]) => colour) },
    symbol: { domain: rules, range: looks.map(([, , symbol]) => symbol) },
  } as const;
  const width = 940;
  const style = {
    background: 'white',
    color: '#222222',
    fontFamily: 'sans-serif',
    fontSize: '13px',
  };
  const facets = { fx: 'population', fy: 'rates' } as const;
  const plot = Plot.plot({
    ...{ width, height: 190 * rates.length, style, figure: false, ...scales },
    ...{ marginLeft: 56, marginRight: 12, marginTop: 50, marginBottom: 48 },
    fx: { domain: populations, label: null, padding: 0.08, axis: null },
    fy: { domain: rates, label: null, padding: 0.22, axis: null },
    x: {
      type: 'log',
      ticks: [1, 2, 3, 5, 10],
      tickFormat: 'd',
      label: 'fixes',
      labelArrow: 'none',
    },
    y: { label: null, grid: true, ticks: 5, zero: true },
    marks: [
      Plot.frame({ stroke: '#bbbbbb' }),
      Plot.text(
        populations.map((population) => ({ population })),
        {
          ...{ fx: 'population', fy: () => rates[0], text: 'population' },
          ...{ frameAnchor: 'top', dy: -34, fontWeight: 'bold' },
        },
      ),
      Plot.text(
        populations.flatMap((population) => rates.map((each) => ({ population, rates: each }))),
        { ...facets, text: 'rates', frameAnchor: 'top-left', dy: -16, fill: '#444444' },
      ),
      Plot.areaY(shown, {
        ...{ ...facets, x: 'fixes', y1: 'low', y2: 'high', fill: 'rule', fillOpacity: 0.12 },
      }),
      Plot.lineY(shown, { ...facets, x: 'fixes', y: 'share', stroke: 'rule', strokeWidth: 1.8 }),
      Plot.dot(shown, { ...facets, x: 'fixes', y: 'share', fill: 'rule', symbol: 'rule', r: 3.5 }),
    ],
  }) as unknown as Drawn;
  const legend = Plot.plot({
    ...{ width, height: 34, style, figure: false, axis: null, ...scales, margin: 14 },
    x: { domain: [0, 100] },
    marks: [
      Plot.dot(rules, {
        x: (_, at) => 16 * at,
        fill: (each: string) => each,
        symbol: (each: string) => each,
        r: 5,
      }),
      Plot.text(rules, {
        x: (_, at) => 16 * at,
        text: (each) => each,
        dx: 10,
        textAnchor: 'start',
      }),
    ],
  }) as unknown as Drawn;
  const height = 34 + 190 * rates.length;
  plot.setAttribute('y', '34');
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    `<rect width="100%" height="100%" fill="white"/>${legend.outerHTML}${plot.outerHTML}</svg>\n`
  );
}

/** What a plot is in a page. */
interface Drawn {
  readonly outerHTML: string;
  setAttribute(name: string, value: string): void;
}
