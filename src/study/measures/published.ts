import { whyAnswerSeen } from '../../domain/answerSeen';
import type { PublishedRow } from '../studyReportSchema';

const lite = { split: 'Lite', selected: 276, model: 'GPT-4' } as const;

/** A row of the paper's Tables 2 and 3, in percent as printed there. */
function row(
  method: string,
  [wellFormed, success, failToAny, failToPass, passToPass]: readonly [
    number,
    number,
    number,
    number,
    number,
  ],
  [deltaAll, deltaSuccess, deltaFailure]: readonly [number, number, number],
  more: Pick<PublishedRow, 'dollars' | 'seconds' | 'oracle'> = {},
): PublishedRow {
  return {
    method,
    ...lite,
    source: 'Mündler et al. 2024, tables 2 and 3',
    wellFormed: wellFormed / 100,
    success: success / 100,
    failToAny: failToAny / 100,
    failToPass: failToPass / 100,
    passToPass: passToPass / 100,
    deltaAll: deltaAll / 100,
    deltaSuccess: deltaSuccess / 100,
    deltaFailure: deltaFailure / 100,
    ...more,
  };
}

/** A row of the paper's Table 5, in percent as printed there. */
function tableFive(
  given: string,
  [wellFormed, success, failToAny, deltaAll]: readonly [number, number, number, number],
  more: Pick<PublishedRow, 'oracle'> = {},
): PublishedRow {
  return {
    method: `ZeroShotPlus ${given}`,
    ...lite,
    selected: 172,
    source: 'Mündler et al. 2024, table 5',
    wellFormed: wellFormed / 100,
    success: success / 100,
    failToAny: failToAny / 100,
    deltaAll: deltaAll / 100,
    ...more,
  };
}

/** A row of the leaderboard whose method is known to look at the answer. */
function answerSeenRow(method: string, row: Omit<PublishedRow, 'method'>): PublishedRow {
  const answerSeen = whyAnswerSeen(method);
  return { method, ...row, ...(answerSeen !== undefined && { oracle: true, answerSeen }) };
}

/**
 * Published rows, for comparison. Most are the paper's for GPT-4 on Lite, with the costs of Table
 * 10 and the times of Table 11. Those of Table 5 cover the 172 instances that have a wrong patch.
 * The others are the best of the leaderboard of 2026 in unit-test mode, and rows of it that are
 * known to look at the answer. A published S is of harness grading.
 */
export const publishedRows: readonly PublishedRow[] = [
  row('ZeroShot', [48.6, 3.6, 38.8, 5.8, 3.6], [7.6, 34.9, 6.6], { dollars: 82.13 }),
  row('ZeroShotPlus', [89.5, 9.4, 55.4, 10.1, 7.2], [21.5, 76.7, 15.7], {
    dollars: 80.7,
    seconds: 12.6,
  }),
  tableFive('given retrieved files', [87.8, 8.1, 52.3, 12.5]),
  tableFive('given golden patch and files', [85.5, 10.5, 64, 18.4], { oracle: true }),
  tableFive('given wrong patch and files', [75, 10.5, 50, 13.2], { oracle: true }),
  tableFive('given golden test file', [76.7, 15.1, 59.3, 17.6], { oracle: true }),
  row('Pass@5', [93.1, 20.3, 62.7, 22.1, 7.2], [31.3, 65.6, 22.5], {
    dollars: 403.65,
    oracle: true,
  }),
  row('LIBRO', [92.0, 14.1, 60.1, 15.2, 7.2], [23.8, 64.2, 17.0], {
    dollars: 420.14,
    seconds: 172,
  }),
  row('AutoCodeRover', [47.1, 9.1, 43.8, 9.1, 7.6], [17.9, 61.3, 13.6], {
    dollars: 368.4,
    seconds: 301,
  }),
  row('aider', [66.7, 12.7, 57.6, 17.0, 8.7], [27.8, 59.5, 23.1], { dollars: 256.1 }),
  row('SWE-Agent', [87.3, 15.9, 48.2, 16.7, 9.8], [26.5, 64.7, 19.1], {
    dollars: 290.71,
    seconds: 222,
  }),
  row('SWE-Agent+', [85.5, 18.5, 46.4, 19.2, 10.1], [27.6, 69.4, 18.0], {
    dollars: 478.21,
    seconds: 265,
  }),
  {
    method: 'ReProAgent',
    split: 'Lite',
    selected: 276,
    source: 'leaderboard, 2026',
    success: 0.562,
  },
  {
    method: 'L*Agent v1',
    split: 'Verified',
    selected: 433,
    source: 'leaderboard, 2026',
    success: 0.84,
  },
  answerSeenRow('DevstralTestGen', {
    ...{ split: 'Lite', selected: 276, model: 'Devstral 2', success: 0.891, deltaAll: 0.576 },
    source: 'leaderboard, 2026, script mode',
  }),
  answerSeenRow('AssertFlip', {
    ...{ split: 'Lite', selected: 276, model: 'GPT-4o', success: 0.38, deltaAll: 0.442 },
    source: 'leaderboard, 2026',
  }),
  answerSeenRow('AssertFlip', {
    ...{ split: 'Verified', selected: 433, model: 'GPT-4o', success: 0.455, deltaAll: 0.474 },
    source: 'leaderboard, 2026',
  }),
];
