import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { format } from 'oxfmt';
import type { JudgedRepair } from '../../../src/study/resolution/judgedRepair';
import {
  evalTestsReport,
  resolutionStatus,
  type ExpectedTests,
} from '../../../src/study/resolution/resolutionStatus';
import {
  gradeSweBench,
  statusesInLog,
  sweBenchLog,
} from '../../../src/study/resolution/sweBenchLog';
import { sweBenchParserOf } from '../../../src/engine/runners/sweBenchParserOf';
import {
  writeSweBenchFiles,
  writeSweBenchSummaries,
} from '../../../src/results/judged/writeSweBenchFiles';
import { everydayRuns } from '../../everyday';
import { assertLinear } from '../../scannedCharacters';
import { askSweBench, type AskSweBench } from './askSweBench';
import {
  asObject,
  parserNames,
  pieces,
  ruleCases,
  savedLogCases,
  type GradedCase,
  type GradingCase,
} from './sweBenchCases';

const golden = join(__dirname, 'golden', 'sweBench.json');
const stored = [...ruleCases, ...savedLogCases];

function graded({ log, parser, eval_type: evalType, ...expected }: GradingCase): GradedCase {
  const parse = sweBenchParserOf({ repo: '', environment: { logParser: parser } });
  assert.ok(parse, parser);
  const report = gradeSweBench(log, { parse, expected, evalType });
  return {
    statuses: asObject(statusesInLog(log, parse)),
    report,
    ...(report.tests_status === undefined
      ? {}
      : { resolution: resolutionStatus(report.tests_status) }),
  };
}

/** `get_eval_tests_report` and `get_resolution_status`, written again from their description. */
function naively(
  statuses: Readonly<Record<string, string>>,
  { FAIL_TO_PASS, PASS_TO_PASS }: ExpectedTests,
): string {
  const passes = (test: string): boolean =>
    statuses[test] === 'PASSED' || statuses[test] === 'XFAIL';
  const fails = (test: string): boolean =>
    !(test in statuses) || ['FAILED', 'ERROR', 'SKIPPED'].includes(statuses[test] ?? '');
  const share = (good: number, bad: number): number => (good + bad === 0 ? 1 : good / (good + bad));
  const keeps = (test: string): boolean => passes(test) || statuses[test] === 'SKIPPED';
  const fixed = share(FAIL_TO_PASS.filter(passes).length, FAIL_TO_PASS.filter(fails).length);
  const kept = share(
    PASS_TO_PASS.filter(keeps).length,
    PASS_TO_PASS.filter((test) => !keeps(test) && fails(test)).length,
  );
  if (fixed === 1 && kept === 1) return 'RESOLVED_FULL';
  return fixed > 0 && fixed < 1 && kept === 1 ? 'RESOLVED_PARTIAL' : 'RESOLVED_NO';
}

describe('grading of code patches by the rules of SWE-bench 5', () => {
  it('gives for each rule and saved log what SWE-bench itself gives', async () => {
    const expected = JSON.parse(await readFile(golden, 'utf8')) as Record<string, GradedCase>;
    assert.deepEqual(Object.fromEntries(stored.map((each) => [each.name, graded(each)])), expected);
  });

  it('agrees with a second implementation on any statuses', () => {
    const word = fc.constantFrom('PASSED', 'FAILED', 'ERROR', 'SKIPPED', 'XFAIL', 'other');
    const test = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    fc.assert(
      fc.property(
        fc.dictionary(test, word),
        fc.uniqueArray(test),
        fc.uniqueArray(test),
        (statuses, FAIL_TO_PASS, PASS_TO_PASS) => {
          const expected = { FAIL_TO_PASS, PASS_TO_PASS };
          const report = evalTestsReport(new Map(Object.entries(statuses)), expected);
          assert.equal(resolutionStatus(report), naively(statuses, expected));
        },
      ),
      { numRuns: everydayRuns(1000) },
    );
  });

  it('has the parser that a row names, else that of its repository', () => {
    const django = sweBenchParserOf({ repo: 'django/django' });
    assert.ok(django);
    assert.equal(
      sweBenchParserOf({ repo: 'a/b', environment: { logParser: 'parse_log_django' } }),
      django,
    );
    assert.equal(
      sweBenchParserOf({ repo: 'django/django', environment: { logParser: 'parse_log_jest' } }),
      undefined,
    );
    assert.equal(sweBenchParserOf({ repo: 'a/b' }), undefined);
  });

  it('looks at each character of a hostile log a number of times that does not grow', () => {
    const hostile = ['_ .py: ', ' ... Testing against Django installed in ', 'test_ ... ', '  ok'];
    for (const parser of parserNames) {
      const parse = sweBenchParserOf({ repo: '', environment: { logParser: parser } });
      assert.ok(parse);
      for (const piece of hostile) {
        assertLinear(piece, parse);
        assertLinear(`${piece}\n`, parse);
      }
      // A line with blanks inside, which Python's strip() leaves alone.
      assertLinear(' ', (blanks) => parse(`test_${blanks}ok`));
    }
  });
});

