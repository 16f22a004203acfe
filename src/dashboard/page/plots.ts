import { costs, samples } from './plots/costs';
import { dateGroups, issueLengthGroups, repositoryGroups } from './plots/groups';
import type { PlotKind } from './plots/input';
import { overlap, repairs } from './plots/overlap';
import { successRates } from './plots/rates';
import { reasons } from './plots/reasons';

export type { PlotHost, PlotInput, PlottedMethod } from './plots/input';

/** The plots in the order of the page. */
export const plots: readonly PlotKind[] = [
  successRates,
  reasons,
  repositoryGroups,
  issueLengthGroups,
  dateGroups,
  overlap,
  repairs,
  costs,
  samples,
];
