import * as l10n from '@vscode/l10n';
import type { TestHint } from './testHints';
import type { UnrelatedFailure } from '../../evaluation/unrelatedFailure';

/** Advice for a test that passes on R. */
const assertTheIssue = (): string =>
  l10n.t('Assert what the issue says should happen, so that the test fails on R.');

/** The advice of a hint, for a place that already shows the result of the test. */
export function adviceOn(hint: TestHint): string {
  return hint.kind === 'passes on R' ? assertTheIssue() : hintInWords(hint);
}

/** What is wrong with a test, and what to do about it. */
export function hintInWords(hint: TestHint): string {
  switch (hint.kind) {
    case 'passes on R':
      return l10n.t('Passes on R: does not reproduce the issue. {0}', assertTheIssue());
    case 'fails on both sides':
      return l10n.t(
        'Fails on both sides: it asks for something that the fix does not do. Compare the outputs of both sides, and assert only what the issue asks for.',
      );
    case 'fails on R∘X* only':
      return l10n.t(
        'Fails on R∘X* only: it depends on behaviour that the fix changes. Assert what the issue asks for.',
      );
    case 'unrelated failure':
      return hint.both ? brokenInWords(hint.failure) : missingOnRInWords(hint.failure);
  }
}

/** Explains a test that fails on both sides and seems to be faulty itself. */
function brokenInWords({ reason, missing, importedBy }: UnrelatedFailure): string {
  const what = missing ?? l10n.t('what it names');
  switch (reason) {
    case 'import error':
      if (importedBy !== undefined) {
        return l10n.t(
          'Fails on both sides because {0} cannot be imported, which {1} needs. The test is not to blame: install it where the tests run, or make an environment for this instance.',
          what,
          importedBy,
        );
      }
      return l10n.t(
        'Fails on both sides with an import error, which looks unrelated to the issue: {0} cannot be imported. Import what R has.',
        what,
      );
    case 'syntax error':
      return l10n.t(
        'Fails on both sides with a syntax error, which looks unrelated to the issue. Correct the file so that Python can read it.',
      );
    case 'fixture error':
      return l10n.t(
        'Fails on both sides before the test begins, which looks unrelated to the issue: {0} is missing or cannot be set up. Correct the fixture, or use one that R has.',
        what,
      );
    case 'undefined name':
      return l10n.t(
        'Fails on both sides because of a name that does not exist, which looks unrelated to the issue: {0}. Define or import it, or use what R has.',
        what,
      );
  }
}

/** Explains a test that fails only on R, apparently because R lacks something that the fix adds. */
function missingOnRInWords({ reason, missing }: UnrelatedFailure): string {
  const what = missing ?? l10n.t('what it names');
  switch (reason) {
    case 'import error':
    case 'undefined name':
      return l10n.t(
        'Fails on R because R has no {0}. Keep the test only if the issue names {0}; otherwise it guesses at the fix, so use what R has.',
        what,
      );
    case 'syntax error':
      return l10n.t(
        'Fails on R with a syntax error. Keep the test only if the issue is about that; otherwise correct the file so that Python can read it on R.',
      );
    case 'fixture error':
      return l10n.t(
        'Fails on R before the test begins: {0} is missing or cannot be set up. Keep the test only if the issue is about that; otherwise move what shows the issue into the test.',
        what,
      );
  }
}
