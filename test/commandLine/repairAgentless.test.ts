import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentlessStages, type AgentlessStage } from '../../src/method/agentless/agentlessSettings';
import { sharedStorage } from '../sharedStorage';
import { agentlessAnswer, agentlessVectors, roundedDown, stageOf } from './agentlessScript';
import { cli, sample, scratch, start, type Answer } from './cli';
import { fakeModels, type FakeModels } from './fakeModels';
import { jsonLinesOf } from './jsonLinesOf';
import { stageOutputsOf } from './stageOutputsOf';

type Row = Readonly<Record<string, unknown>>;

interface EstimatedCost {
  readonly requests: number;
  readonly answered: number;
  readonly at_most?: boolean;
  readonly input_tokens: number;
  readonly embedded_tokens?: number;
  readonly output_tokens_at_most: number;
  readonly dollars: { readonly at_most: number };
}
interface EstimatedRun extends EstimatedCost {
  readonly stages: readonly (EstimatedCost & { readonly stage: AgentlessStage })[];
}

/** Asserts that a dry run says what a run asked, and bounds its tokens and dollars from near. */
function assertBounded(run: EstimatedRun, trace: readonly Row[]): void {
  const prompts = trace.filter(({ step }) => step === 'prompt');
  const tokensIn = new Map(prompts.map(({ prompt, tokens }) => [prompt, Number(tokens)]));
  const tokensOf = (rows: readonly Row[]): number =>
    rows.reduce((sum, { prompt }) => sum + (tokensIn.get(prompt) ?? 0), 0);
  const answers = trace.filter(({ step }) => step === 'answer');
  const [vectors, ...asked] = run.stages.toSorted(
    (one, other) => Number(other.stage === 'retrieval') - Number(one.stage === 'retrieval'),
  );
  assert.deepEqual([vectors?.stage, vectors?.requests], ['retrieval', 0]);
  assert.ok((vectors?.embedded_tokens ?? 0) > 500);
  for (const { stage, at_most: isAtMost, ...bound } of asked) {
    const own = answers.filter(({ method }) => method === `agentless-${stage}`);
    const tokens = tokensOf(own);
    assert.equal(bound.requests, own.length, stage);
    const isExact = ['files', 'folders', 'reproduction'].includes(stage);
    // What follows an answer may be asked less often.
    assert.equal(isAtMost, stage === 'files' ? undefined : true, stage);
    if (isExact) assert.equal(bound.input_tokens, tokens, stage);
    else assert.ok(bound.input_tokens >= tokens, `${stage}: ${bound.input_tokens} < ${tokens}`);
  }
  const most = run.input_tokens - (vectors?.input_tokens ?? 0);
  assert.ok(most < 3 * tokensOf(answers), `${most}, ${tokensOf(answers)}`);
  const dollars = trace.reduce((sum, { dollars: of }) => sum + Number(of ?? 0), 0);
  assert.ok(run.dollars.at_most >= dollars);
  assert.equal(run.output_tokens_at_most, run.requests * 16_384);
}

