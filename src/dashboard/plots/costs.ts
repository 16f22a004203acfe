import * as Plot from '@observablehq/plot';
import { costsOf, type Total } from '../../study/costs';
import { passAtK } from '../../study/passAtK';
import { solvedBy } from '../../study/overlap';
import { number, seconds } from '../../study/numbers';
import {
  colourScale,
  draw,
  hollow,
  legend,
  noPlot,
  signScale,
  stacked,
  type PlotKind,
} from './input';

/** The paper's tables 9 to 11. */
export const costs: PlotKind = {
  title: 'Cost and time',
  about:
    'Cost and time of making and evaluating the candidates, where predictions and runs record them.',
  name: 'costs',
  draw({ methods, grading }, width) {
    const rows = methods.map((method) => ({
      of: costsOf(method, grading),
      share:
        method.selected.length === 0
          ? 0
          : (100 * solvedBy(method, grading).size) / method.selected.length,
    }));
    if (rows.every(({ of }) => of.candidates === 0)) return noPlot('There is no candidate yet.');
    const mean = (total: Total | undefined, say: (of: number) => string): string =>
      total === undefined ? '–' : say(total.mean);
    const points = rows.flatMap(({ of, share }) =>
      of.dollars === undefined ? [] : [{ name: of.name, dollars: of.dollars.sum, share }],
    );
    return {
      ...(points.length > 0 && {
        svg: stacked(width, [
          legend(methods, width),
          draw({
            width,
            height: 260,
            marginRight: 30,
            x: { label: 'US dollars for all instances', zero: true, grid: true },
            y: { label: 'S (%)', zero: true, grid: true },
            color: colourScale(methods),
            symbol: signScale(methods),
            marks: [
              Plot.dot(points, { x: 'dollars', y: 'share', ...hollow, symbol: 'name', r: 5 }),
            ],
          }),
        ]),
      }),
      head: [
        ...['Method', '$ in all', '$ per candidate', '$ per success', 'tokens in', 'tokens out'],
        ...['making, each', 'evaluating, each', 'evaluating, in all'],
      ],
      rows: rows.map(({ of }) => [
        of.name,
        of.dollars === undefined ? '–' : of.dollars.sum.toFixed(2),
        mean(of.dollars, (value) => value.toFixed(3)),
        of.dollarsPerSuccess === undefined ? '–' : of.dollarsPerSuccess.toFixed(2),
        mean(of.inputTokens, number),
        mean(of.outputTokens, number),
        mean(of.makingSeconds, seconds),
        mean(of.evaluationSeconds, seconds),
        of.evaluationSeconds === undefined ? '–' : seconds(of.evaluationSeconds.sum),
      ]),
    };
  },
};

/** Pass@k of methods with several samples. */
export const samples: PlotKind = {
  title: 'Pass@k',
  about: 'Chance in percent that one of k samples is a success, by the unbiased estimator.',
  name: 'pass-at-k',
  draw({ methods: all, grading }, width) {
    const methods = all.filter(
      ({ oracleOf, sampleCount }) => oracleOf === undefined && sampleCount > 1,
    );
    if (methods.length === 0) return noPlot('No method has several samples for an instance.');
    const rows = methods.map((method) => ({ name: method.name, at: passAtK(method, grading) }));
    const points = rows.flatMap(({ name, at }) =>
      at.map(({ k, mean }) => ({ name, k, share: 100 * mean })),
    );
    const most = Math.max(...points.map(({ k }) => k));
    return {
      svg: stacked(width, [
        legend(methods, width),
        draw({
          width,
          height: 260,
          x: { label: 'k', domain: [1, most], ticks: Math.min(10, most - 1), tickFormat: 'd' },
          y: { label: 'Pass@k (%)', grid: true, zero: true },
          color: colourScale(methods),
          symbol: signScale(methods),
          marks: [
            Plot.line(points, { x: 'k', y: 'share', stroke: 'name' }),
            Plot.dot(points, { x: 'k', y: 'share', ...hollow, symbol: 'name', r: 4 }),
          ],
        }),
      ]),
      head: ['Method', ...Array.from({ length: most }, (_, index) => `Pass@${index + 1}`)],
      rows: rows.map(({ name, at }) => [name, ...at.map(({ mean }) => (100 * mean).toFixed(1))]),
    };
  },
};
