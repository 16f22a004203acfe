import type { RunEntry } from '../../domain/study/entry';
import { notEvaluatedReasons } from '../../domain/reason';
import { inTermsOfSettings } from '../shell/settingNames/inTermsOfSettings';

/**
 * An entry whose explanation names settings instead of options of the command line. Only what could
 * not be evaluated has such advice.
 */
export const adviceInEditor = (entry: RunEntry): RunEntry =>
  notEvaluatedReasons.some((each) => each === entry.reason)
    ? { ...entry, explanation: inTermsOfSettings(entry.explanation) }
    : entry;
