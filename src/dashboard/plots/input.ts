import * as Plot from '@observablehq/plot';
import type { StudyDocument } from '../../domain/study/document';
import type { Grading } from '../../domain/study/grading';
import type { EvaluatedMethod } from '../../domain/study/methods';
import type { DrawnPlot } from '../plotCard';

/** A method that is not hidden. */
export interface PlottedMethod extends EvaluatedMethod {
  /** Place among all methods: its sign and colour stay when others are hidden. */
  readonly turn: number;
}

/** What a plot is made of. */
export interface PlotInput {
  readonly document: StudyDocument;
  /** Over the instances that the filter keeps. */
  readonly methods: readonly PlottedMethod[];
  /** Undefined for all instances. */
  readonly kept: ReadonlySet<string> | undefined;
  readonly grading: Grading;
}

/** What plots can ask of where the page is shown. */
export interface PlotHost {
  /** Lets a person choose results of code repair; undefined where nobody can be asked. */
  readonly addRepairs: (() => void) | undefined;
}

/** A plot of the page: its words, and how it is drawn. */
export interface PlotKind {
  readonly title: string;
  /** One sentence below the title. */
  readonly about: string;
  /** Of files it is saved as, without ending. */
  readonly name: string;
  readonly draw: (input: PlotInput, width: number) => DrawnPlot;
  /** Fields above the plot; `again` draws it anew. */
  readonly controls?: (again: () => void, host: PlotHost) => HTMLElement[];
}

/** Colours of the style sheet that series take turns with. */
const seriesColours = Array.from({ length: 8 }, (_, index) => `var(--series-${index + 1})`);

/** Signs that tell series apart without colour. All have an area: those of strokes alone cannot be filled. */
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
    // Room for a label below the numbers of an axis.
    ...(options.margin === undefined && { marginBottom: 42 }),
    ...options,
    style: {
      background: 'transparent',
      color: 'var(--text)',
      fontFamily: 'var(--font)',
      fontSize: '12px',
      overflow: 'visible',
    },
    // Legends are made of HTML with rules of their own: names stand in the plots instead.
    figure: false,
  });
  return made as unknown as SVGSVGElement;
}

/** Plots below each other as one picture. */
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

/** Which sign and colour is which method, as many to a row as there is room for. */
export function legend(methods: readonly PlottedMethod[], width: number): SVGSVGElement {
  const room = roomFor(methods.map(({ name }) => shortened(name)));
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
      Plot.dot(places, { x: 'x', y: 'y', fill: 'name', symbol: 'name', r: 4 }),
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

/** Room for the longest of some names beside a plot, in CSS pixels. */
export const roomFor = (names: readonly string[]): number =>
  Math.min(240, 20 + 7 * Math.max(4, ...names.map((name) => name.length)));

/** A name that fits into that room. */
export const shortened = (name: string): string =>
  name.length <= 32 ? name : `${name.slice(0, 15)}…${name.slice(-16)}`;

/** The reason why there is no plot, in the place of the plot. */
export const noPlot = (note: string): DrawnPlot => ({ note, head: [], rows: [] });
