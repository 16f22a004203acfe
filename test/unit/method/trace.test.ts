import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HumanError } from '../../../src/domain/work';
import { keyOf, openTrace, type MethodTrace } from '../../../src/method/trace';
import { runOnR } from '../../../src/method/steps/candidateRun';
import type { Step } from '../../../src/method/traces/traceSteps';
import { failing, patchStep } from './refining/examined';
import { ScriptedSteps } from './scriptedSteps';

const step = (key: string, tree = 'abc'): Step => ({
  ...{ step: 'tree', key, tree },
  ...{ at: '2026-01-01T00:00:00.000Z', instance: 'octo__cat-1' },
});

describe('the trace of a run', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-trace-'));
    path = join(folder, 'deep', 'out.trace.jsonl');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const told: string[] = [];
  const open = async (readOnly = false): Promise<MethodTrace> => {
    told.length = 0;
    return openTrace(path, { readOnly, told: (line) => told.push(line) });
  };

  it('keeps steps by kind and digest; the last of a digest counts', async () => {
    const trace = await open();
    await Promise.all([trace.add(step('a')), trace.add(step('b')), trace.add(step('a', 'new'))]);
    await trace.close();
    const again = await open();
    assert.equal(again.steps.length, 3);
    assert.equal(again.find('tree', 'a')?.tree, 'new');
    assert.equal(again.find('tree', 'c'), undefined);
    assert.equal(again.find('answer', 'a'), undefined);
    assert.deepEqual(told, []);
    await again.close();
  });

  it('keeps of a test on R all that a person sees of a failure', async () => {
    const failed = failing({
      comparison: { expected: '2', actual: '1' },
      details: 'assert 1 == 2',
    });
    const run = () => ({ tests: [failed], failingBefore: [] });
    const ran = await runOnR(new ScriptedSteps({ say: () => '', run }), patchStep());
    const trace = await open();
    await trace.add(ran);
    await trace.close();
    const again = await open();
    assert.deepEqual(again.find('run', ran.key)?.tests, [failed]);
    await again.close();
  });

  it('drops a last line that is torn anywhere, and goes on', async () => {
    const trace = await open();
    await trace.add(step('a'));
    await trace.add(step('b', 'ä'));
    await trace.close();
    const whole = await readFile(path);
    const second = whole.indexOf(0x0a) + 1;
    for (let length = second; length < whole.length; length += 7) {
      await writeFile(path, whole);
      await truncate(path, length);
      const torn = await open();
      assert.equal(torn.steps.length, 1, String(length));
      await torn.add(step('c'));
      await torn.close();
      const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
      assert.deepEqual(
        lines.map((line) => (JSON.parse(line) as Step).key),
        ['a', 'c'],
      );
    }
  });

  it('passes over a damaged line, and says which', async () => {
    const trace = await open();
    await trace.add(step('a'));
    await trace.close();
    await appendFile(path, '{"step": "tree"}\nnonsense\n');
    await appendFile(path, `${JSON.stringify(step('b'))}\n`);
    const again = await open();
    assert.deepEqual(
      again.steps.map(({ key }) => key),
      ['a', 'b'],
    );
    assert.equal(told.length, 2);
    assert.match(told[0] ?? '', /out\.trace\.jsonl:2: .*key/);
    assert.match(told[1] ?? '', /:3: .*not JSON/);
    await again.close();
  });

  it('is not made or changed for reading only', async () => {
    await assert.rejects(open(true), HumanError);
    const trace = await open();
    await trace.add(step('a'));
    await trace.close();
    await appendFile(path, 'torn');
    const reading = await open(true);
    assert.equal(reading.steps.length, 1);
    await assert.rejects(reading.add(step('b')));
    await reading.close();
    assert.match(await readFile(path, 'utf8'), /\ntorn$/);
  });

  it('has digests that tell parts apart', () => {
    assert.notEqual(keyOf('a', 'bc'), keyOf('ab', 'c'));
    assert.notEqual(keyOf(1), keyOf('1'));
    assert.equal(keyOf('a', { b: 1 }), keyOf('a', { b: 1 }));
  });
});
