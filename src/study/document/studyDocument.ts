import { type PublishedRow, studyVersion } from '../studyReportSchema';
import type { RepairResults, StudyDocument, StudyRequest } from './document';
import type { RunData } from '../entry';
import { methodsOf } from '../measures/methods';
import type { RepairRun } from '../resolution/judgedRepair';
import { HumanError } from '../../domain/work';
import { version as productVersion } from '../../../package.json';

/** The parts of a study. */
interface StudyParts {
  readonly runs: readonly RunData[];
  readonly published?: readonly PublishedRow[];
  readonly repairs?: readonly RepairResults[];
  readonly repairRuns?: readonly RepairRun[];
  readonly asked?: StudyRequest;
  readonly problems?: readonly string[];
}

/** Builds a document, with the version of this program. */
export const studyDocument = (parts: StudyParts): StudyDocument => ({
  version: studyVersion,
  created: new Date().toISOString(),
  product: productVersion,
  runs: parts.runs,
  published: parts.published ?? [],
  repairs: parts.repairs ?? [],
  ...(parts.repairRuns === undefined || parts.repairRuns.length === 0
    ? {}
    : { repairRuns: parts.repairRuns }),
  asked: parts.asked ?? {},
  problems: parts.problems ?? [],
});

/**
 * Checks what the user asks for.
 *
 * @param compare names of methods, the baseline first
 * @param splitDate `YYYY-MM-DD`
 * @throws HumanError naming a method that no run has, or an invalid date
 */
export function studyRequest(
  runs: readonly RunData[],
  compare: readonly string[] | undefined,
  splitDate: string | undefined,
): StudyRequest {
  if (compare !== undefined) {
    const names = methodsOf(runs, { oracle: true }).map((method) => method.name);
    const unknown = compare.find((name) => !names.includes(name));
    if (unknown !== undefined) {
      throw new HumanError(
        `These runs have no method named ${unknown}`,
        `Use some of: ${names.join(', ')}`,
      );
    }
    if (new Set(compare).size < 2) {
      throw new HumanError(
        'A comparison needs two methods',
        `Use two or more of: ${names.join(', ')}`,
      );
    }
  }
  if (splitDate !== undefined && !isDay(splitDate)) {
    throw new HumanError(
      `${splitDate} is not a date`,
      'Use the form YYYY-MM-DD, such as 2023-04-30',
    );
  }
  return {
    ...(compare === undefined ? {} : { compare: [...new Set(compare)] }),
    ...(splitDate === undefined ? {} : { splitDate }),
  };
}

function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(time)) return false;
  // JavaScript reads the 30th of February as the 2nd of March.
  return new Date(time).toISOString().startsWith(text);
}
