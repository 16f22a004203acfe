import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isEveryday } from '../everyday';
import { cli, sample, scratch, start, type Answer, type Evaluation } from './cli';
import { fakeModels, type Asked, type FakeModels, type Reply } from './fakeModels';
import { manyIds, writeManyInstances } from './manyInstances';

const count = isEveryday ? 8 : 24;

describe('generate on many instances', () => {
  const folder = scratch();
  let dataset: string;
  let server: FakeModels | undefined;
  let outs = 0;
  before(async () => {
    dataset = join(folder.path, 'many.jsonl');
    await writeManyInstances(dataset, count);
  });
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  const serve = async (
    script: (asked: Asked, number: number) => Reply | Promise<Reply>,
  ): Promise<void> => {
    server = await fakeModels(script);
  };
  const generateTo = (out: string, ...more: string[]): Promise<Answer> =>
    cli([
      ...['generate', '--method', 'zero-shot', '--model', 'openai-compatible/m', '--out', out],
      ...['--dataset', dataset, '--source', join(sample, 'repository')],
      ...['--storage', join(folder.path, 'storage'), '--base-url', server?.url ?? ''],
      ...more,
    ]);
  const generate = async (...more: string[]): Promise<Answer & { readonly out: string }> => {
    const out = join(folder.path, `out-${outs++}`, 'predictions.jsonl');
    return { ...(await generateTo(out, ...more)), out };
  };
  const idsIn = async (out: string): Promise<string[]> =>
    (await readFile(out, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { instance_id: string }).instance_id)
      .sort();

  it('asks for several instances at once by default', async () => {
    let inFlight = 0;
    let most = 0;
    let go: () => void = () => undefined;
    const four = new Promise<void>((done) => (go = done));
    await serve(async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      if (inFlight === 4) go();
      // No answer comes before four requests are in flight.
      await four;
      inFlight -= 1;
      return { text: 'words' };
    });
    const answer = await generate();
    assert.equal(answer.status, 0, answer.stderr);
    assert.ok(most >= 4 && most <= 16, String(most));
    assert.deepEqual(await idsIn(answer.out), manyIds(count));
  });

  it('never has more requests in flight than --concurrency', async () => {
    let inFlight = 0;
    let most = 0;
    let go: () => void = () => undefined;
    const two = new Promise<void>((done) => (go = done));
    await serve(async () => {
      most = Math.max(most, ++inFlight);
      if (inFlight === 2) go();
      // No answer comes before two requests are in flight.
      await two;
      inFlight -= 1;
      return { text: 'words' };
    });
    assert.equal((await generate('--concurrency', '2')).status, 0);
    assert.equal(most, 2);
  });

  it('loses no instance to a gateway with a rate limit, errors and slow answers @full', async () => {
    let last = 0;
    let refused = 0;
    await serve(async (_, number) => {
      const wait = last + 60 - Date.now();
      if (wait > 0) {
        refused += 1;
        return { status: 429, headers: { 'retry-after-ms': String(wait) } };
      }
      last = Date.now();
      if (number % 7 === 0) return { status: 503 };
      if (number % 11 === 0) return { drop: 'within', text: 'words '.repeat(40) };
      await sleep(number % 5 === 0 ? 400 : 5);
      return { text: 'words' };
    });
    // A 429 is no retry: one request has many more of them.
    const answer = await generate('--retries', '6', '--concurrency', '16');
    assert.equal(answer.status, 0, answer.stderr);
    assert.ok(refused > 0);
    assert.deepEqual(await idsIn(answer.out), manyIds(count));
    assert.match(answer.stderr, /status 429.*pausing all requests for \d+ s/);
  });

  it('says what a run would ask and cost, without a key and without asking', async () => {
    await serve(() => ({ text: 'words' }));
    const few = ['--limit', '3', '--context-tokens', '3000', '--price', '1000,10'];
    const dry = await generate(...few, '--dry-run', '--json', '--model', 'openai/m');
    assert.equal(dry.status, 0, dry.stderr);
    const found = JSON.parse(dry.stdout) as Record<string, number> & {
      dollars: { input: number; at_most: number };
    };
    assert.equal(server?.asked.length, 0);
    assert.deepEqual([found['requests'], found['answered']], [3, 0]);
    assert.equal(found['output_tokens_at_most'], 3 * 16_384);
    await assert.rejects(readFile(`${dry.out}.trace.jsonl`), /ENOENT/);
    const run = await generate(...few);
    const trace = (await readFile(`${run.out}.trace.jsonl`, 'utf8')).trim().split('\n');
    const prompts = trace
      .map((line) => JSON.parse(line) as { step: string; tokens: number })
      .filter(({ step }) => step === 'prompt');
    const tokens = prompts.reduce((sum, prompt) => sum + prompt.tokens, 0);
    assert.equal(found['input_tokens'], tokens);
    assert.ok(Math.abs(found.dollars.input - tokens / 1000) < 1e-9);
    const rest = await generateTo(run.out, ...few, '--limit', '5', '--dry-run');
    assert.match(rest.stdout, /^5 instances, 2 requests; the trace has 3 further answers\ninput: /);
    assert.equal(server?.asked.length, 3);
  });

  it('bounds what an agent would cost', async () => {
    const of = ['--method', 'swe-agent', '--engine', 'docker', '--dry-run', '--price', '1,1'];
    const answer = await generate(...of, '--instance-budget', '2');
    assert.equal(answer.status, 0, answer.stderr);
    assert.match(answer.stdout, new RegExp(`at most 20 requests for each of ${count} instances`));
    assert.match(
      answer.stdout,
      new RegExp(`at most about \\$2\\.00 each, \\$${2 * count}\\.00 for all`),
    );
  });

  it('writes predictions that evaluate takes while it still runs', async () => {
    const [first = '', second = ''] = manyIds(2);
    let go: () => void = () => undefined;
    const evaluated = new Promise<void>((done) => (go = done));
    await serve(async (_, number) => {
      if (number === 2) await evaluated;
      return { text: 'words' };
    });
    const out = join(folder.path, `out-${outs++}`, 'predictions.jsonl');
    const running = generateTo(out, '--ids', `${first},${second}`, '--workers', '1');
    await new Promise<void>((done) => {
      // The first prediction is written as soon as there is one.
      const timer = setInterval(() => {
        if (!existsSync(out)) return;
        clearInterval(timer);
        done();
      }, 20);
    });
    const graded = await cli([
      ...['evaluate', '--dataset', dataset, '--source', join(sample, 'repository')],
      ...['--storage', join(folder.path, 'storage'), '--predictions', out, '--json'],
      ...['--ids', first],
    ]);
    go();
    assert.equal(graded.status, 0, graded.stderr);
    const { results } = JSON.parse(graded.stdout) as Evaluation;
    assert.deepEqual(
      results.map(({ instance_id: id }) => id),
      [first],
    );
    assert.equal((await running).status, 0);
    assert.deepEqual(await idsIn(out), [first, second]);
  });

  it('grades with --evaluate while it still asks, and leaves the results of an evaluation', async () => {
    const [first = '', second = ''] = manyIds(2);
    const candidate = [
      ...['--- /dev/null', '+++ b/tests/test_lost_cent.py', '@@ -0,0 +1,6 @@'],
      ...['+import unittest', '+from tallybook.money import Money'],
      ...['+class LostCentTest(unittest.TestCase):', '+    def test_no_cent_is_lost(self):'],
      ...['+        parts = Money(2000).allocate([1, 1, 1])'],
      '+        self.assertEqual(sum(part.cents for part in parts), 2000)',
    ].join('\n');
    let go: () => void = () => undefined;
    const graded = new Promise<void>((done) => (go = done));
    await serve(async (_, number) => {
      if (number === 2) await graded;
      return { text: `\`\`\`diff\n${candidate}\n\`\`\`` };
    });
    const out = join(folder.path, `out-${outs++}`, 'predictions.jsonl');
    const results = join(folder.path, `results-${outs++}`);
    const { child, answer } = start([
      ...['generate', '--method', 'zero-shot', '--model', 'openai-compatible/m', '--out', out],
      ...['--dataset', dataset, '--source', join(sample, 'repository')],
      ...['--storage', join(folder.path, 'storage'), '--base-url', server?.url ?? ''],
      ...['--ids', `${first},${second}`, '--workers', '1', '--evaluate', results],
    ]);
    let said = '';
    child.stderr?.on('data', (piece: Buffer) => {
      said += piece.toString();
      if (said.includes(`${first}: graded: `)) go();
    });
    const { status, stdout, stderr } = await answer;
    assert.equal(status, 0, stderr);
    assert.match(stdout, /2 of 2 instances have a prediction/);
    const report = await cli(['report', results, '--format', 'json']);
    assert.equal(report.status, 0, report.stderr);
    assert.match(report.stdout, /zero-shot\/openai-compatible\/m/);
    const again = await cli([
      ...['evaluate', '--dataset', dataset, '--source', join(sample, 'repository'), '--json'],
      ...['--storage', join(folder.path, 'storage'), '--predictions', out],
      ...['--ids', `${first},${second}`, '--out', results],
    ]);
    const { results: entries } = JSON.parse(again.stdout) as Evaluation;
    assert.deepEqual(
      entries.map(({ strict }) => strict?.success),
      [true, true],
    );
  });

  it('takes the first instances of an order that a seed decides', async () => {
    await serve(() => ({ text: 'words' }));
    const few = ['--limit', '3'];
    const firsts = await Promise.all([
      generate(...few),
      generate(...few, '--shuffle', '7'),
      generate(...few, '--shuffle', '7'),
      generate(...few, '--shuffle', '8'),
    ]);
    const [plain, seven, again, eight] = await Promise.all(firsts.map(({ out }) => idsIn(out)));
    assert.deepEqual(plain, manyIds(3));
    assert.deepEqual(seven, again);
    assert.equal(seven?.length, 3);
    assert.notDeepEqual(seven, plain);
    assert.notDeepEqual(seven, eight);
  });

  it('keeps in the trace what changes an answer, and no header', async () => {
    await serve(() => ({ text: 'words' }));
    const few = ['--limit', '2', '--top-p', '0.9', '--reasoning-effort', 'low'];
    const more = [...few, '--body', 'seed=7', '--body', 'user="me"'];
    const secret = 'a-secret-of-a-gateway';
    const answer = await generate(...more, '--header', `X-Gateway=${secret}`);
    assert.equal(answer.status, 0, answer.stderr);
    const asked = server?.asked[0];
    assert.equal(asked?.headers['x-gateway'], secret);
    const { seed, user, top_p, reasoning_effort } = asked.body;
    assert.deepEqual([seed, user, top_p, reasoning_effort], [7, 'me', 0.9, 'low']);
    const trace = await readFile(`${answer.out}.trace.jsonl`, 'utf8');
    const step = trace.split('\n').find((line) => line.includes('"step":"answer"')) ?? '';
    assert.deepEqual((JSON.parse(step) as { parameters: unknown }).parameters, {
      ...{ temperature: 0, topP: 0.9, maxOutputTokens: 16_384, reasoningEffort: 'low' },
      body: { seed: 7, user: 'me' },
    });
    const all = `${trace}${answer.stderr}${answer.stdout}${await readFile(answer.out, 'utf8')}`;
    assert.equal(all.includes(secret), false);
    const replayed = await generateTo(answer.out, ...more, '--replay');
    assert.equal(replayed.status, 0, replayed.stderr);
    const other = await generateTo(answer.out, ...few, '--body', 'seed=8', '--replay');
    assert.match(other.stderr, /the trace has no answer/);
  });

  it('stops at the budget of an instance, and goes on with the others', async () => {
    await serve(() => ({ text: 'words '.repeat(100) }));
    const [first = '', second = ''] = manyIds(2);
    const pricey = ['--price', '0,1000', '--max-output-tokens', '1000', '--samples', '3'];
    const asked = ['--method', 'libro', '--run-tests-locally', ...pricey];
    const answer = await generate(
      ...asked,
      '--ids',
      `${first},${second}`,
      '--instance-budget',
      '1.2',
    );
    assert.equal(answer.status, 1, answer.stderr);
    // 150 tokens an answer for 0.15 dollars, of which each request reserves one whole dollar.
    assert.equal(server?.asked.length, 4);
    for (const id of [first, second]) {
      assert.match(
        answer.stderr,
        new RegExp(`${id}: no prediction: the budget of \\$1\\.2 for an instance is too small`),
      );
    }
  });
});
