import { lineStates, type ChangeCoverage, type CoveredLine } from '../../domain/changeCoverage';
import {
  transitions,
  transitionWords,
  type TestResult,
  type TestTransition,
} from '../../domain/outcome';
import { fileOf, functionOf } from '../../domain/testId';
import {
  harnessGrade,
  isReproduction,
  type CandidateResult,
  findingsToShow,
  notesToShow,
} from '../../evaluation/candidateResult';
import { byFile, goldenBesides, placeOf, coverageInWords } from '../../evaluation/compareCoverage';
import { markdownCode, markdownProse, markdownTable } from '../../domain/text';
import { withoutMachinePaths, type MachineFolder } from './withoutMachinePaths';

/** A candidate with its verdict, and what a reader needs to judge it. */
export interface Reproduction {
  readonly result: CandidateResult;
  /** `owner/name`; `baseCommit` is the commit of R. */
  readonly repo: string;
  readonly baseCommit: string;
  readonly evaluatedAt: Date;
  /** Time from the request to the verdict. */
  readonly milliseconds: number;
  /** The engine and the environment of the tests. */
  readonly environment: string | undefined;
  /** Whether the note may show lines of X* and tests of T*. */
  readonly revealed: boolean;
  /** Whether X* and T* were ever shown to the author. */
  readonly wasRevealed: boolean;
  /** Folders of this machine that texts of the note must not name. */
  readonly folders: readonly MachineFolder[];
}

/** Names of the files of an export, for a note that is beside them. */
interface NamedFiles {
  readonly patch: string;
  readonly prediction: string;
  /** SHA-256 of the patch, in hexadecimal digits. */
  readonly digest: string;
}

/**
 * The verdict on a candidate in Markdown: both gradings, transitions and ΔC. Once revealed, it adds
 * ΔC by line and what the golden tests cover in addition. Only a reproduction is called one.
 */
export function reproductionNote(given: Reproduction, files?: NamedFiles): string {
  const reproduction = asShared(given);
  const { result } = reproduction;
  return [
    heading(result),
    summary(reproduction),
    ...findings(result),
    '## Tests',
    tests(result),
    '## Change coverage',
    changeCoverage(reproduction),
    ...besides(reproduction),
    ...remarks(reproduction),
    ...(files === undefined ? [] : ['## Files', describeFiles(files, result.instance)]),
    '',
  ].join('\n\n');
}

/** The same without paths of this machine. Of a snapshot only its name tells others anything. */
function asShared(reproduction: Reproduction): Reproduction {
  const { folders, result, environment } = reproduction;
  const { source } = result;
  const shared = withoutMachinePaths(result, folders);
  return {
    ...reproduction,
    environment: withoutMachinePaths(environment, folders),
    result: {
      ...shared,
      // The digest of the patch is that of the file beside the note.
      patch: result.patch,
      source: source.kind === 'snapshot' ? { ...source, from: lastPart(source.from) } : source,
    },
  };
}

const lastPart = (path: string): string =>
  path.split(/[\\/]/).findLast((part) => part !== '') ?? path;

function heading(result: CandidateResult): string {
  const { strict, affected, instance } = result;
  if (isReproduction(result)) {
    return `# Reference reproduction of ${markdownCode(instance)}\n\n✓ ${markdownProse(strict.explanation)}.`;
  }
  const why =
    strict.success && affected !== undefined
      ? "This evaluation ran only some of the candidate's tests."
      : `${markdownProse(strict.reason)}: ${markdownProse(strict.explanation)}.`;
  return `# Not a reproduction of ${markdownCode(instance)}\n\n✗ **Not a reproduction:** ${why}`;
}

