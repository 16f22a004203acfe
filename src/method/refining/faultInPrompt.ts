import { failuresInPrompt } from '../prompt/prompts';
import type { CandidateFault } from './candidateFault';
import { shownFailures } from '../steps/candidateRun';

/** Most characters of one sentence about a patch, and of such sentences that a prompt has. */
const problemLength = 1000;
const mostDiagnostics = 5;

/** The lines of a prompt that tell a model what is wrong with its candidate. */
export function faultInPrompt(fault: CandidateFault): readonly string[] {
  switch (fault.kind) {
    case 'does not apply':
      return [
        `The tests cannot be put into the repository: ${bounded(fault.problem)}.`,
        ...fault.diagnostics
          .filter(({ severity, message }) => severity !== 'info' && message !== fault.problem)
          .slice(0, mostDiagnostics)
          .map(({ line, message }) => `Line ${line} of the patch: ${bounded(message)}.`),
        '',
      ];
    case 'no test':
      return [
        `Nothing of it runs as a test: ${bounded(fault.problem)}.`,
        'Files, classes and functions of tests need the names that the test runner of the repository looks for.',
        '',
      ];
    case 'broken tests': {
      const reasons = [...new Set(fault.tests.map(({ reason }) => reason))].join(', ');
      return [
        `On the repository as it is, these tests fail by faults of their own (${reasons}):`,
        '',
        ...failuresInPrompt(shownFailures(fault.tests.map(({ test }) => test))),
      ];
    }
  }
}

const bounded = (text: string): string =>
  (text.length > problemLength ? `${text.slice(0, problemLength)}…` : text).replace(/\.$/, '');
