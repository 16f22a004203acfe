import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tokenCounter } from '../../src/method/prompt/tokens';
import { cli, sample, scratch, type Answer } from './cli';
import { fakeModels, type Asked, type FakeModels, type Reply } from './fakeModels';
import { lostCentPatch } from './lostCent';

interface AnswerLine {
  readonly step: string;
  readonly text: string;
  readonly reasoning?: readonly { readonly text: string }[];
  readonly parameters: { readonly maxOutputTokens: number };
}

/** A server whose model has a small window, and what a run does that has not been told of it. */
describe('the window of a model', () => {
  const folder = scratch();
  let server: FakeModels | undefined;
  let count = 0;
  afterEach(() => server?.close());

  /** Refuses prompts of more tokens than this, as vLLM does, and answers the others. */
  const serve = async (window: number, script: (number: number) => Reply): Promise<void> => {
    const tokensOf = await tokenCounter();
    let answered = 0;
    server = await fakeModels(({ text, maxTokens = 0 }: Asked) => {
      const asked = tokensOf(text) + maxTokens;
      if (asked <= window) return script((answered += 1));
      const error = `This model's maximum context length is ${window} tokens. However, you requested ${asked} tokens`;
      return { status: 400, error };
    });
  };
  const generate = (method: string, out: string, ...more: string[]): Promise<Answer> =>
    cli([
      ...['generate', '--method', method, '--model', 'openai-compatible/m', '--out', out],
      ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
      ...['--storage', join(folder.path, 'storage'), '--base-url', server?.url ?? ''],
      ...['--max-output-tokens', '400', '--run-tests-locally', ...more],
    ]);
  const newOut = (): string => join(folder.path, `out-${count++}`, 'predictions.jsonl');
  const answersOf = async (out: string): Promise<AnswerLine[]> =>
    (await readFile(`${out}.trace.jsonl`, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as AnswerLine)
      .filter(({ step }) => step === 'answer');

  it('is learnt from a refusal: the prompt gets fewer files, and so does that of the next run', async () => {
    await serve(3500, () => ({ text: lostCentPatch }));
    const answer = await generate('zero-shot', newOut());
    assert.equal(answer.status, 0, answer.stderr);
    const tries = server?.asked.length ?? 0;
    assert.ok(tries >= 2, `${tries} requests`);
    const again = await generate('zero-shot-plus', newOut());
    assert.equal(again.status, 0, again.stderr);
    assert.equal(server?.asked.length, tries + 1, 'the next run is refused nothing');
  });

  it('bounds what an agent remembers, and the same command asks for nothing twice', async () => {
    const read = { name: 'read_file', input: { path: 'tallybook/money.py' } };
    const calls = [read, read, read, { name: 'apply_candidate', input: { patch: lostCentPatch } }];
    await serve(8000, (number) => {
      const call = calls[number - 1];
      return call === undefined ? { text: 'Done.' } : { text: 'Next.', calls: [call] };
    });
    const out = newOut();
    const answer = await generate('tools', out, '--limits', 'modern');
    assert.equal(answer.status, 0, answer.stderr);
    assert.equal((await answersOf(out)).length, calls.length + 1);
    const asked = server?.asked.length;
    const replayed = await generate('tools', out, '--limits', 'modern', '--replay');
    assert.equal(replayed.status, 0, replayed.stderr);
    assert.equal(server?.asked.length, asked);
  });

  it('too small for an agent in the middle, leaves the candidate that there is', async () => {
    const fill = { name: 'read_file', input: { path: 'tallybook/money.py' } };
    const long = 'word '.repeat(3000);
    await serve(9000, (number) =>
      number === 1
        ? { text: long, calls: [{ name: 'apply_candidate', input: { patch: lostCentPatch } }] }
        : { text: long, calls: [fill] },
    );
    const answer = await generate('tools', newOut());
    assert.equal(answer.status, 0, answer.stderr);
    assert.match(answer.stderr, /length of its history/);
  });

  it('of which reasoning has taken all, leads to one request with more room, and then to advice', async () => {
    await serve(30_000, (number) => ({
      text: number === 2 ? lostCentPatch : '<think>hm</think>',
      finish: number === 2 ? 'stop' : 'length',
    }));
    const out = newOut();
    const answer = await generate('zero-shot', out, '--temperature', '0.3');
    assert.equal(answer.status, 0, answer.stderr);
    const limits = (await answersOf(out)).map(({ parameters }) => parameters.maxOutputTokens);
    assert.deepEqual(limits, [400, 1600]);
    await server?.close();
    await serve(30_000, () => ({ text: '<think>hm</think>', finish: 'length' }));
    const none = await generate('zero-shot', newOut(), '--temperature', '0.4');
    assert.equal(none.status, 1);
    assert.match(none.stderr, /went to reasoning: raise --max-output-tokens/);
    assert.equal(server?.asked.length, 2);
  });

  it('is no matter where a model writes its calls as text, which is said', async () => {
    await serve(30_000, () => ({ text: '<tool_call>{"name": "read_issue"}</tool_call>' }));
    const answer = await generate('tools', newOut());
    assert.equal(answer.status, 1);
    assert.match(answer.stderr, /writes its calls as text: the server lacks a tool-call parser/);
  });
});
