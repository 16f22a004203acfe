import * as l10n from '@vscode/l10n';
import { soundnessOf, type Validation } from '../../domain/soundness';
import { inTermsOfSettings } from '../shell/inTermsOfSettings';
import { SourceUnusable } from '../../repository/git';

/** One validation in a line, as the log keeps it. */
export function validationLine(validation: Validation): string {
  const { id, reasons, repetitions, seconds } = validation;
  const why = inTermsOfSettings(
    reasons.map(({ kind, explanation }) => `${kind}: ${explanation}`).join('; '),
  );
  switch (soundnessOf(validation)) {
    case 'sound':
      return l10n.t('{0} is valid ({1} repetitions in {2} s)', id, repetitions, seconds.toFixed(1));
    case 'not sound':
      return l10n.t('{0} is not valid. {1}', id, why);
    case 'not validated':
      return l10n.t('Could not validate {0}. {1}', id, why);
  }
}

/** The end of a validation in words, without the instances that were not validated. */
export function validationSummary(
  validations: readonly Validation[],
): { readonly text: string; readonly isSound: boolean } | undefined {
  const judged = validations.filter((each) => soundnessOf(each) !== 'not validated');
  const unsound = judged.filter((each) => soundnessOf(each) === 'not sound');
  const [first] = judged;
  if (first === undefined) return undefined;
  const [bad] = unsound;
  if (bad === undefined) {
    const what = judged.length === 1 ? first.id : l10n.t('{0} instances', judged.length);
    return { text: l10n.t('Valid: {0}', what), isSound: true };
  }
  const why = inTermsOfSettings(bad.reasons[0]?.explanation ?? '');
  const text =
    judged.length === 1
      ? l10n.t('Not valid: {0}: {1}', bad.id, why)
      : l10n.t('{0} of {1} not valid. {2}', unsound.length, judged.length, `${bad.id}: ${why}`);
  return { text, isSound: false };
}

/** The instances whose tests cannot run in this environment; undefined where there is none. */
export function environmentSummary(validations: readonly Validation[]): string | undefined {
  const failed = validations.filter(({ reasons }) =>
    reasons.some(({ kind }) => kind === 'environment failed'),
  );
  const [first] = failed;
  if (first === undefined) return undefined;
  const why = inTermsOfSettings(first.reasons[0]?.explanation ?? '');
  return validations.length === 1
    ? l10n.t('{0} is not validated: {1}', first.id, why)
    : l10n.t(
        '{0} of {1} not validated, since the environment failed. {2}',
        failed.length,
        validations.length,
        `${first.id}: ${why}`,
      );
}

/** What a message says first of an instance whose R could not be had. */
export const withoutSource = (id: string, repo: string): string =>
  l10n.t('{0} is not validated: could not fetch {1}', id, repo);

/**
 * Why R is not available, as a notification beside a button that chooses a folder. The log has the
 * words of git. Undefined where the error has no brief form.
 */
export function sourceProblemText(error: unknown): string | undefined {
  return error instanceof SourceUnusable && error.brief !== undefined
    ? l10n.t('{0}. Select a local clone or source release.', error.brief)
    : undefined;
}
