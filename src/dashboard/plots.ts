import { costs, samples } from './plots/costs';
import { dates, issueLength, repositories } from './plots/groups';
import type { PlotKind } from './plots/input';
import { overlap, repairs } from './plots/overlap';
import { rates } from './plots/rates';
import { reasons } from './plots/reasons';

export type { PlotHost, PlotInput, PlottedMethod } from './plots/input';

/** In the order of the page. */
export const plots: readonly PlotKind[] = [
  rates,
  reasons,
  repositories,
  issueLength,
  dates,
  overlap,
  repairs,
  costs,
  samples,
];