describe('swt-bench repair --method agentless', () => {
  const folder = scratch();
  let server: FakeModels;
  /** Called before a request is answered; what is true leaves it without an answer. */
  let isHeld: (stage: AgentlessStage) => boolean = () => false;

  const countOf = (stage: AgentlessStage): number =>
    server.answered.filter((asked) => stageOf(asked) === stage).length;
  beforeEach(async () => {
    isHeld = () => false;
    server = await fakeModels(
      (asked) => {
        if (isHeld(stageOf(asked))) return { hang: true };
        return { text: agentlessAnswer(asked, countOf('locations')) };
      },
      (texts) => (isHeld('retrieval') ? { hang: true } : agentlessVectors(texts)),
    );
  });
  afterEach(() => server.close());

  const argsOf = (out: string, ...more: string[]): string[] => [
    ...['repair', '--method', 'agentless', '--model', 'openai-compatible/m', '--out', out],
    ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
    // The samples of locations differ, so that one after the other is asked for.
    ...['--base-url', server.url, '--concurrency', '1', '--run-tests-locally'],
    ...['--reproduction-samples', '2', ...more],
    ...(more.includes('--storage') ? [] : ['--storage', sharedStorage()]),
  ];
  const repair = (out: string, ...more: string[]): Promise<Answer> => cli(argsOf(out, ...more));
  const embedding = ['--embedding-model', 'openai-compatible/e', '--embedding-price', '0.02'];
  const estimateOf = async (out: string): Promise<EstimatedRun> => {
    const { status, stdout, stderr } = await repair(out, ...priced, '--dry-run', '--json');
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout) as EstimatedRun;
  };
  const priced = [...embedding, '--price', '2.5,10', '--budget', '5'];

  it('goes from the issue to 40 patches, and chooses by tests and votes', async () => {
    const out = join(folder.path, 'whole.jsonl');
    const bound = await estimateOf(out);
    assert.deepEqual([server.asked.length, server.embedded.length], [0, 0]);
    const answer = await repair(out, ...priced);
    assert.equal(answer.status, 0, answer.stderr);
    const outputs = await stageOutputsOf(out);
    assert.deepEqual(outputs.get('files'), ['tallybook/ledger.py', 'tallybook/money.py']);
    assert.deepEqual(outputs.get('folders'), []);
    const near = outputs.get('retrieval') as { readonly path: string }[];
    assert.ok(near.some(({ path }) => path === 'tallybook/expense.py'));
    assert.ok(!near.some(({ path }) => path.startsWith('tests/')));
    const files = outputs.get('combined') as string[];
    assert.equal(files.length, 3);
    assert.ok(files.includes('tallybook/money.py'));
    const sets = outputs.get('locations') as { readonly path: string }[][];
    assert.deepEqual(
      sets.map((set) => set.length > 0),
      [true, true, false, true],
    );
    assert.equal((outputs.get('repair') as unknown[]).length, 40);
    assert.match(answer.stderr, /ignored files that do not exist: \S*gone\.py/);
    assert.match(answer.stderr, /line 9999 of tallybook\/money\.py/);
    const [row] = await jsonLinesOf(out);
    assert.ok(String(row?.['model_patch']).includes(`+${roundedDown}\n`));
    assert.deepEqual([row?.['chosen_sample'], row?.['requests']], [2, 50]);
    assert.ok(Number(row?.['embedded_tokens']) > 500, JSON.stringify(row));
    assert.match(
      String(row?.['why']),
      /^breaks no regression test; the reproduction script prints "Issue resolved"; 36 of 40/,
    );
    const ranked = await jsonLinesOf(`${out}.ranked.jsonl`);
    assert.equal(ranked.length, 40);
    assert.deepEqual(
      [ranked[0]?.['reproduction'], ranked[39]?.['reproduction']],
      ['Issue resolved', 'Issue reproduced'],
    );
    assert.deepEqual([ranked[0]?.['rank'], ranked[0]?.['votes']], [1, 36]);
    assert.deepEqual([ranked[39]?.['rank'], ranked[39]?.['votes']], [40, 4]);
    const temperatures = server.asked.map((asked) => `${stageOf(asked)} ${asked.temperature}`);
    const count = (what: string): number => temperatures.filter((each) => each === what).length;
    assert.deepEqual(
      [count('files 0'), count('locations 0.8'), count('repair 0'), count('repair 0.8')],
      [1, 4, 4, 36],
    );
    const paid = (await jsonLinesOf(`${out}.trace.jsonl`)).filter(
      ({ dollars }) => dollars !== undefined,
    );
    const dollars = paid.reduce((sum, each) => sum + Number(each['dollars']), 0);
    assert.ok(Math.abs(dollars - Number(row?.['dollars'])) < 1e-6);
    assertBounded(bound, await jsonLinesOf(`${out}.trace.jsonl`));
    const rest = await estimateOf(out);
    assert.deepEqual([rest.requests, rest.answered, rest.input_tokens], [0, 50, 0]);
    const before = [server.asked.length, server.embedded.length];
    assert.deepEqual([(await repair(out, '--replay', ...embedding)).status], [0]);
    assert.equal((await repair(out, ...priced)).status, 0);
    assert.deepEqual([server.asked.length, server.embedded.length], before);
  });

  it('ends after a stage, leaves stages out, and takes outputs of stages', async () => {
    const out = join(folder.path, 'parts.jsonl');
    const first = await repair(out, '--until', 'elements', '--skip', 'folders');
    assert.equal(first.status, 0, first.stderr);
    assert.match(first.stdout, /^Agentless, \S+: 1 of 1 instances stopped after stage elements/);
    assert.match(first.stderr, /skipped embedding retrieval: no embedding model is set/);
    await assert.rejects(readFile(out), { code: 'ENOENT' });
    assert.deepEqual([countOf('files'), countOf('folders'), countOf('locations')], [1, 0, 0]);
    assert.ok((await stageOutputsOf(out)).has('elements'));

    const given = await folder.file(
      'given.jsonl',
      `${JSON.stringify({
        ...{ instance: 'tallybook__tallybook-217', stage: 'locations' },
        output: [[{ path: 'tallybook/money.py', intervals: [[48, 50]] }]],
      })}\n`,
    );
    const tests = 'regression,reproduction';
    const all = `files,folders,retrieval,combined,elements,${tests}`;
    const own = join(folder.path, 'given-out.jsonl');
    const second = await repair(
      ...[own, '--skip', all, '--stages-from', given, '--repair-samples', '2'],
      ...['--context-lines', '1'],
    );
    assert.equal(second.status, 0, second.stderr);
    assert.deepEqual([countOf('files'), countOf('locations'), countOf('repair')], [1, 0, 2]);
    const shown = server.asked.at(-1)?.text ?? '';
    assert.ok(shown.includes('### tallybook/money.py\n...\n            raise ValueError('), shown);
    const trace = `${out}.trace.jsonl`;
    const third = await repair(
      ...[join(folder.path, 'third.jsonl'), '--stages-from', trace, '--skip', tests],
    );
    assert.equal(third.status, 0, third.stderr);
    assert.deepEqual([countOf('files'), countOf('elements'), countOf('locations')], [1, 1, 4]);
  });

  it('ranks given patches by tests, and asks for none', async () => {
    const patchOf = (line: string): string =>
      [
        ...['--- a/tallybook/money.py', '+++ b/tallybook/money.py', '@@ -48,5 +48,5 @@'],
        ...unchanged.slice(0, 2).map((each) => ` ${each}`),
        ...[`-${unchanged[2]}`, `+${line}`],
        ...unchanged.slice(3).map((each) => ` ${each}`),
        '',
      ].join('\n');
    const source = await readFile(join(sample, 'repository', 'tallybook', 'money.py'), 'utf8');
    const unchanged = source.split('\n').slice(47, 52);
    const rows = [unchanged[2] ?? '', roundedDown, 'nothing of the file'].map((line, at) => ({
      ...{ instance_id: 'tallybook__tallybook-217', model_name_or_path: 'others' },
      model_patch: at === 2 ? 'no patch' : patchOf(at === 0 ? `${line}  # as before` : line),
    }));
    const given = await folder.file(
      'others.jsonl',
      rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    );
    const out = join(folder.path, 'ranked-others.jsonl');
    const answer = await repair(out, '--stages-from', given, '--price', '1,1');
    assert.equal(answer.status, 0, answer.stderr);
    assert.match(answer.stderr, /given patch 3 is ignored: /);
    assert.deepEqual(new Set(server.asked.map(stageOf)), new Set(['regression', 'reproduction']));
    const [row] = await jsonLinesOf(out);
    assert.deepEqual([row?.['chosen_sample'], row?.['requests']], [2, 3]);
    const ranked = await jsonLinesOf(`${out}.ranked.jsonl`);
    assert.deepEqual(
      ranked.map(({ reproduction }) => reproduction),
      ['Issue resolved', 'Issue reproduced'],
    );
    // A whole trace gives the tests too, so that nothing is asked for.
    const asked = server.asked.length;
    const again = join(folder.path, 'ranked-again.jsonl');
    const second = await repair(again, '--stages-from', `${out}.trace.jsonl`, '--price', '1,1');
    assert.equal(second.status, 0, second.stderr);
    assert.equal(server.asked.length, asked);
    const [free] = await jsonLinesOf(again);
    assert.deepEqual([free?.['model_patch'], free?.['dollars']], [row?.['model_patch'], 0]);
    assert.deepEqual(await jsonLinesOf(`${again}.ranked.jsonl`), ranked);
  });

  it('refuses options that make no sense together @full', async () => {
    const cases = [
      [['--method', 'rag', '--top-files', '2'], /--top-files applies to agentless, not to rag/],
      [['--embedding-price', '1'], /need an embedding model/],
      [['--until', 'files', '--skip', 'files'], /names a stage that --skip skips/],
      [['--skip', 'repair'], /Use a comma-separated list of files, /],
      [['--take', 'repair'], /Add --stages-from FILE/],
      [
        ['--embedding-model', 'anthropic/x'],
        /There is no API key|anthropic has no embedding models/,
      ],
      [['--stages-from', join(sample, 'instance.jsonl')], /has no output of a stage/],
      [[...embedding.slice(0, 2), '--price', '1,1', '--budget', '1'], /Add --embedding-price/],
    ] as const;
    for (const [more, said] of cases) {
      const { status, stderr } = await repair(join(folder.path, 'refused.jsonl'), ...more);
      assert.equal(status, 2, stderr);
      assert.match(stderr, said);
    }
    assert.equal(server.asked.length, 0);
  });

  it('killed in each stage, repeats no answered request and ends with the same bytes @full', async () => {
    const whole = join(folder.path, 'not-killed.jsonl');
    const storage = (name: string): string[] => ['--storage', join(folder.path, name)];
    assert.equal((await repair(whole, ...priced, ...storage('storage 1'))).status, 0);
    const answered = [server.answered.length, server.embedded.length];
    await server.close();
    server = await fakeModels(
      (asked) => {
        if (isHeld(stageOf(asked))) return { hang: true };
        return { text: agentlessAnswer(asked, countOf('locations')) };
      },
      (texts) => (isHeld('retrieval') ? { hang: true } : agentlessVectors(texts)),
    );
    const out = join(folder.path, 'killed.jsonl');
    const args = argsOf(out, ...priced, ...storage('storage 2'));
    let kills = 0;
    for (const stage of agentlessStages.filter((each) => each !== 'combined')) {
      // In the middle of a stage with several requests.
      let left = { locations: 2, repair: 17, reproduction: 1 }[stage as string] ?? 0;
      const { child, answer } = start(args);
      isHeld = (asked) => {
        if (asked !== stage || left-- > 0) return false;
        kills += 1;
        child.kill('SIGKILL');
        return true;
      };
      await answer;
    }
    isHeld = () => false;
    assert.equal(kills, 8);
    const last = await cli(args);
    assert.equal(last.status, 0, last.stderr);
    assert.deepEqual([server.answered.length, server.embedded.length], answered);
    for (const ending of ['', '.ranked.jsonl']) {
      assert.deepEqual(
        await jsonLinesOf(`${out}${ending}`),
        await jsonLinesOf(`${whole}${ending}`),
      );
      assert.equal(
        await readFile(`${out}${ending}`, 'utf8'),
        await readFile(`${whole}${ending}`, 'utf8'),
      );
    }
  });
});
