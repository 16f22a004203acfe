import { notChecked, type SubmissionCheck, type SubmissionConclusion } from './submissionCheck';

/** A check of a candidate as plain text: what follows, then a line for each question. */
export function submissionCheckText({ conclusion, questions }: SubmissionCheck): string {
  const asked = questions.filter(({ text }) => text !== notChecked);
  const rest = questions.filter((each) => !asked.includes(each));
  const width = Math.max(...asked.map(({ answer }) => answer.length));
  return [
    conclusionText[conclusion],
    ...asked.map(({ answer, text }) => `  ${answer.padEnd(width)}  ${text}`),
    ...(rest.length > 0
      ? [`Not checked: ${rest.map(({ question }) => question).join(', ')}.`]
      : []),
  ].join('\n');
}

/** What follows from a check, and what to do. */
const conclusionText: Readonly<Record<SubmissionConclusion, string>> = {
  ready: 'Ready to submit, as far as R alone can show.',
  'look again': 'Review before you submit: some checks raise doubts.',
  'not ready': 'Not ready to submit.',
  incomplete: 'Not everything could be checked.',
};
