import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sharedStorage } from '../sharedStorage';
import { cli, sample, scratch, type Answer, type Evaluation } from './cli';
import { fakeModels, type FakeModels } from './fakeModels';
import { killedWithSteps } from './killedWithSteps';

/** A script as a model writes it, with names and comments of its own. */
const reproducing = (name: string, comment: string): string => `from tallybook import Money

# ${comment}
def test_shares():
    try:
        ${name} = Money.parse("20.00").allocate([1, 1, 1])
    except Exception:
        print("Other issues")
        return
    if sum(part.cents for part in ${name}) == 2000:
        print("Issue resolved")
    else:
        print("Issue reproduced")


if __name__ == "__main__":
    test_shares()
`;
const answer = (script: string): string => `A script.\n\n\`\`\`python\n${script}\`\`\`\n`;

/** What the model says, sample by sample: the third and fifth are one script after normalising. */
const texts = [
  answer('print("Issue resolved")\n# not "Issue reproduced"\n'),
  answer('print("Issue reproduced")\nprint("Issue resolved")\n'),
  answer(reproducing('parts', 'Shares of twenty.')),
  answer('print("Issue reproduced")\n'),
  answer(reproducing('shared', 'Twenty among three.')),
  'I cannot write a script.',
];

interface DryRun {
  readonly requests: number;
  readonly input_tokens: number;
}

describe('swt-bench generate --method agentless-tests', () => {
  const folder = scratch();
  let server: FakeModels;
  before(async () => {
    server = await fakeModels((_, number) => ({ text: texts[(number - 1) % texts.length] ?? '' }));
  });
  after(() => server.close());

  const common = [
    ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
  ];
  const argsOf = (out: string, ...more: string[]): string[] => [
    ...['generate', '--method', 'agentless-tests', '--model', 'openai-compatible/m'],
    ...['--samples', '6', '--concurrency', '1', '--run-tests-locally', '--out', out, ...common],
    ...['--storage', sharedStorage(), '--base-url', server.url, ...more],
  ];
  const generate = (out: string, ...more: string[]): Promise<Answer> => cli(argsOf(out, ...more));
  const evaluate = async (predictions: string, ...more: string[]): Promise<Evaluation> => {
    const { stdout, stderr } = await cli([
      ...['evaluate', '--predictions', predictions, '--json', ...common, ...more],
      ...['--storage', sharedStorage()],
    ]);
    assert.notEqual(stdout, '', stderr);
    return JSON.parse(stdout) as Evaluation;
  };
  const rowOf = async (out: string): Promise<Record<string, unknown>> =>
    JSON.parse(await readFile(out, 'utf8')) as Record<string, unknown>;

  it('writes the most frequent script that reproduces the issue as a test, which succeeds', async () => {
    const out = join(folder.path, 'tests.jsonl');
    const dry = JSON.parse((await generate(out, '--dry-run', '--json')).stdout) as DryRun;
    const answered = await generate(out);
    assert.equal(answered.status, 0, answered.stderr);
    const row = await rowOf(out);
    const trace = await readFile(`${out}.trace.jsonl`, 'utf8');
    const [, tokens = ''] = /^\{"step":"prompt".*"tokens":(\d+)/m.exec(trace) ?? [];
    assert.deepEqual([dry.requests, dry.input_tokens], [row['requests'], 6 * Number(tokens)]);
    assert.equal(row['chosen_sample'], 3, String(row['why']));
    assert.match(String(row['why']), /^2 of 5 scripts reproduce the issue on R, 2 of them like/);
    assert.match(answered.stderr, /discarded a script that imports nothing from the repository/);
    const patch = String(row['model_patch']);
    assert.match(patch, /^\+\+\+ b\/tests\/test_issue_reproduction\.py$/m);
    assert.match(
      patch,
      /^\+class IssueTest\(unittest\.TestCase\):$/m,
      'the style of the tests of R',
    );
    assert.doesNotMatch(patch, /print\(/);
    const [first] = server.asked;
    assert.deepEqual(
      server.asked.map(({ temperature }) => temperature),
      [0, 0.8, 0.8, 0.8, 0.8, 0.8],
    );
    assert.ok(!first?.text.includes('tallybook/money.py\n1 '), 'no code is shown');
    const { results: reports } = await evaluate(out);
    assert.deepEqual(
      reports.map(({ resolved }) => resolved),
      [true],
    );
    const before = server.asked.length;
    const requests = row['requests'];
    assert.deepEqual(
      [(await generate(out, '--replay')).status, (await generate(out)).status],
      [0, 0],
    );
    assert.equal(server.asked.length, before, 'an answered request is not sent again');
    assert.equal((await rowOf(out))['requests'], requests);
  });

  it('writes it as a script, whose exit status tells @full', async () => {
    const out = join(folder.path, 'script.jsonl');
    const answered = await generate(out, '--mode', 'reproduction-script');
    assert.equal(answered.status, 0, answered.stderr);
    const row = await rowOf(out);
    assert.equal(row['chosen_sample'], 3, String(row['why']));
    assert.match(String(row['model_patch']), /^\+\+\+ b\/reproduce_issue\.py$/m);
    const { results: reports } = await evaluate(out, '--mode', 'reproduction-script');
    assert.deepEqual(
      reports.map(({ resolved }) => resolved),
      [true],
    );
  });

  it('says in advance what it asks, and which methods write scripts @full', async () => {
    const dry = await generate(join(folder.path, 'dry.jsonl'), '--dry-run', '--json');
    assert.equal(dry.status, 0, dry.stderr);
    assert.equal((JSON.parse(dry.stdout) as { requests: number }).requests, 6);
    const judged = await generate(
      join(folder.path, 'dry.jsonl'),
      ...['--method', 'libro', '--samples', '5', '--dry-run', '--json'],
    );
    const { stages } = JSON.parse(judged.stdout) as { stages: Record<string, unknown>[] };
    assert.deepEqual(
      stages.map(({ stage, requests, at_most: isAtMost }) => [stage, requests, isAtMost]),
      [
        ['candidates', 5, undefined],
        ['judge', 5, true],
      ],
    );
    const refused = await generate(
      join(folder.path, 'x.jsonl'),
      ...['--method', 'libro', '--mode', 'reproduction-script'],
    );
    assert.equal(refused.status, 2);
    assert.match(refused.stderr, /LIBRO writes tests.*choose agentless-tests/s);
  });

  it('pays for nothing twice wherever it is killed, and runs nothing again @full', async () => {
    const out = join(folder.path, 'killed.jsonl');
    // The same answer each time: a request under way at a kill is sent again, as another number.
    const same = await fakeModels(() => ({ text: texts[2] ?? '' }));
    const args = [...argsOf(out), '--base-url', same.url];
    const steps = await killedWithSteps(args, out, [
      ['answer', 2],
      ['answer', 5],
      ['stage', 1],
      ['stage', 3],
      ['run', 1],
    ]);
    await same.close();
    assert.match(String((await rowOf(out))['why']), /^6 of 6 scripts reproduce/);
    assert.equal(steps.filter(({ step }) => step === 'answer').length, 6);
  });
});
