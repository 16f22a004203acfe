import { notEvaluatedReasons } from '../../domain/verdict';
import type { RunEntry } from '../../study/entry';
import { inTermsOfSettings } from '../shell/settingNames/inTermsOfSettings';

/**
 * An entry for the dashboard in the editor: without the fields that only the extension uses, and
 * with settings in place of options. A saved report has the words of the command line.
 */
export function entryForPage({ report: _report, ...entry }: RunEntry): RunEntry {
  // Only what could not be evaluated has advice; other explanations may quote a test.
  return notEvaluatedReasons.some((each) => each === entry.reason)
    ? { ...entry, explanation: inTermsOfSettings(entry.explanation) }
    : entry;
}
