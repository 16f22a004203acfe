import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cli, sample, scratch, type Answer, type Evaluation } from './cli';
import { fakeModels, type Asked, type FakeModels, type Reply } from './fakeModels';
import { killedWithSteps } from './killedWithSteps';
import { withOtherAnswer } from './otherAnswer';
import { bundledRow } from './recordedSession';
import { kindOfRequest, rightFix, surrogateFix, surrogateTests, wrongFix } from './surrogateScript';

const noCentIsLost = surrogateTests(
  'no_cent_is_lost',
  'parts = Money(2000).allocate([1, 1, 1])',
  'self.assertEqual(sum(part.cents for part in parts), 2000)',
);

/** What the model writes: tests that only a wrong fix passes, broken ones, and two right ones. */
const candidates = [
  surrogateTests(
    'a_cent_more',
    'parts = Money(1000).allocate([1, 1, 1])',
    'self.assertEqual(parts[2], Money(334))',
  ),
  surrogateTests('broken', 'self.assertEqual(Money.share(2000), 1)'),
  noCentIsLost,
  surrogateTests(
    'the_last_share',
    'parts = Money(2000).allocate([1, 1, 1])',
    'self.assertEqual(parts[2], Money(666))',
  ),
];

describe('swt-bench generate --method surrogate', () => {
  const folder = scratch();
  let fixes: string[];
  let server: FakeModels;

  /** A model whose samples do not depend on the order in which requests come. */
  const model = (): Promise<FakeModels> => {
    const counts = new Map<string, number>();
    return fakeModels((asked): Reply => {
      const kind = kindOfRequest(asked);
      const number = counts.get(kind) ?? 0;
      counts.set(kind, number + 1);
      if (kind === 'refinement') return { text: noCentIsLost };
      const texts = kind === 'fix' ? fixes : candidates;
      return { text: texts[number % texts.length] ?? '' };
    });
  };
  before(async () => {
    fixes = await Promise.all([rightFix, `${rightFix}  # down`, wrongFix].map(surrogateFix));
    server = await model();
  });
  after(() => server.close());

  const argsOf = (out: string, ...more: string[]): string[] => [
    ...['generate', '--method', 'surrogate', '--model', 'openai-compatible/m', '--out', out],
    ...['--samples', '4', '--fixes', '3', '--concurrency', '1', '--run-tests-locally'],
    ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
    ...['--storage', join(folder.path, 'storage'), '--base-url', server.url, ...more],
  ];
  const generate = (out: string, ...more: string[]): Promise<Answer> => cli(argsOf(out, ...more));
  const rowOf = async (out: string): Promise<Record<string, unknown>> =>
    JSON.parse(await readFile(out, 'utf8')) as Record<string, unknown>;

  it('takes the tests that agree best with the others, after a round of refinement', async () => {
    const out = join(folder.path, 'tests.jsonl');
    const answered = await generate(out);
    assert.equal(answered.status, 0, answered.stderr);
    const row = await rowOf(out);
    assert.equal(row['chosen_sample'], 3, String(row['why']));
    assert.equal(row['why'], 'passes with 1 of 2 surrogate fixes, with 86 % of the tests’ votes');
    assert.equal(row['requests'], 4 + 3 + 1);
    const asked = server.asked.find((each) => kindOfRequest(each) === 'refinement');
    assert.match(asked?.text ?? '', /test_a_cent_more/);
    assert.match(asked?.text ?? '', /With fix 1, the tests of candidate 1 pass\./);
    assert.match(asked?.text ?? '', /3\.33/, 'what fails is shown');
    assert.doesNotMatch(asked?.text ?? '', /test_broken/, 'which says nothing about the fixes');
    const evaluated = await cli([
      ...['evaluate', '--predictions', out, '--json', '--dataset', join(sample, 'instance.jsonl')],
      ...['--source', join(sample, 'repository'), '--storage', join(folder.path, 'storage')],
    ]);
    const { results } = JSON.parse(evaluated.stdout) as Evaluation;
    assert.deepEqual(
      results.map(({ resolved }) => resolved),
      [true],
    );
    const before = server.asked.length;
    assert.deepEqual(
      [(await generate(out, '--replay')).status, (await generate(out)).status],
      [0, 0],
    );
    assert.equal(server.asked.length, before, 'an answered request is not sent again');
  });

  it('takes the fixes of a file, and never the golden patch', async () => {
    const out = join(folder.path, 'given.jsonl');
    const patchOf = (text = ''): string => /```diff\n([^]*)```/.exec(text)?.[1] ?? '';
    const { instance_id } = await bundledRow();
    const rows = [fixes[0], fixes[2]].map((text, at) =>
      JSON.stringify({ instance_id, model_name_or_path: `fix-${at}`, model_patch: patchOf(text) }),
    );
    const file = await folder.file('fixes.jsonl', rows.join('\n'));
    const args = argsOf(out).filter(
      (arg, at, all) => arg !== '--fixes' && all[at - 1] !== '--fixes',
    );
    const own = await model();
    const given = await cli([
      ...args,
      '--base-url',
      own.url,
      '--fixes-from',
      file,
      '--rounds',
      '0',
    ]);
    await own.close();
    assert.equal(given.status, 0, given.stderr);
    assert.match(String((await rowOf(out))['why']), /^passes with 1 of 2 surrogate fixes/);
    assert.deepEqual([...new Set(own.asked.map(kindOfRequest))], ['tests']);
    const golden = await cli([...args, '--fixes-from', 'gold']);
    assert.equal(golden.status, 2);
    assert.match(golden.stderr, /--fixes-from gold would use the golden patch/);
  });

  it('refuses its options with another method', async () => {
    const refused = await generate(join(folder.path, 'x.jsonl'), '--method', 'libro');
    assert.equal(refused.status, 2);
    assert.match(refused.stderr, /--fixes applies to the method surrogate, not to LIBRO/);
  });

  it('sends the same bytes whatever the answer of the instance is', async () => {
    const texts = async (name: string, row: object): Promise<readonly Asked[]> => {
      const dataset = await folder.file(`${name}.jsonl`, JSON.stringify(row));
      const own = await model();
      const args = argsOf(join(folder.path, `${name}.out.jsonl`), '--dataset', dataset);
      const answer = await cli([...args, '--base-url', own.url]);
      await own.close();
      assert.equal(answer.status, 0, answer.stderr);
      return own.asked;
    };
    const row = await bundledRow();
    const [one, other] = [await texts('one', row), await texts('other', withOtherAnswer(row))];
    assert.equal(one.length, 8);
    assert.deepEqual(
      one.map(({ body }) => body),
      other.map(({ body }) => body),
    );
  });

  it('pays for nothing twice wherever it is killed @full', async () => {
    const out = join(folder.path, 'killed.jsonl');
    const same = await fakeModels((asked) => ({
      text: kindOfRequest(asked) === 'fix' ? (fixes[0] ?? '') : noCentIsLost,
    }));
    const args = [...argsOf(out), '--base-url', same.url];
    const steps = await killedWithSteps(args, out, [
      ['answer', 2],
      ['run', 1],
      ['answer', 6],
      ['stage', 1],
      ['stage', 2],
    ]);
    await same.close();
    assert.equal(steps.filter(({ step }) => step === 'answer').length, 4 + 3);
  });
});
