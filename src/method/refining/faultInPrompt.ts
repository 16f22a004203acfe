import { failuresInPrompt } from '../prompt/prompts';
import type { CandidateFault } from './candidateFault';
import { shownFailures } from '../steps/candidateRun';

/** Maximum number of characters of one sentence about a patch, and of such sentences that a prompt has. */
const problemLength = 1000;
const mostDiagnostics = 5;

/** The lines of a prompt that tell a model what is wrong with its candidate. */
export function faultInPrompt(fault: CandidateFault): readonly string[] {
  switch (fault.kind) {
    case 'does not apply':
      return [
        `The tests could not be added to the repository: ${bounded(fault.problem)}.`,
        ...fault.diagnostics
          .filter(({ severity, message }) => severity !== 'info' && message !== fault.problem)
          .slice(0, mostDiagnostics)
          .map(({ line, message }) => `Line ${line} of the patch: ${bounded(message)}.`),
        '',
      ];
    case 'no test':
      return [
        `None of it runs as a test: ${bounded(fault.problem)}.`,
        "Test files, classes and functions need names that the repository's test runner recognizes.",
        '',
      ];
    case 'broken tests': {
      const reasons = [...new Set(fault.tests.map(({ reason }) => reason))].join(', ');
      return [
        `On the current repository, these tests fail because of errors of their own (${reasons}):`,
        '',
        ...failuresInPrompt(shownFailures(fault.tests.map(({ test }) => test))),
      ];
    }
  }
}

const bounded = (text: string): string =>
  (text.length > problemLength ? `${text.slice(0, problemLength)}…` : text).replace(/\.$/, '');
