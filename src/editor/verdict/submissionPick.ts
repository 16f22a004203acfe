import * as l10n from '@vscode/l10n';
import type { CheckedQuestion, SubmissionAnswer, SubmissionCheck } from '../../method/tools';

/** A check before submitting as a list to read. A label begins with the id of an icon. */
interface SubmissionPick {
  readonly title: string;
  readonly placeHolder: string;
  readonly entries: readonly { readonly label: string; readonly detail: string }[];
}

const icons: Readonly<Record<SubmissionAnswer, string>> = {
  yes: '$(pass)',
  no: '$(error)',
  doubt: '$(warning)',
  unknown: '$(circle-slash)',
};

export const submissionPick = ({ conclusion, questions }: SubmissionCheck): SubmissionPick => ({
  title: submissionConclusion(conclusion),
  placeHolder: l10n.t(
    'Checked without the fix. Run the tests on both sides to see whether they pass with it.',
  ),
  entries: questions.map(({ question, answer, text }) => ({
    label: `${icons[answer]} ${titleOf(question)}: ${answerText(answer)}`,
    // Names of tests must not become icons.
    detail: text.replaceAll('$(', '\\$('),
  })),
});

/** What follows from a check, in a few words. */
function submissionConclusion(conclusion: SubmissionCheck['conclusion']): string {
  switch (conclusion) {
    case 'ready':
      return l10n.t('Ready to Submit');
    case 'look again':
      return l10n.t('Review Before Submitting');
    case 'not ready':
      return l10n.t('Not Ready to Submit');
    case 'incomplete':
      return l10n.t('Some Checks Could Not Run');
  }
}

function titleOf(question: CheckedQuestion['question']): string {
  switch (question) {
    case 'applies':
      return l10n.t('Applies to R');
    case 'only tests':
      return l10n.t('Changes only tests');
    case 'has tests':
      return l10n.t('Adds or changes tests');
    case 'collected':
      return l10n.t('Tests are collected and run');
    case 'fails on R':
      return l10n.t('Fails on R');
    case 'related failure':
      return l10n.t('No failure is unrelated to the issue');
    case 'existing tests':
      return l10n.t('Other tests are unaffected');
  }
}

function answerText(answer: SubmissionAnswer): string {
  switch (answer) {
    case 'yes':
      return l10n.t('yes');
    case 'no':
      return l10n.t('no');
    case 'doubt':
      return l10n.t('uncertain');
    case 'unknown':
      return l10n.t('unknown');
  }
}
