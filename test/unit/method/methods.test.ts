import assert from 'node:assert/strict';
import { predictionOf, type Method, type MethodCandidate } from '../../../src/method/method';
import { methodNamed, methodOf } from '../../../src/method/methods';
import { failsOnR } from '../../../src/method/steps/candidateRun';
import { ScriptedSteps, type Script } from './scriptedSteps';

const ofR = 'tests/test_t.py::test_t';

/**
 * Steps whose results depend on the text of an answer: `passes`, `fails 12 yes`, `broken`, or
 * empty.
 */
function stepsOf(answers: readonly string[], say?: Script['say']) {
  const calls: string[] = [];
  const script: Script = {
    say(request) {
      const { purpose, sample, temperature = 'none', messages } = request;
      if (purpose === 'judge') {
        const [, patch = ''] = /<tests>\n(.*)\n<\/tests>/.exec(messages[0] ?? '') ?? [];
        calls.push(`judge ${patch.trim()} ${temperature}`);
        return patch.includes('yes') ? 'YES' : patch.includes('no') ? 'NO' : '';
      }
      const format = request.method === 'zero-shot' ? 'unified' : 'custom';
      calls.push(`${format} ${sample} ${temperature}`);
      return answers[sample - 1] ?? '';
    },
    read(answer) {
      const applies = /^(passes|fails)/.test(answer);
      const length = Number(/\d+/.exec(answer)?.[0] ?? 10);
      return { applies, patch: applies ? answer.padEnd(length) : '' };
    },
    run(patch) {
      calls.push(`run ${patch.trim()}`);
      const outcome = patch.startsWith('fails') ? 'failed' : 'passed';
      const isOld = patch.includes('before');
      const test = isOld ? ofR : 'tests/test_t.py::test_new';
      return { tests: [{ test, outcome }], failingBefore: isOld ? [ofR] : [] };
    },
    verdict(patch) {
      calls.push(`oracle ${patch.trim()}`);
      const success = patch.includes('success');
      return { applies: true, success, reason: '', failToPass: Number(success), delta: null };
    },
  };
  const told = script.say;
  const steps = new ScriptedSteps({
    ...script,
    say: async (request) => {
      await say?.(request);
      return told(request);
    },
  });
  return { steps, calls };
}

const produce = async (
  method: Method,
  answers: readonly string[],
  temperature?: number | null,
): Promise<{ prediction: string; why: string; sample: number | undefined; calls: string[] }> => {
  const { steps, calls } = stepsOf(answers);
  const told: MethodCandidate[] = [];
  const choice = await method.produce(steps, {
    samples: Math.max(method.samples, answers.length),
    temperature,
    onCandidate: (candidate) => told.push(candidate),
  });
  assert.equal(new Set(told.map(({ sample }) => sample)).size, choice.candidates.length);
  return {
    prediction: predictionOf(choice).trim(),
    why: choice.why,
    sample: choice.chosen?.sample,
    calls,
  };
};

const libro = methodNamed('libro');
const zeroShot = methodNamed('zero-shot');
const zeroShotPlus = methodNamed('zero-shot-plus');
const passAt5 = methodNamed('pass-at-5');

