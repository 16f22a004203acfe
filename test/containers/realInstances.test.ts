import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { cli, type Evaluation } from '../commandLine/cli';
import { sourceRelease } from '../environments';
import { data, onRelease, storageOfSuite } from './realData';

interface Case {
  readonly id: string;
  readonly release: readonly [string, string];
  /** Tests of the row's PASS_TO_PASS that do not pass on both sides of this release. */
  readonly lacking?: readonly string[];
  /** Tests that pass on both sides of this release and are not in the row's PASS_TO_PASS. */
  readonly beside?: readonly string[];
  /**
   * Tests of the row's PASS_TO_PASS that come after a failing one on R. The parser of the reference
   * harness loses them there. The parser of SWE-bench, which made the lists, does not.
   */
  readonly lost?: readonly string[];
}

/** SymPy's lists hold bare function names. */
const bare = (test: string): string =>
  test.startsWith('sympy/') ? (test.split('::').at(-1) ?? test) : test;

/** Django's lists hold the first line of the description of a test that has one, not its name. */
const isDescribed = (test: string): boolean => test.includes(' ') && !/^\w+ \([\w.]+\)$/.test(test);

/**
 * `tests/some_app/tests.py::SomeTests::test_x` as Django prints it: `test_x (some_app.tests.SomeTests)`, and
 * from Python 3.11 on `test_x (some_app.tests.SomeTests.test_x)`.
 */
function asDjangoPrints(id: string): readonly string[] {
  const [path = '', ...names] = id.split('::');
  const module = path.replace(/^tests\/|\.py$/g, '').replaceAll('/', '.');
  const name = names.at(-1);
  const place = [module, ...names.slice(0, -1)].join('.');
  return [`${name} (${place})`, `${name} (${place}.${name})`];
}

/**
 * Instances whose golden patch applies to a source release that has its tests. For Django it is the
 * nearest release before the base commit, an alpha, since later ones of a series lack what came
 * after it. All nine take some ten minutes, with `SWT_BENCH_ALL_INSTANCES=1`; otherwise one of each
 * project runs.
 */
const all: readonly Case[] = [
  { id: 'django__django-14915', release: ['django', '4.0a1'] },
  { id: 'django__django-15781', release: ['django', '4.1a1'] },
  {
    id: 'django__django-15790',
    release: ['django', '4.1a1'],
    lost: [
      'test_template_tags_with_different_library_name (check_framework.test_templates.CheckTemplateTagLibrariesWithSameName)',
    ],
  },
  { id: 'django__django-15814', release: ['django', '4.1a1'] },
  {
    id: 'django__django-17087',
    release: ['django', '4.2a1'],
    // Written between that release and the base commit.
    lacking: [
      'test_sorted_dependencies (migrations.test_writer.WriterTests.test_sorted_dependencies)',
    ],
    lost: ['test_serialize_numbers (migrations.test_writer.WriterTests.test_serialize_numbers)'],
  },
  { id: 'pallets__flask-4992', release: ['flask', '2.2.5'] },
  // The line of a file's last test contains `[OK]`, so SymPy's lists were made without that test.
  {
    id: 'sympy__sympy-24066',
    release: ['sympy', '1.11.1'],
    beside: ['test_physics_constant'],
  },
  {
    id: 'sympy__sympy-24102',
    release: ['sympy', '1.11.1'],
    beside: ['test_parser_mathematica_exp_alt'],
  },
  { id: 'sympy__sympy-24152', release: ['sympy', '1.11.1'], beside: ['test_eval_trace'] },
];

const few = new Set(['django__django-15814', 'pallets__flask-4992', 'sympy__sympy-24152']);
const cases =
  (process.env['SWT_BENCH_ALL_INSTANCES'] ?? '') === '' ? all.filter(({ id }) => few.has(id)) : all;

interface Row {
  readonly instance_id: string;
  readonly FAIL_TO_PASS: string;
  readonly PASS_TO_PASS: string;
}

describe('real instances from source releases, in containers @full', function () {
  const storage = storageOfSuite(cases.map(({ id }) => id));
  let rows: readonly Row[] = [];
  before(async () => {
    rows = (await readFile(data, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Row);
  });

  for (const { id, release, lacking = [], beside = [], lost = [] } of cases) {
    it(`${id}: gold is resolved, with the tests of the row's lists`, async function () {
      const archive = await sourceRelease(this, ...release);
      const answer = await cli([
        ...['evaluate', '--json', '--predictions', 'gold'],
        ...onRelease(id, archive, storage.path),
      ]);
      assert.equal(answer.status, 0, answer.stderr);
      const result = (JSON.parse(answer.stdout) as Evaluation).results[0];
      assert.ok(result?.strict, result?.error);
      assert.equal(result.strict.success, true, result.strict.explanation);
      assert.equal(result.resolved, true);
      for (const test of lost) {
        const seen: { readonly transition: string } | undefined = result.strict.tests.find((each) =>
          asDjangoPrints(each.test).includes(test),
        );
        assert.equal(seen?.transition, 'P→P', test);
      }
      const row = rows.find((each) => each.instance_id === id);
      assert.ok(row);
      const found = (name: string): string[] =>
        [...(result.tests_pred?.[name] ?? [])].map(bare).filter((test) => !lost.includes(test));
      const fixed = compared(found('FAIL_TO_PASS'), row.FAIL_TO_PASS);
      assert.deepEqual(fixed, { lacking: [], beside: [] }, 'FAIL_TO_PASS');
      const stable = compared([...found('PASS_TO_PASS'), ...lost], row.PASS_TO_PASS);
      assert.deepEqual(stable, { lacking, beside }, 'PASS_TO_PASS');
    });
  }
});

/** How the tests differ from a row's list, which names some by their descriptions. */
function compared(tests: readonly string[], listed: string): Pick<Case, 'lacking' | 'beside'> {
  const wanted = (JSON.parse(listed) as string[]).map(bare);
  const named = wanted.filter((test) => !isDescribed(test));
  const others = tests.filter((test) => !named.includes(test));
  return {
    lacking: named.filter((test) => !tests.includes(test)).sort(),
    // As many of them as the row describes.
    beside: others.length === wanted.length - named.length ? [] : others.sort(),
  };
}
