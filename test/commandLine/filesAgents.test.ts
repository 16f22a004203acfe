import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sharedStorage } from '../sharedStorage';
import { cli, onSample, sample, scratch, type Evaluation } from './cli';
import { fakeModels, type Asked, type FakeModels, type Reply } from './fakeModels';
import { killedAtEachStep, type KeptStep } from './killedAtEachStep';
import { scriptsOfFilesAgents } from './recordedSession';

/** Agents that need the files of R alone run on the local engine, without a permission to run tests. */
describe('agents without a shell', () => {
  const folder = scratch();
  let server: FakeModels | undefined;
  let count = 0;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  const serve = async (reply: (asked: Asked, number: number) => Reply): Promise<void> => {
    await server?.close();
    server = await fakeModels(reply);
  };
  const newOut = (): string => join(folder.path, `out-${count++}`, 'predictions.jsonl');
  const args = (method: string, out: string, ...more: string[]): string[] => [
    ...['generate', '--method', method, '--model', 'openai-compatible/m', '--out', out],
    ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
    ...['--storage', sharedStorage(), '--base-url', server?.url ?? 'http://0.0.0.0:9'],
    ...more,
  ];
  const actsOf = async (out: string): Promise<KeptStep[]> =>
    (await readFile(`${out}.trace.jsonl`, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as KeptStep)
      .filter(({ step }) => step === 'act');

  for (const [method, script] of Object.entries(scriptsOfFilesAgents)) {
    describe(method, () => {
      it('writes a test that reproduces, and is replayed without a model', async () => {
        await serve((_, number) => ({ text: script[number - 1] ?? '' }));
        const out = newOut();
        const answer = await cli(args(method, out, '--price', '2,8'));
        assert.equal(answer.status, 0, answer.stderr);
        assert.equal(server?.asked.length, script.length);
        // An answer without a text is asked again, and is no call of the agent.
        const calls = script.filter((text) => text !== '').length;
        assert.match(answer.stderr, new RegExp(`submitted after ${calls} calls`));
        const written = await readFile(out, 'utf8');
        const evaluated = await cli(onSample(sharedStorage(), out, '--json'));
        const [result] = (JSON.parse(evaluated.stdout) as Evaluation).results;
        assert.ok(result?.strict?.success, evaluated.stdout);
        await rm(out);
        await server.close();
        assert.equal((await cli(args(method, out, '--price', '2,8', '--replay'))).status, 0);
        assert.equal(await readFile(out, 'utf8'), written);
      });

      it('goes on after kill -9 at any call, and asks the same as without @full', async () => {
        await serve((_, number) => ({ text: script[number - 1] ?? '' }));
        const whole = newOut();
        assert.equal((await cli(args(method, whole))).status, 0);
        const expected = server?.asked.map(({ text }) => text) ?? [];
        const out = newOut();
        const { asked, steps } = await killedAtEachStep(
          (url) => args(method, out, '--base-url', url),
          out,
          script.map((text) => ({ text })),
        );
        assert.deepEqual(asked, expected);
        const acts = steps.filter(({ step }) => step === 'act');
        const unbroken = await actsOf(whole);
        assert.deepEqual(
          acts.map(({ patch }) => patch),
          unbroken.map(({ patch }) => patch),
        );
        assert.ok(acts.every(({ isRestarted }) => isRestarted === undefined));
        assert.equal(await readFile(out, 'utf8'), await readFile(whole, 'utf8'));
      });

      it('ends by its limit of dollars in the middle, and says so', async () => {
        await serve((_, number) => ({ text: script[number - 1] ?? '' }));
        const answer = await cli(args(method, newOut(), '--price', '2000,8000'));
        assert.match(answer.stderr, /ended by its limit of dollars after \d call/);
        assert.ok((server?.asked.length ?? 0) < script.length);
      });
    });
  }
});