describe('SWE-bench’s own grading code @full', function () {
  let ask: AskSweBench;
  before(async function () {
    ask = await askSweBench(this);
  });

  it('gave the stored results (UPDATE_GOLDEN=1 writes them)', async () => {
    const { cases } = ask(stored);
    const found = Object.fromEntries(stored.map(({ name }, at) => [name, cases[at]]));
    if (process.env['UPDATE_GOLDEN'] === '1') {
      await writeFile(golden, (await format(golden, JSON.stringify(found))).code);
    }
    assert.deepEqual(JSON.parse(await readFile(golden, 'utf8')), found);
  });

  it('agrees on random logs, with each parser', () => {
    const output = fc
      .array(fc.constantFrom(...pieces), { maxLength: 40 })
      .map((parts) => parts.join(''));
    const seed = Date.now();
    const cases = fc
      .sample(fc.tuple(output, fc.constantFrom(...parserNames), fc.integer({ max: 1, min: 0 })), {
        numRuns: everydayRuns(4000),
        seed,
      })
      .map(([text, parser, exit]): GradingCase => ({
        name: '',
        log: sweBenchLog(text, exit),
        parser,
        eval_type: 'pass_and_fail',
        FAIL_TO_PASS: ['test_a', 'test_b (m.C)'],
        PASS_TO_PASS: ['[1]', 'test_b'],
      }));
    for (const [at, theirs] of ask(cases).cases.entries()) {
      const one = cases[at];
      // Where a parser throws, SWE-bench has no result to compare with.
      if (one === undefined || theirs.error !== undefined) continue;
      assert.deepEqual(graded(one), theirs, `seed ${seed}: ${JSON.stringify(one)}`);
    }
  });

  it('makes the same summary from the files of a run', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'swe-bench-summary-'));
    try {
      const judged = [
        ['a', 'everything passes'],
        ['b', 'c is FAILED'],
        ['c', 'missing module'],
        ['d', 'out of memory'],
      ].map(([instance = '', name]): [JudgedRepair, GradingCase] => {
        const one = ruleCases.find((each) => each.name === name);
        assert.ok(one);
        const { report } = graded(one) as { report: ReturnType<typeof gradeSweBench> };
        const status = report.resolved ? 'resolved' : 'unresolved';
        return [{ instance, model: 'x/m', sample: 1, status, seconds: 0, ...infraOf(name) }, one];
      });
      const timedOut: JudgedRepair = {
        ...{ instance: 'e', model: 'x/m', sample: 1, status: 'error', seconds: 0 },
        failure: 'Test timed out after 9 seconds.',
        infra: { reason: 'tests_timed_out', tier: 'ambiguous' },
      };
      const empty: JudgedRepair = { ...timedOut, instance: 'f', status: 'empty patch' };
      const { infra: _, failure: __, ...none } = empty;
      const all = [...judged.map(([each]) => each), timedOut, none];
      for (const [each, one] of judged) {
        const { report } = graded(one) as { report: ReturnType<typeof gradeSweBench> };
        await writeSweBenchFiles(folder, 'run', {
          ...{ judged: each, report, output: one.log },
          repair: { instanceId: each.instance, model: 'x/m', patch: 'x' },
        });
      }
      await writeSweBenchFiles(folder, 'run', {
        ...{ judged: timedOut, output: 'x\n\nTimeout error: 9 seconds exceeded.' },
        repair: { instanceId: 'e', model: 'x/m', patch: 'x' },
      });
      const selected = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
      const predictions = all.map(({ instance, status }) => ({
        instance_id: instance,
        model_name_or_path: 'x/m',
        model_patch: status === 'empty patch' ? '' : 'x',
      }));
      const { summary } = ask([], { folder, run: 'run', predictions, selected });
      const [written = ''] = await writeSweBenchSummaries(folder, 'run', all, selected);
      assert.equal(written, join(folder, 'x__m.run.json'));
      assert.deepEqual(JSON.parse(await readFile(written, 'utf8')), summary);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

const infraOf = (name: string | undefined): Pick<JudgedRepair, 'infra'> =>
  name === 'missing module'
    ? { infra: { reason: 'missing_module', tier: 'ambiguous' } }
    : name === 'out of memory'
      ? { infra: { reason: 'out_of_memory', tier: 'environment' } }
      : {};
