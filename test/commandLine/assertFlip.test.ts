import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cli, onSample, scratch, type Evaluation } from './cli';
import type { Reply } from './fakeModels';
import { killedAtEachStep } from './killedAtEachStep';
import { lostCentPath, testOfCents } from './lostCent';
import { newFileDiff } from './recordedSession';
import { local, scriptedGeneration } from './scriptedGeneration';

const tests = (assertion: string, module?: string): Reply => ({
  text: newFileDiff(lostCentPath, testOfCents(assertion, module)),
});
const sum = 'sum(part.cents for part in parts)';
const passes = tests(`assertNotEqual(${sum}, 2000)`);
const reproduces = tests(`assertEqual(${sum}, 2000)`);

/** All that can happen on the way: sent back in both halves, rejected, and at last validated. */
const script: readonly Reply[] = [
  tests(`assertEqual(${sum}, 2001)`, 'tallybook.mony'),
  tests(`assertEqual(${sum}, 2001)`),
  tests(`assertEqual(${sum}, 1999)`),
  { text: 'Nobody reports 1999 cents.\nNO' },
  passes,
  tests(`assertGreater(${sum}, 2000)`),
  reproduces,
  { text: 'A cent is made, as the report says.\nYES' },
];

describe('swt-bench generate --method assertflip', () => {
  const folder = scratch();
  const generation = scriptedGeneration('assertflip', folder);
  const { argsOf, play } = generation;
  const resolved = async (out: string): Promise<boolean | undefined> => {
    const { stdout } = await cli(onSample(join(folder.path, 'storage'), out, '--json'));
    return (JSON.parse(stdout) as Evaluation).results[0]?.resolved;
  };

  it('turns passing tests round and has them validated, and replays that', async () => {
    const out = join(folder.path, 'first.jsonl');
    const { status, stderr } = await play(out, [passes, reproduces, script[7] ?? assert.fail()]);
    assert.equal(status, 0, stderr);
    const [asked, flipped, judged] = (generation.server?.asked ?? []).map(({ text }) => text);
    assert.match(asked ?? '', /They must pass on the current repository/);
    assert.match(asked ?? '', /\[start of tallybook\/money\.py\]/);
    assert.match(flipped ?? '', /assertNotEqual[^]*invert their assertions/);
    assert.match(judged ?? '', /AssertionError: 2001 != 2000[^]*YES or NO/);
    const rows = await readFile(out, 'utf8');
    const row = JSON.parse(rows) as Record<string, unknown>;
    assert.equal(row['model_name_or_path'], 'assertflip/openai-compatible/m');
    assert.deepEqual([row['chosen_sample'], row['requests'], row['applies']], [1, 3, true]);
    assert.match(String(row['why']), /fail on R as the issue says/);
    assert.equal(await resolved(out), true);
    await rm(out);
    const replay = await cli(argsOf(out, generation.server?.url ?? '', '--replay'));
    assert.equal(replay.status, 0, replay.stderr);
    assert.equal(await readFile(out, 'utf8'), rows);
    assert.equal(generation.server?.asked.length, 3);
  });

  it('goes on wherever it is killed, asks for nothing twice, and makes attempts @full', async () => {
    const out = join(folder.path, 'killed.jsonl');
    const { asked, steps } = await killedAtEachStep(
      (url) => argsOf(out, url, local, '--concurrency', '1'),
      out,
      script,
      { agent: false },
    );
    assert.match(asked[1] ?? '', /No module named 'tallybook\.mony'/);
    assert.match(asked[4] ?? '', /<attempt>[^]*1999[^]*<feedback>\nNobody reports 1999 cents\./);
    assert.match(asked[6] ?? '', /do not fail: tests\/test_lost_cent\.py/);
    assert.equal(steps.filter(({ step }) => step === 'answer').length, script.length);
    const row = JSON.parse(await readFile(out, 'utf8')) as Record<string, unknown>;
    assert.deepEqual([row['chosen_sample'], row['requests']], [2, script.length]);
    assert.equal(await resolved(out), true);
  });

  it('chooses the best of its attempts where none is validated, within its options @full', async () => {
    const out = join(folder.path, 'rejected.jsonl');
    const no = { text: 'It is something else.\nNO' };
    const { status, stderr } = await play(
      out,
      [passes, reproduces, no, script[0] ?? assert.fail(), script[0] ?? assert.fail()],
      ...['--samples', '2', '--tries', '1'],
    );
    assert.equal(status, 0, stderr);
    const row = JSON.parse(await readFile(out, 'utf8')) as Record<string, unknown>;
    assert.equal(row['chosen_sample'], 1);
    assert.match(String(row['why']), /no attempt is validated.*not because of the issue/);
  });

  it('says in a dry run what it may ask at most, and what the trace has', async () => {
    const estimated = async (out: string): Promise<Record<string, unknown>> => {
      const { status, stdout, stderr } = await cli(
        argsOf(out, 'http://127.0.0.1:1/v1', '--dry-run', '--json', '--samples', '2'),
      );
      assert.equal(status, 0, stderr);
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const { requests, answered, input_tokens, at_most } = await estimated(
      join(folder.path, 'none.jsonl'),
    );
    assert.deepEqual([requests, answered, at_most], [26, 0, true]);
    // The first prompt is known; a judge's has an answer and failures.
    const tokens = Number(input_tokens);
    assert.ok(tokens > 23 * 27_000 && tokens < 26 * 27_000, `${tokens}`);
    const out = join(folder.path, 'half.jsonl');
    const half = await play(out, [passes, { status: 400 }], '--retries', '0');
    assert.equal(half.status, 1, half.stderr);
    const after = await estimated(out);
    assert.deepEqual([after['requests'], after['answered']], [25, 1]);
    await generation.server?.close();
    assert.equal((await play(out, [reproduces, script[7] ?? assert.fail()])).status, 0);
    const whole = await estimated(out);
    assert.deepEqual([whole['requests'], whole['answered'], whole['at_most']], [0, 3, undefined]);
  });

  it('needs the permission to run tests, and its options are for it alone', async () => {
    const out = join(folder.path, 'refused.jsonl');
    const refused = await cli(argsOf(out, 'http://127.0.0.1:1/v1'));
    assert.equal(refused.status, 2);
    assert.match(refused.stderr, /AssertFlip runs tests that the model writes/);
    const other = await cli(
      argsOf(out, 'http://127.0.0.1:1/v1', '--method', 'libro', '--tries', '2'),
    );
    assert.equal(other.status, 2);
    assert.match(other.stderr, /LIBRO does not revise its attempts.*choose assertflip/s);
  });
});
