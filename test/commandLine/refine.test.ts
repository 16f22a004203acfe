import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cli, onSample, scratch, type Evaluation } from './cli';
import type { Reply } from './fakeModels';
import { killedAtEachStep } from './killedAtEachStep';
import { lostCentPath, testOfCents } from './lostCent';
import { newFileDiff } from './recordedSession';
import { local, scriptedGeneration } from './scriptedGeneration';

/** Tests that reproduce the bundled instance, if the name of the module is right. */
const tests = (module: string): Reply => ({
  text: newFileDiff(
    lostCentPath,
    testOfCents('assertEqual(sum(part.cents for part in parts), 2000)', module),
  ),
});
const misspelt = tests('tallybook.mony');
const mended = tests('tallybook.money');
const unapplied: Reply = {
  text: '```diff\n--- a/tests/none.py\n+++ b/tests/none.py\n@@ -1,2 +1,2 @@\n-gone\n+here\n```\n',
};

describe('swt-bench generate --refine', () => {
  const folder = scratch();
  const generation = scriptedGeneration('zero-shot-plus', folder);
  const { argsOf, play } = generation;
  const rowIn = async (out: string): Promise<Record<string, unknown>> =>
    JSON.parse(await readFile(out, 'utf8')) as Record<string, unknown>;

  it('mends a misspelt import, says so by its name, and replays that', async () => {
    const out = join(folder.path, 'mended.jsonl');
    const { status, stdout, stderr } = await play(out, [misspelt, mended], '--refine', '2');
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^ZeroShotPlus refined up to 2 times, openai-compatible\/m/);
    const messages = generation.server?.asked[1]?.body['messages'] as {
      role: string;
      content: string;
    }[];
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['system', 'user', 'assistant', 'user'],
    );
    assert.equal(messages[2]?.content, 'text' in misspelt ? misspelt.text : '');
    assert.match(messages[3]?.content ?? '', /No module named 'tallybook\.mony'/);
    const row = await rowIn(out);
    assert.equal(row['model_name_or_path'], 'zero-shot-plus+refine2/openai-compatible/m');
    assert.deepEqual([row['refine'], row['requests'], row['applies']], [2, 2, true]);
    const graded = await cli(onSample(join(folder.path, 'storage'), out, '--json'));
    assert.equal((JSON.parse(graded.stdout) as Evaluation).results[0]?.resolved, true);
    const rows = await readFile(out, 'utf8');
    await rm(out);
    const replay = await cli(
      argsOf(out, generation.server?.url ?? '', '--refine', '2', '--replay'),
    );
    assert.equal(replay.status, 0, replay.stderr);
    assert.equal(await readFile(out, 'utf8'), rows);
    assert.equal(generation.server?.asked.length, 2);
  });

  it('leaves alone what fails as it should, and shares the first answers', async () => {
    const out = join(folder.path, 'good.jsonl');
    assert.equal((await play(out, [mended], '--refine', '3')).status, 0);
    assert.equal(generation.server?.asked.length, 1);
    // The answer is in the trace, whatever the name of the method.
    const plain = await cli(argsOf(out, 'http://127.0.0.1:1/v1'));
    assert.equal(plain.status, 0, plain.stderr);
    assert.equal((await readFile(out, 'utf8')).trim().split('\n').length, 2);
  });

  it('goes on wherever it is killed, and asks for nothing twice @full', async () => {
    const out = join(folder.path, 'killed.jsonl');
    const { asked } = await killedAtEachStep(
      (url) => argsOf(out, url, local, '--refine', '3', '--concurrency', '1'),
      out,
      [unapplied, misspelt, mended],
      { agent: false },
    );
    assert.match(asked[1] ?? '', /could not be added to the repository: /);
    assert.equal((await rowIn(out))['requests'], 3);
  });

  it('refines each sample of a method with several @full', async () => {
    const out = join(folder.path, 'libro.jsonl');
    const script = [misspelt, misspelt, mended, mended];
    const of = ['--method', 'libro', '--samples', '2', '--refine', '1', '--concurrency', '1'];
    const { status, stderr } = await play(out, script, ...of);
    assert.equal(status, 0, stderr);
    const row = await rowIn(out);
    assert.equal(row['model_name_or_path'], 'libro+refine1/openai-compatible/m');
    assert.equal(row['requests'], 4);
  });

  it('refines in a setting of Table 5, whose mark stays @full', async () => {
    const out = join(folder.path, 'given.jsonl');
    const setting = ['--given', 'patch', '--from', 'golden', '--oracle', '--refine', '1'];
    const { status, stderr } = await play(out, [misspelt, mended], ...setting);
    assert.equal(status, 0, stderr);
    const row = await rowIn(out);
    assert.match(String(row['model_name_or_path']), /^zero-shot-plus\+golden-patch\+refine1\//);
    assert.equal(row['oracle'], true);
    assert.match(generation.server?.asked[1]?.text ?? '', /<patch>[^]*No module named/);
    const trace = (await readFile(`${out}.trace.jsonl`, 'utf8')).trim().split('\n');
    const steps = trace.map((line) => JSON.parse(line) as { step: string; oracle?: boolean });
    const asked = steps.filter(({ step }) => step === 'prompt' || step === 'answer');
    assert.deepEqual(
      asked.map(({ oracle }) => oracle),
      [true, true, true, true],
    );
  });

  it('says in a dry run what it may ask at most, and what the trace has', async () => {
    const out = join(folder.path, 'estimated.jsonl');
    const estimated = async (): Promise<Record<string, unknown>> => {
      const { status, stdout, stderr } = await cli(
        argsOf(out, 'http://127.0.0.1:1/v1', '--refine', '2', '--dry-run', '--json'),
      );
      assert.equal(status, 0, stderr);
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const before = await estimated();
    assert.deepEqual([before['requests'], before['answered'], before['at_most']], [3, 0, true]);
    assert.ok(Number(before['input_tokens']) > 2 * 27_000);
    const half = await play(out, [misspelt, { status: 400 }], '--refine', '2', '--retries', '0');
    assert.equal(half.status, 1, half.stderr);
    const after = await estimated();
    assert.deepEqual([after['requests'], after['answered']], [2, 1]);
    await generation.server?.close();
    assert.equal((await play(out, [mended], '--refine', '2')).status, 0);
    const whole = await estimated();
    assert.deepEqual([whole['requests'], whole['answered'], whole['at_most']], [0, 2, undefined]);
  });

  it('needs the permission to run tests, and a method that samples answers', async () => {
    const out = join(folder.path, 'refused.jsonl');
    const refused = await cli(argsOf(out, 'http://127.0.0.1:1/v1', '--refine', '1'));
    assert.equal(refused.status, 2);
    assert.match(refused.stderr, /omit --refine/);
    const agent = await cli(
      argsOf(out, 'http://127.0.0.1:1/v1', '--refine', '1', '--method', 'aider'),
    );
    assert.equal(agent.status, 2);
    assert.match(agent.stderr, /--refine applies to methods that sample answers, not to Aider/);
  });
});
