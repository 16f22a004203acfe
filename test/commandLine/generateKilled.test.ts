import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cli, onSample, sample, scratch, start, type Evaluation } from './cli';
import { fakeModels, type Asked, type FakeModels, type Reply } from './fakeModels';

/**
 * When a run is killed: at a request, in the middle of its answer, or after some steps of the
 * trace.
 */
type Moment =
  | { readonly at: 'request' | 'answer'; readonly number: number }
  | { readonly at: 'step'; readonly number: number };

describe('generate, killed and started again @full', () => {
  const folder = scratch();
  let server: FakeModels | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  const isJudge = (asked: Asked): boolean => asked.text.includes('YES or NO');
  let texts: string[];
  before(async () => {
    const lines = (await readFile(join(sample, 'predictions.jsonl'), 'utf8')).trim().split('\n');
    const rows = lines.map(
      (line) => JSON.parse(line) as { model_name_or_path: string; model_patch: string },
    );
    texts = ['passes-on-both', 'fails-on-both', 'custom-format', 'covers-some'].map(
      (name) => rows.find((row) => row.model_name_or_path === name)?.model_patch ?? '',
    );
  });

  const random = (from: number, to: number): number =>
    from + Math.floor(Math.random() * (to - from + 1));
  const moments = (): Moment[] => [
    { at: 'request', number: random(1, 3) },
    { at: 'answer', number: random(1, 3) },
    // Before the judges: after five answers come patches and runs, without a request.
    { at: 'step', number: random(8, 12) },
    { at: Math.random() < 0.5 ? 'request' : 'answer', number: random(1, 2) },
    { at: 'request', number: 1 },
  ];

  it('asks for nothing twice that was answered, wherever it is killed', async function () {
    const plan = moments();
    const told = JSON.stringify(plan);
    const out = join(folder.path, 'killed', 'predictions.jsonl');
    let kill = (): void => undefined;
    let moment: Moment | undefined;
    let inRun = 0;
    server = await fakeModels((asked): Reply => {
      inRun += 1;
      const answered = server?.answered.filter((each) => !isJudge(each)).length ?? 0;
      const text = isJudge(asked)
        ? `Reasons.\n\n${asked.text.includes('surplus_cent') ? 'NO' : 'YES'}`
        : (texts[answered % texts.length] ?? '');
      if (moment?.at === 'request' && inRun === moment.number) {
        kill();
        return { hang: true };
      }
      if (moment?.at === 'answer' && inRun === moment.number) {
        return { stall: () => kill(), text: `${text}${' '.repeat(100)}` };
      }
      // Hold the request until the kill, which must not happen between an answer and the disk.
      if (moment?.at === 'step' && isJudge(asked)) return { hang: true };
      return { text };
    });
    const args = [
      ...['generate', '--method', 'libro', '--model', 'openai-compatible/m', '--out', out],
      '--run-tests-locally',
      ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
      ...['--storage', join(folder.path, 'storage'), '--base-url', server.url],
      // One request at a time: when it arrives, all earlier answers are on the disk.
      ...['--concurrency', '1'],
    ];
    let kills = 0;
    for (const next of plan) {
      moment = next;
      inRun = 0;
      const { child, answer } = start(args);
      kill = () => {
        kills += 1;
        child.kill('SIGKILL');
      };
      let ended = false;
      void answer.then(() => (ended = true));
      while (next.at === 'step' && !ended) {
        const lines = await readFile(`${out}.trace.jsonl`, 'utf8').catch(() => '');
        if (lines.split('\n').length > next.number) {
          kill();
          break;
        }
        await sleep(5);
      }
      await answer;
    }
    moment = undefined;
    inRun = 0;
    const last = await cli(args);
    assert.equal(last.status, 0, `${told}\n${last.stderr}`);
    assert.ok(kills >= 3, told);
    const answered = server.answered;
    assert.equal(answered.filter((each) => !isJudge(each)).length, 5, told);
    // Three of them fail on R, and each is judged once.
    assert.equal(answered.filter(isJudge).length, 3, told);
    const paid = (await readFile(`${out}.trace.jsonl`, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { step: string; key: string })
      .filter(({ step }) => step === 'answer')
      .map(({ key }) => key);
    assert.equal(paid.length, 8, told);
    assert.equal(new Set(paid).size, 8, told);
    assert.deepEqual((await readdir(dirname(out))).sort(), [
      'predictions.jsonl',
      'predictions.jsonl.trace.jsonl',
    ]);
    const graded = await cli(onSample(join(folder.path, 'storage'), out, '--json'));
    assert.equal((JSON.parse(graded.stdout) as Evaluation).results[0]?.resolved, true, told);
  });

  it('ends cleanly when it is interrupted, and goes on', async function () {
    const out = join(folder.path, 'interrupted', 'predictions.jsonl');
    let interrupt = (): void => undefined;
    server = await fakeModels((_, number) => {
      if (number !== 2) return { text: texts[3] ?? '' };
      interrupt();
      return { hang: true };
    });
    const args = [
      ...['generate', '--method', 'pass-at-5', '--model', 'openai-compatible/m', '--out', out],
      '--run-tests-locally',
      ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
      ...[
        '--storage',
        join(folder.path, 'storage'),
        '--base-url',
        server.url,
        '--concurrency',
        '1',
      ],
    ];
    const { child, answer } = start(args);
    interrupt = () => child.kill('SIGINT');
    const first = await answer;
    assert.equal(first.status, 130, first.stderr);
    assert.equal((await cli(args)).status, 0);
    assert.equal(server.answered.length, 5);
    assert.equal(server.asked.length, 6);
  });
});