describe('the methods of the paper', () => {
  it('have the names that people write', () => {
    for (const name of ['ZeroShot', 'zero-shot', 'ZEROSHOT'])
      assert.equal(methodOf(name), zeroShot);
    for (const name of ['zeroshotplus', 'ZeroShotPlus']) assert.equal(methodOf(name), zeroShotPlus);
    for (const name of ['Pass@5', 'pass-at-5', 'pass@5']) assert.equal(methodOf(name), passAt5);
    assert.equal(methodOf('libro'), libro);
    assert.equal(methodOf('agent'), undefined);
    assert.equal(methodOf(''), undefined);
  });

  it('ask in the format and at the temperature of the paper, or at another one', async () => {
    assert.deepEqual((await produce(zeroShot, ['passes'])).calls, ['unified 1 0']);
    assert.deepEqual((await produce(zeroShotPlus, ['passes'])).calls, ['custom 1 0']);
    assert.deepEqual((await produce(zeroShot, ['passes'], 0.3)).calls, ['unified 1 0.3']);
    assert.deepEqual((await produce(zeroShot, ['passes'], null)).calls, ['unified 1 none']);
    const { calls } = await produce(libro, ['fails a', 'fails b', '', '', '']);
    assert.deepEqual(
      calls.slice(0, 5),
      [1, 2, 3, 4, 5].map((sample) => `custom ${sample} 0.7`),
    );
    assert.ok(calls.includes('judge fails a 0'));
    const left = await produce(libro, ['fails a', 'fails b'], null);
    assert.ok(left.calls.includes('judge fails a none'));
  });

  it('ZeroShot hands in its answer, applying or not, and nothing for nothing', async () => {
    assert.equal((await produce(zeroShot, ['passes x'])).prediction, 'passes x');
    const broken = await produce(zeroShotPlus, ['broken words']);
    assert.equal(broken.prediction, 'broken words');
    assert.match(broken.why, /does not apply/);
    const empty = await produce(zeroShot, ['  \n']);
    assert.deepEqual([empty.prediction, empty.sample], ['', undefined]);
  });

  it('Pass@5 asks its oracle for what applies, and nobody else', async () => {
    const { prediction, calls } = await produce(passAt5, [
      ...['broken', 'passes', 'fails success', '', 'fails'],
    ]);
    assert.equal(prediction, 'fails success');
    assert.deepEqual(calls.slice(5), ['oracle passes', 'oracle fails success', 'oracle fails']);
    const none = await produce(passAt5, ['', 'broken']);
    assert.deepEqual([none.prediction, none.sample], ['broken', 2]);
  });

  it('LIBRO judges what fails on R, and nothing that passes or does not apply', async () => {
    const { prediction, calls, why } = await produce(libro, [
      ...['passes 5', 'fails 30 no', 'fails 90 yes', 'broken', 'fails 60 yes'],
    ]);
    assert.equal(prediction, 'fails 60 yes');
    assert.match(why, /as the issue says/);
    assert.deepEqual(
      calls.filter((call) => call.startsWith('judge')),
      ['judge fails 30 no 0', 'judge fails 90 yes 0', 'judge fails 60 yes 0'],
    );
    assert.equal(calls.filter((call) => call.startsWith('oracle')).length, 0);
  });

  it('LIBRO saves the judge when there is nothing to choose between', async () => {
    for (const answers of [
      ['fails a', 'passes', ''],
      ['fails a', 'fails a', 'fails a'],
    ]) {
      const { calls, sample } = await produce(libro, answers);
      assert.equal(calls.filter((call) => call.startsWith('judge')).length, 0);
      assert.equal(sample, 1);
    }
  });

  it('LIBRO falls back on what applies, then on the first answer, then on nothing', async () => {
    assert.equal((await produce(libro, ['broken', 'passes 40', 'passes 20'])).sample, 3);
    assert.equal((await produce(libro, ['', 'broken', 'broken'])).sample, 2);
    const nothing = await produce(libro, ['', '']);
    assert.deepEqual([nothing.prediction, nothing.why], ['', 'every answer is empty']);
  });

  it('a test that failed on R before is no failure of the candidate', async () => {
    const { sample } = await produce(libro, ['fails before', 'fails now']);
    assert.equal(sample, 2);
    const run = { step: 'run', key: '', at: '', instance: '', seconds: 0 } as const;
    const test = { test: 't', outcome: 'error' } as const;
    assert.equal(failsOnR({ ...run, tests: [test], failingBefore: [] }), true);
    assert.equal(failsOnR({ ...run, tests: [test], failingBefore: ['t'] }), false);
    assert.equal(failsOnR({ ...run, tests: [], failingBefore: [] }), false);
  });

  it('wait for all answers when one cannot be had', async () => {
    let ended = 0;
    const { steps } = stepsOf([], async ({ sample }) => {
      if (sample === 2) throw new Error('no answer');
      await new Promise((done) => setImmediate(done));
      ended += 1;
      return '';
    });
    await assert.rejects(libro.produce(steps, { samples: 5 }), /no answer/);
    assert.equal(ended, 4);
  });

  it('ask for the other samples when a cache may have the prompt, all of them at once', async () => {
    const events: string[] = [];
    const { steps } = stepsOf([], async ({ sample }) => {
      events.push(`asks ${sample}`);
      await new Promise((done) => setImmediate(done));
      events.push(`has ${sample}`);
      return '';
    });
    await libro.produce(steps, { samples: 3 });
    assert.deepEqual(events, ['asks 1', 'has 1', 'asks 2', 'asks 3', 'has 2', 'has 3']);
  });

  it('LIBRO asks its judge about all failures at once', async () => {
    let judging = 0;
    let most = 0;
    const { steps } = stepsOf(['fails 20', 'fails 21', 'fails 22'], async ({ purpose }) => {
      if (purpose !== 'judge') return '';
      most = Math.max(most, ++judging);
      await new Promise((done) => setImmediate(done));
      judging -= 1;
      return '';
    });
    await libro.produce(steps, { samples: 3 });
    assert.equal(most, 3);
  });
});
