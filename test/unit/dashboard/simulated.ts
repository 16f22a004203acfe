import { studyVersion } from '../../../src/study/studyReportSchema';
import { type EntryReason, entryReasons } from '../../../src/domain/verdict';
import type { RunData, RunEntry } from '../../../src/study/entry';
import type { StudyDocument } from '../../../src/study/document';

/** A generator of numbers in [0, 1) that is the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const repositories = [
  ...['sympy/sympy', 'django/django', 'scikit-learn/scikit-learn', 'matplotlib/matplotlib'],
  ...['pytest-dev/pytest', 'sphinx-doc/sphinx', 'astropy/astropy', 'psf/requests'],
  ...['pylint-dev/pylint', 'pydata/xarray', 'mwaskom/seaborn', 'pallets/flask'],
];

export interface Simulation {
  readonly instances: number;
  /** Runs of one model each, beside each other. */
  readonly methods: number;
  /** Candidates of each model for an instance. */
  readonly samples?: number;
  readonly seed?: number;
}

/** Simulated runs as a batch of many instances leaves them; the same seed gives the same runs. */
export function simulatedRuns({
  instances,
  methods,
  samples = 1,
  seed = 1,
}: Simulation): RunData[] {
  const random = seeded(seed);
  const selected = Array.from({ length: instances }, (_, index) => {
    const repo = repositories[Math.floor(random() ** 2 * repositories.length)] ?? 'sympy/sympy';
    const created = new Date(Date.UTC(2013, 0) + random() * 3.2e11).toISOString();
    return {
      id: `${repo.replace('/', '__')}-${1000 + index}`,
      repo,
      created,
      issueLength: Math.round(200 * Math.exp(random() * 3.5)),
      hardness: random(),
    };
  });
  return Array.from({ length: methods }, (_, method) => {
    const skill = 0.15 + (0.5 * (method + 1)) / methods;
    const model = `method-${method + 1}`;
    return {
      label: `run-${method + 1}`,
      instances: selected.map(({ id, repo, created, issueLength }) => ({
        id,
        repo,
        created,
        issueLength,
      })),
      entries: selected.flatMap(({ id, hardness }) =>
        Array.from({ length: samples }, (_, sample) =>
          entryOf(id, model, sample + 1, skill * 1.6 * (1 - hardness), random),
        ),
      ),
    };
  });
}

const failures: readonly EntryReason[] = entryReasons.filter((reason) => reason !== 'success');

function entryOf(
  instance: string,
  model: string,
  sample: number,
  chance: number,
  random: () => number,
): RunEntry {
  const success = random() < chance;
  const reason: EntryReason = success
    ? 'success'
    : (failures[Math.floor(random() ** 1.7 * failures.length)] ?? 'passes on R');
  const evaluated = success || random() < 0.96;
  const ran = evaluated && !['no candidate', 'does not apply', 'no test found'].includes(reason);
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  const failToPass = success ? 1 + upTo(2) : reason === 'breaks a test' ? 1 : 0;
  const failToFail = ran && !success && reason !== 'passes on R' ? 1 + upTo(1) : 0;
  const passToPass = ran ? upTo(3) : 0;
  const executable = 1 + upTo(30);
  return {
    instance,
    model,
    sample,
    reason: evaluated ? reason : 'environment failed',
    explanation: success
      ? `${failToPass} tests reproduce the issue; none fail with the fix`
      : `tests/test_module.py::test_case_${upTo(999)}: ${reason}, as the log of the run on R says`,
    evaluated,
    wellFormed: ran,
    success,
    failToPass,
    failToFail,
    passToPass,
    passToFail: 0,
    failToAny: failToPass + failToFail,
    anyToFail: failToFail,
    ...(ran && {
      delta: { covered: upTo(success ? executable : Math.floor(executable / 2)), executable },
      goldenDelta: { covered: executable, executable },
    }),
    ...(evaluated && {
      harness: { resolved: success, addedFailToPass: failToPass, coverageDelta: random() },
    }),
    seconds: 1 + random() * 40,
    cost: {
      dollars: random() * 0.4,
      inputTokens: 10_000 + upTo(40_000),
      outputTokens: 200 + upTo(2000),
      seconds: 10 + random() * 100,
    },
  };
}

export const simulatedStudy = (simulation: Simulation): StudyDocument => ({
  version: studyVersion,
  created: '2026-11-21T00:00:00.000Z',
  product: '0.1.0',
  runs: simulatedRuns(simulation),
  published: [],
  repairs: [],
  asked: {},
  problems: [],
});
