import * as Plot from '@observablehq/plot';
import { reasonCounts, summariseMethod } from '../../../study/measures';
import { reasonsTable } from '../../../study/tables';
import { type PlotKind, draw, noPlot, roomFor, shortened } from './input';

/** The reasons of instances without success, by method. */
export const reasons: PlotKind = {
  title: 'Reasons for failure',
  about:
    'Each unsuccessful instance has one reason. The number and shade of a cell show the count.',
  name: 'reasons',
  draw({ methods, grading }, width) {
    const rows = methods.flatMap((method) =>
      reasonCounts(method)
        .filter(({ reason }) => reason !== 'success')
        .map(({ reason, count }) => ({ name: method.name, reason, count })),
    );
    if (rows.length === 0) return noPlot('All instances succeed, or none has run yet.');
    const totals = new Map<string, number>();
    for (const { reason, count } of rows) totals.set(reason, (totals.get(reason) ?? 0) + count);
    const order = [...totals].sort((a, b) => b[1] - a[1]).map(([reason]) => reason);
    const most = Math.max(...rows.map(({ count }) => count));
    return {
      svg: draw({
        width,
        height: 110 + 22 * order.length,
        marginLeft: roomFor(order),
        marginTop: 90,
        marginRight: 60,
        marginBottom: 10,
        x: {
          label: null,
          domain: methods.map(({ name }) => name),
          axis: 'top',
          tickRotate: -30,
          tickFormat: shortened,
        },
        y: { label: null, domain: order },
        marks: [
          Plot.cell(rows, {
            x: 'name',
            y: 'reason',
            fill: 'var(--series-1)',
            fillOpacity: ({ count }: (typeof rows)[number]) => 0.08 + (0.5 * count) / most,
            inset: 0.5,
          }),
          Plot.text(rows, { x: 'name', y: 'reason', text: 'count' }),
        ],
      }),
      table: reasonsTable(methods.map((method) => summariseMethod(method, { grading }))),
    };
  },
};