function summary(reproduction: Reproduction): string {
  const { result, evaluatedAt, milliseconds, environment } = reproduction;
  const { strict, affected } = result;
  const own = ownTests(result);
  const counted = countTransitions(own);
  const seconds = `${(milliseconds / 1000).toFixed(1)} s`;
  const harness = harnessGrade(result);
  const why =
    affected !== undefined
      ? ' (needs all tests to run)'
      : result.difference === undefined
        ? ''
        : `: ${markdownProse(result.difference)}`;
  return markdownTable(
    ['', ''],
    [
      [
        'Repository',
        `${markdownCode(reproduction.repo)} at ${markdownCode(reproduction.baseCommit)}`,
      ],
      ...(result.source.kind === 'snapshot'
        ? [['R created from', `a snapshot, ${markdownCode(result.source.from)}`]]
        : []),
      [
        'Strict grading',
        `${strict.success ? 'success' : 'not a success'}: ${markdownProse(strict.explanation)}`,
      ],
      ['Harness grading', `${harness}${why}`],
      ['Well-formed (applies to R)', strict.wellFormed ? 'yes' : 'no'],
      ["Candidate's tests", counted === '' ? 'none ran' : counted],
      ['ΔC', coverageInWords(result.changeCoverage)],
      ['ΔC of the golden tests', coverageInWords(result.goldenCoverage)],
      [
        'Evaluated',
        `${evaluatedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC, in ${seconds}`,
      ],
      ...(affected === undefined
        ? []
        : [['Tests run', `${affected.ran} in this run, ${affected.kept} from an earlier run`]]),
      ...(environment === undefined ? [] : [['Environment', markdownProse(environment)]]),
    ],
    '',
  );
}

/** Suspicions about the verdict, which are before everything that relies on it. */
function findings(result: CandidateResult): string[] {
  const found = findingsToShow(result);
  if (found.length === 0) return [];
  return [
    '## Findings',
    'Reasons to question the verdict. Review them; they do not change the grade.',
    found
      .map(({ says, evidence }) =>
        [
          `- ⚠ ${markdownProse(says)}`,
          ...evidence.map((each) => `  - ${markdownProse(each)}`),
        ].join('\n'),
      )
      .join('\n'),
  ];
}

/** Cases of the tests that the candidate adds or changes, those that reproduce the issue first. */
function ownTests({ tests, ownTests: own }: CandidateResult): TestTransition[] {
  const functions = new Set(own);
  const order = ({ transition }: TestTransition): number => transitions.indexOf(transition);
  return tests
    .filter((each) => functions.has(functionOf(each.test)))
    .sort((a, b) => order(a) - order(b));
}

/** `1 F→P, 2 P→P`. */
function countTransitions(tests: readonly TestTransition[]): string {
  const counts = new Map<string, number>();
  for (const { transition } of tests) counts.set(transition, (counts.get(transition) ?? 0) + 1);
  return [...counts].map(([transition, count]) => `${count} ${transition}`).join(', ');
}

function tests(result: CandidateResult): string {
  const own = ownTests(result);
  const ran = new Set(own.map((each) => functionOf(each.test)));
  const silent = result.ownTests.filter((test) => !ran.has(test));
  const mine = new Set(own);
  const others = result.tests.filter((each) => !mine.has(each));
  const telling = others.filter((each) => each.transition !== 'P→P');
  const quiet = others.length - telling.length;
  const row = (each: TestTransition): string[] => [
    each.transition,
    markdownCode(each.test),
    mine.has(each) ? 'candidate' : 'in R',
    outcome(each.base),
    outcome(each.fixed),
    failure(each),
  ];
  return [
    markdownTable(
      ['', 'Test', 'Source', 'On R', 'On R∘X\\*', 'Failure'],
      [
        ...[...own, ...telling].map(row),
        ...silent.map((test) => [
          '–',
          markdownCode(test),
          'candidate',
          'did not run',
          'did not run',
          '',
        ]),
      ],
      "None of the candidate's tests ran.",
    ),
    ...(quiet === 0 ? [] : [`Existing tests in the same files that pass on both sides: ${quiet}.`]),
    ...legend([...own, ...telling]),
  ].join('\n\n');
}

const outcome = ({ outcome: word, seconds }: TestResult): string =>
  seconds === undefined ? word : `${word}, ${seconds.toFixed(2)} s`;

/** How a test fails on R, or else on R∘X*. */
function failure({ base, fixed }: TestTransition): string {
  const onR = failureOn(base);
  if (onR !== '') return onR;
  const after = failureOn(fixed);
  return after === '' ? '' : `on R∘X\\*: ${after}`;
}

/** First line of a failure, and the innermost frame outside the test's own file. */
function failureOn(result: TestResult): string {
  if (result.outcome !== 'failed' && result.outcome !== 'error') return '';
  const lines = result.message?.split('\n').map((line) => line.trim()) ?? [];
  const line = lines.find((each) => each !== '') ?? '';
  const { exception } = result;
  const named = exception === undefined || line.startsWith(exception);
  const text = named ? line : line === '' ? exception : `${exception}: ${line}`;
  const own = fileOf(result.test);
  const frame = [...(result.frames ?? [])].reverse().find((each) => each.path !== own);
  const at = frame === undefined ? '' : ` at ${markdownCode(`${frame.path}:${frame.line}`)}`;
  return `${markdownCode(text.length > 200 ? `${text.slice(0, 199)}…` : text)}${at}`;
}

