import * as l10n from '@vscode/l10n';
import type { Denominator } from '../../study/entrySchema';

/**
 * The datasets that predictions can be about: those that have an instance with one, in their order.
 * Where none has, the last, which is the one that the user has set.
 */
export function datasetsInQuestion<D extends { readonly predicted: number | undefined }>(
  possible: readonly D[],
): readonly D[] {
  const withPredictions = possible.filter(({ predicted }) => predicted !== 0);
  return withPredictions.length > 0 ? withPredictions : possible.slice(-1);
}

/** The instances that rates may be shares of, each list by id. */
export interface PossibleDenominators {
  /** All instances of the dataset. */
  readonly all: readonly string[];
  /** Those that the Instances view lists; absent where nothing is filtered. */
  readonly listed?: readonly string[];
  /** One id for each prediction of the chosen files; absent for T* and for no candidate. */
  readonly predicted?: readonly string[];
}

/** One answer to the question which instances rates are shares of. */
export interface DenominatorChoice {
  readonly label: string;
  readonly detail: string;
  readonly ids: readonly string[];
  readonly denominator: Denominator;
}

/**
 * The answers to the question which instances rates are shares of. One answer needs no question.
 * Instances with a prediction come first, since someone who names a file of few predictions rarely
 * means the whole dataset.
 */
export function denominatorChoices(possible: PossibleDenominators): DenominatorChoice[] {
  const { all, listed } = possible;
  const hasPrediction = new Set(possible.predicted ?? all);
  const predicted = all.filter((id) => hasPrediction.has(id));
  const inFilter = new Set(listed ?? all);
  const kinds: readonly (readonly [Denominator['of'], readonly string[]])[] = [
    ...(listed === undefined
      ? []
      : [['predicted and filtered', predicted.filter((id) => inFilter.has(id))] as const]),
    ['predicted', predicted],
    ...(listed === undefined ? [] : [['filtered', listed] as const]),
    ['dataset', all],
  ];
  const found = new Map<string, DenominatorChoice>();
  for (const [of, ids] of kinds) {
    const count = ids.filter((id) => hasPrediction.has(id)).length;
    // Without any prediction there is nothing to evaluate.
    if (count === 0 && of !== 'dataset') continue;
    // The widest description of equal lists is the plainest one.
    found.set(JSON.stringify([...ids].sort()), {
      label: labelOf(of, ids.length),
      detail: detailOf(ids.length, count),
      ids,
      denominator: { of, dataset: all.length },
    });
  }
  return [...found.values()];
}

function labelOf(of: Denominator['of'], count: number): string {
  switch (of) {
    case 'predicted':
      return l10n.t('Instances with a prediction: {0}', count);
    case 'filtered':
      return l10n.t('Instances that match the filter: {0}', count);
    case 'predicted and filtered':
      return l10n.t('Instances with a prediction that match the filter: {0}', count);
    case 'dataset':
      return l10n.t('All instances of the dataset: {0}', count);
  }
}

function detailOf(count: number, predicted: number): string {
  const without = count - predicted;
  if (without === 0) return l10n.t('Each has a prediction. Rates are relative to {0}.', count);
  return without === 1
    ? l10n.t('1 has no prediction and counts as a failure. Rates are relative to {0}.', count)
    : l10n.t(
        '{0} have no prediction and count as failures. Rates are relative to {1}.',
        without,
        count,
      );
}

/** The question above the answers. */
export function denominatorQuestion({ all, predicted }: PossibleDenominators): string {
  if (predicted === undefined) return l10n.t('Select Instances');
  const there = new Set(predicted);
  const instances = all.filter((id) => there.has(id)).length;
  const some =
    predicted.length === 1 ? l10n.t('1 prediction') : l10n.t('{0} predictions', predicted.length);
  return instances === 1
    ? l10n.t('{0} of 1 instance. Select what rates are relative to', some)
    : l10n.t('{0} of {1} instances. Select what rates are relative to', some, instances);
}

/** The chosen denominator after the rates of a run; empty where nobody was asked. */
export function denominatorInWords(run: {
  readonly instances: readonly unknown[];
  readonly denominator?: Denominator;
}): string {
  const { denominator, instances } = run;
  if (denominator === undefined) return '';
  const { of, dataset } = denominator;
  const count = instances.length;
  switch (of) {
    case 'dataset':
      return l10n.t('of the whole dataset ({0})', count);
    case 'predicted':
      return l10n.t('of instances with a prediction ({0} of {1} in the dataset)', count, dataset);
    case 'filtered':
      return l10n.t('of instances in the filter ({0} of {1} in the dataset)', count, dataset);
    case 'predicted and filtered':
      return l10n.t(
        'of instances in the filter with a prediction ({0} of {1} in the dataset)',
        count,
        dataset,
      );
  }
}
