import * as Plot from '@observablehq/plot';
import type { StudyDocument } from '../../../study/document';
import type { Grading } from '../../../study/entry';
import type { EvaluatedMethod } from '../../../study/measures';
import type { DrawnPlot } from '../plotCard';

/** A method that is not hidden. */
export interface PlottedMethod extends EvaluatedMethod {
  /** Index among all methods, so that its symbol and colour stay when others are hidden. */
  readonly turn: number;
}

/** The data of a plot. */
export interface PlotInput {
  readonly document: StudyDocument;
  /** Results on the instances that the filter keeps. */
  readonly methods: readonly PlottedMethod[];
  /** Ids that the filter keeps; undefined for all instances. */
  readonly kept: ReadonlySet<string> | undefined;
  readonly grading: Grading;
}

/** The requests that plots can make to the host. */
export interface PlotHost {
  /** Lets the user choose results of code repair; undefined without a host. */
  readonly addRepairs: (() => void) | undefined;
}

/** A kind of plot: its texts, and how to draw it. */
export interface PlotKind {
  readonly title: string;
  /** One sentence below the title. */
  readonly about: string;
  /** Name of saved files, without extension. */
  readonly name: string;
  readonly draw: (input: PlotInput, width: number) => DrawnPlot;
  /** Fields above the plot; `again` redraws it. */
  readonly controls?: (again: () => void, host: PlotHost) => HTMLElement[];
}

/** Colours of the style sheet that the series cycle through. */
const seriesColours = Array.from({ length: 8 }, (_, index) => `var(--series-${index + 1})`);

/**
 * Symbols that distinguish series without colour. Each has an area, since symbols of strokes alone
 * cannot be filled.
 */
const seriesSigns = [
  'circle',
  'square',
  'triangle',
  'diamond',
  'star',
  'cross',
  'wye',
  'hexagon',
] as const;

const inTurn = <Value>(list: readonly Value[], index: number): Value | undefined =>
  list[index % list.length];

/** The colour of each method, the same in every plot. */
export const colourScale = (methods: readonly PlottedMethod[]): Plot.ScaleOptions => ({
  type: 'ordinal',
  domain: methods.map(({ name }) => name),
  range: methods.map((method) => inTurn(seriesColours, method.turn) ?? 'currentColor'),
});

export const signScale = (methods: readonly PlottedMethod[]): Plot.ScaleOptions => ({
  type: 'ordinal',
  domain: methods.map(({ name }) => name),
  range: methods.map((method) => inTurn(seriesSigns, method.turn) ?? 'circle'),
});

/** A plot in the fonts and colours of the page. */
export function draw(options: Plot.PlotOptions): SVGSVGElement {
  const made = Plot.plot({
    // Space for a label below the numbers of an axis.
    ...(options.margin === undefined && { marginBottom: 42 }),
    ...options,
    style: {
      background: 'transparent',
      color: 'var(--text)',
      fontFamily: 'var(--font)',
      fontSize: '12px',
      overflow: 'visible',
    },
    // Plot's legends are HTML with their own style rules, so names are in the plots instead.
    figure: false,
  });
  return made as unknown as SVGSVGElement;
}

/** Stacks plots vertically into one picture. */
export function stacked(width: number, parts: readonly SVGSVGElement[]): SVGSVGElement {
  const whole = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  let height = 0;
  for (const part of parts) {
    part.setAttribute('y', String(height));
    height += part.viewBox.baseVal.height;
    whole.append(part);
  }
  whole.setAttribute('viewBox', `0 0 ${width} ${height}`);
  whole.setAttribute('width', String(width));
  whole.setAttribute('height', String(height));
  whole.setAttribute('fill', 'currentColor');
  return whole;
}

/** How signs are filled: those below them show through, where methods have the same figures. */
export const hollow = { fill: 'name', fillOpacity: 0.2, stroke: 'name', strokeWidth: 1.5 } as const;

/** The symbol and colour of each method, with as many in a row as fit. */
export function legend(methods: readonly PlottedMethod[], width: number): SVGSVGElement {
  // A gap, so that the longest name does not touch the next sign.
  const room = roomFor(methods.map(({ name }) => shortened(name))) + 16;
  const inRow = Math.max(1, Math.floor((width - 20) / room));
  const places = methods.map(({ name }, index) => ({
    name,
    x: (index % inRow) * room,
    y: Math.floor(index / inRow),
  }));
  const rows = Math.ceil(methods.length / inRow);
  return draw({
    width,
    height: 10 + 20 * rows,
    margin: 10,
    marginTop: 12,
    marginBottom: 12,
    axis: null,
    x: { domain: [0, width - 20] },
    y: { domain: [0, Math.max(1, rows - 1)], reverse: true },
    color: colourScale(methods),
    symbol: signScale(methods),
    marks: [
      Plot.dot(places, { x: 'x', y: 'y', ...hollow, symbol: 'name', r: 4 }),
      Plot.text(places, {
        x: 'x',
        y: 'y',
        text: ({ name }: (typeof places)[number]) => shortened(name),
        dx: 9,
        textAnchor: 'start',
      }),
    ],
  });
}

/** Space for the longest of some names beside a plot, in CSS pixels. */
export const roomFor = (names: readonly string[]): number =>
  Math.min(240, 20 + 7 * Math.max(4, ...names.map((name) => name.length)));

/** A name shortened to fit into that space. */
export const shortened = (name: string): string =>
  name.length <= 32 ? name : `${name.slice(0, 15)}…${name.slice(-16)}`;

/** A note in place of a plot, with the reason why there is none. */
export const noPlot = (note: string): DrawnPlot => ({ note });
