import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cli, onSample, sample, scratch, start, type Evaluation } from './cli';
import { fakeModels, type Asked, type FakeModels, type Reply } from './fakeModels';
import type { SaidCall } from './fakeToolCalls';
import { lostCentPatch } from './lostCent';

/** A line of the trace. */
interface Line {
  readonly step: string;
  readonly key: string;
  readonly action?: string;
  readonly observation?: string;
  readonly call?: { readonly name: string; readonly isError: boolean };
}

const apply: SaidCall = { name: 'apply_candidate', input: { patch: lostCentPatch } };
const run: SaidCall = { name: 'run_tests' };
const calls = (...made: SaidCall[]): Reply => ({ text: 'I go on.', calls: made });

describe('generate --method tools @full', () => {
  const folder = scratch();
  let server: FakeModels | undefined;
  let count = 0;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  const serve = async (script: (asked: Asked, number: number) => Reply): Promise<void> => {
    await server?.close();
    server = await fakeModels(script);
  };
  const play = (script: readonly Reply[]): Promise<void> =>
    serve((_, number) => script[number - 1] ?? { text: 'Nothing more.' });
  const newOut = (): string => join(folder.path, `out-${count++}`, 'predictions.jsonl');
  const args = (out: string, ...more: string[]): string[] => [
    ...['generate', '--method', 'tools', '--model', 'openai-compatible/m', '--out', out],
    ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
    ...['--storage', join(folder.path, 'storage'), '--base-url', server?.url ?? ''],
    ...['--run-tests-locally', ...more],
  ];
  const traceOf = async (out: string): Promise<Line[]> =>
    (await readFile(`${out}.trace.jsonl`, 'utf8').catch(() => ''))
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);
  const actsOf = async (out: string): Promise<Line[]> =>
    (await traceOf(out)).filter(({ step }) => step === 'act');
  const evaluated = async (out: string): Promise<Evaluation['results'][number]> => {
    const answer = await cli(onSample(join(folder.path, 'storage'), out, '--json'));
    const [result] = (JSON.parse(answer.stdout) as Evaluation).results;
    assert.ok(result, answer.stderr);
    return result;
  };

  for (const provider of ['openai-compatible', 'anthropic']) {
    for (const how of [[], ['--no-stream']]) {
      it(`leads to a resolved instance, by ${[provider, ...how].join(' ')}`, async () => {
        const cut = { name: 'apply_candidate', input: '{"patch": "--- /dev/null\\n+++ b/te' };
        await play([
          calls(
            { name: 'search_code', input: { query: 'allocate', kind: 'function' } },
            { name: 'read_file', input: { path: 'tallybook/money.py', start_line: '35' } },
          ),
          calls({ name: 'bash', input: { command: 'ls' } }, { name: 'run_tests' }),
          // Anthropic's whole answers hold no half of a JSON text.
          ...(how.length > 0 ? [] : [{ text: '', finish: 'length', calls: [cut] } as const]),
          calls(apply, run),
          { text: 'The test shows that a cent is lost.' },
        ]);
        const out = newOut();
        const answer = await cli(
          args(out, '--model', `${provider}/m`, '--price', '2,8', '--json', ...how),
          { ANTHROPIC_API_KEY: 'sk-a-key' },
        );
        assert.equal(answer.status, 0, answer.stderr);
        const [row] = (
          JSON.parse(answer.stdout) as { results: { why: string; requests: number }[] }
        ).results;
        const requests = how.length > 0 ? 4 : 5;
        assert.equal(row?.why, `the model finished after ${requests} calls`);
        assert.deepEqual([row.requests, server?.asked.length], [requests, requests]);
        assert.ok(server?.asked.every(({ temperature }) => temperature === 0));
        const acts = await actsOf(out);
        assert.deepEqual(
          acts.map(({ call }) => [call?.name, call?.isError]),
          [
            ['search_code', false],
            ['read_file', false],
            ['bash', true],
            ['run_tests', true],
            ['apply_candidate', false],
            ['run_tests', false],
          ],
        );
        assert.match(acts[2]?.observation ?? '', /There is no tool "bash"/);
        assert.match(acts[3]?.observation ?? '', /There is no candidate yet/);
        assert.match(acts[5]?.observation ?? '', /FAILED tests\/test_lost_cent\.py/);
        const result = await evaluated(out);
        assert.equal(result.strict?.success, true);
        assert.equal(result.resolved, true);
      });
    }
  }

  it('goes on after kill -9, in an answer and between its calls: nothing is paid or made twice', async () => {
    const script = [calls({ name: 'read_issue' }), calls(apply, run), { text: 'Done.' }];
    const out = newOut();
    /** Begins the command, which is killed when it asks for an answer after `answers` of the script. */
    const begin = async (
      answers: number,
    ): Promise<{ kill: () => void; ended: Promise<unknown> }> => {
      const running: { kill: () => void } = { kill: () => undefined };
      const before = (await traceOf(out)).filter(({ step }) => step === 'answer').length;
      await serve((_, number) => {
        if (before + number <= answers) return script[before + number - 1] ?? { text: 'More?' };
        running.kill();
        return { hang: true };
      });
      const { child, answer } = start(args(out));
      running.kill = () => child.kill('SIGKILL');
      return { kill: () => child.kill('SIGKILL'), ended: answer };
    };
    await (
      await begin(1)
    ).ended;
    assert.equal((await actsOf(out)).length, 1);
    // Killed while tests run, after the call before them is on the disk.
    const { kill, ended } = await begin(2);
    let isOver = false;
    void ended.then(() => (isOver = true));
    while (!isOver && (await actsOf(out)).length < 2) await sleep(5);
    kill();
    await ended;
    const paid = server?.answered.length;
    assert.equal(paid, 1);
    await (
      await begin(2)
    ).ended;
    assert.equal(server?.answered.length, 0, 'both answers are in the trace');
    await play([{ text: 'Done.' }]);
    assert.equal((await cli(args(out))).status, 0);
    assert.equal(server?.asked.length, 1);
    const trace = await traceOf(out);
    assert.deepEqual(
      trace.flatMap(({ call }) => call?.name ?? []),
      ['read_issue', 'apply_candidate', 'run_tests'],
    );
    for (const step of ['answer', 'act']) {
      const keys = trace.filter((each) => each.step === step).map(({ key }) => key);
      assert.deepEqual([keys.length, new Set(keys).size], [3, 3], step);
    }
    assert.equal((await evaluated(out)).strict?.success, true);
    const written = await readFile(out, 'utf8');
    await rm(out);
    await server?.close();
    assert.equal((await cli(args(out, '--replay'))).status, 0);
    assert.equal(await readFile(out, 'utf8'), written);
  });

  it('ends at the limit of its calls with the candidate that there is', async () => {
    await serve((_, number) => calls(number === 1 ? apply : { name: 'read_issue' }));
    const out = newOut();
    const answer = await cli(args(out));
    assert.equal(server?.asked.length, 20);
    assert.match(answer.stderr, /ended by the limit of 20 calls/);
    assert.match(await readFile(out, 'utf8'), /test_lost_cent/);
  });

  it('says so when the server takes no tools, and when tests of models may not run', async () => {
    await play([{ status: 400, error: 'm does not support tools' }]);
    const answer = await cli(args(newOut()));
    assert.equal(answer.status, 2);
    assert.match(
      answer.stderr,
      /openai-compatible\/m does not support tool calls .*m does not support tools.*Choose a model that does/,
    );
    const local = await cli(args(newOut()).filter((each) => each !== '--run-tests-locally'));
    assert.equal(local.status, 2);
    assert.match(local.stderr, /Tools runs tests that the model writes/);
  });
});