function legend(tests: readonly TestTransition[]): string[] {
  const seen = [...new Set(tests.map((each) => each.transition))];
  const words = seen.map((each) => `${each} ${transitionWords[each].replace('*', '\\*')}`);
  return words.length === 0 ? [] : [`${words.join('; ')}.`];
}

function changeCoverage({ result, revealed }: Reproduction): string {
  const { changeCoverage: coverage } = result;
  if (coverage === undefined) return 'Unknown. See the remarks.';
  const states = markdownTable(
    ['State', 'Changed lines'],
    lineStates.map((state) => [
      state,
      `${coverage.lines.filter((line) => line.state === state).length}`,
    ]),
    '',
  );
  const head = `ΔC ${coverageInWords(coverage)}.`;
  if (!revealed) {
    return `${head}\n\n${states}\n\nLines are not listed because the golden patch is hidden.`;
  }
  return [head, states, ...lineTables(coverage)].join('\n\n');
}

function lineTables({ lines }: ChangeCoverage): string[] {
  return byFile(lines.map((line) => ({ line }))).map(
    ([path, ofFile]) =>
      `### ${markdownCode(path)}\n\n` +
      markdownTable(
        ['Line', 'State', 'Base', 'Candidate', 'Golden', 'Run by', 'Code'],
        ofFile.map(({ line }) => lineRow(line)),
        '',
      ),
  );
}

const lineRow = (line: CoveredLine): string[] => [
  placeOf(line),
  line.state,
  `${line.counts.base}`,
  `${line.counts.candidate}`,
  `${line.counts.golden}`,
  testsInCell(line.coveredBy),
  markdownCode(line.text.trim()),
];

/** Ids of tests; of many only the first few. */
function testsInCell(tests: readonly string[]): string {
  const shown = tests.slice(0, 3).map(markdownCode);
  return [...shown, ...(tests.length > 3 ? [`and ${tests.length - 3} more`] : [])].join(', ');
}

function besides({ result, revealed }: Reproduction): string[] {
  const { changeCoverage: candidate, goldenCoverage: golden } = result;
  if (!revealed || candidate === undefined || golden === undefined) return [];
  return [
    '## Covered only by the golden tests',
    markdownTable(
      ['File', 'Line', 'State', 'Golden tests', 'Code'],
      goldenBesides(candidate, golden).map(({ line, goldenTests }) => [
        markdownCode(line.path),
        placeOf(line),
        line.state,
        testsInCell(goldenTests),
        markdownCode(line.text.trim()),
      ]),
      'None: the candidate covers every line that they cover.',
    ),
  ];
}

function remarks({ result, revealed, wasRevealed }: Reproduction): string[] {
  const told = [
    ...notesToShow(result, revealed).map(markdownProse),
    ...result.diagnostics
      .filter(({ severity }) => severity !== 'info')
      .map((each) => `candidate line ${each.line}: ${markdownProse(each.message)}`),
    ...(wasRevealed
      ? ['The author had revealed the golden patch, golden tests and hints.']
      : ['There is no record that the author revealed the golden patch, golden tests or hints.']),
    ...(/[\udc80-\udcff]/u.test(result.patch)
      ? [
          'The patch has bytes that are not UTF-8. The prediction encodes them as lone surrogates, like ' +
            'Python’s `surrogateescape`.',
        ]
      : []),
  ];
  return ['## Remarks', told.map((each) => `- ${each}`).join('\n')];
}

function describeFiles({ patch, prediction, digest }: NamedFiles, instance: string): string {
  return [
    `- ${markdownCode(patch)}: the candidate as run, a unified diff on R (SHA-256 ${markdownCode(digest)}).`,
    `- ${markdownCode(prediction)}: the same candidate as an SWT-Bench prediction, for ` +
      `${markdownCode(`--predictions_path ${prediction} --instance_ids ${instance}`)} of the reference harness, or`,
    '',
    `      swt-bench evaluate --dataset DATASET --ids ${instance} --predictions ${prediction}`,
  ].join('\n');
}
