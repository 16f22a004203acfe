import assert from 'node:assert/strict';
import { sampleAll, type MethodCandidate } from '../../../../src/method/method';
import { methodNamed } from '../../../../src/method/methods';
import { BudgetSpent } from '../../../../src/method/models/budget';
import { refiningMethod } from '../../../../src/method/refining/refiningMethod';
import { ScriptedSteps } from '../scriptedSteps';
import { failing, runStep } from './examined';

/**
 * Steps with a model that says one text after the other. Texts are `misspelt`, `unapplied`, `fails` and
 * so on, for what their tests do on R.
 */
function scripted(texts: readonly string[]) {
  const asked: string[] = [];
  const steps = new ScriptedSteps({
    say({ messages: [, answer, said] }) {
      asked.push(answer === undefined ? 'first' : `after ${answer}: ${said ?? ''}`);
      const text = texts[asked.length - 1] ?? '';
      if (text === 'spent') throw new BudgetSpent('spent', 'instance');
      return text;
    },
    read: (text) =>
      text.startsWith('unapplied')
        ? { applies: false, problem: 'no hunk fits', patch: '' }
        : { applies: true, patch: text },
    run(patch) {
      const broken = { exception: 'NameError', message: `name '${patch}' is not defined` };
      return runStep([patch.startsWith('misspelt') ? failing(broken) : failing()]);
    },
  });
  return { steps, asked };
}

async function refined(refine: number, ...texts: string[]) {
  const { steps, asked } = scripted(texts);
  const told: MethodCandidate[] = [];
  const [candidate] = await sampleAll(
    steps,
    { format: 'custom', temperature: 0 },
    { samples: 1, refine, onCandidate: (each) => told.push(each) },
  );
  assert.ok(candidate);
  if (refine > 0) assert.deepEqual(told.at(-1), candidate);
  return { candidate, asked, text: candidate.answer.text };
}

describe('the refinement of a sample', () => {
  it('sends back what is wrong with it, until nothing is', async () => {
    const { candidate, asked, text } = await refined(5, 'unapplied', 'misspelt', 'fails', 'more');
    assert.equal(text, 'fails');
    assert.equal(asked.length, 3);
    assert.match(asked[1] ?? '', /^after unapplied: .*no hunk fits/);
    assert.match(asked[2] ?? '', /^after misspelt: [^]*name 'misspelt' is not defined/);
    assert.deepEqual(candidate.from, ['1', '2']);
    assert.equal(candidate.run?.tests[0]?.exception, 'AssertionError');
  });

  it('asks for nothing where nothing is wrong, or where it is not wanted', async () => {
    assert.equal((await refined(3, 'fails')).asked.length, 1);
    const plain = await refined(0, 'misspelt');
    assert.deepEqual([plain.asked.length, plain.candidate.run], [1, undefined]);
  });

  it('ends with its times, an empty answer, or one that is not changed', async () => {
    const used = await refined(2, 'misspelt 1', 'misspelt 2', 'misspelt 3', 'fails');
    assert.deepEqual([used.asked.length, used.text], [3, 'misspelt 3']);
    const empty = await refined(2, 'misspelt', '  ', 'fails');
    assert.deepEqual([empty.asked.length, empty.text], [2, 'misspelt']);
    const same = await refined(4, 'misspelt', 'misspelt', 'fails');
    assert.deepEqual([same.asked.length, same.text], [2, 'misspelt']);
    assert.equal((await refined(4, '', 'fails')).asked.length, 1);
  });

  it('keeps the last that applies', async () => {
    const { text, candidate } = await refined(2, 'misspelt 1', 'misspelt 2', 'unapplied');
    assert.equal(text, 'misspelt 2');
    assert.deepEqual(candidate.from, ['1', '3']);
    assert.equal((await refined(1, 'unapplied 1', 'unapplied 2')).text, 'unapplied 2');
  });

  it('keeps what it has when the instance may cost no more', async () => {
    assert.equal((await refined(2, 'misspelt', 'spent')).text, 'misspelt');
  });
});

describe('a method that refines', () => {
  it('is named after the times, runs on R, and keeps what else the method is', async () => {
    const method = refiningMethod(methodNamed('zero-shot-plus'), 2);
    assert.equal(method.name, 'zero-shot-plus+refine2');
    assert.equal(method.title, 'ZeroShotPlus refined up to 2 times');
    assert.equal(method.runs, 'R');
    assert.equal(refiningMethod(methodNamed('pass-at-5'), 1).runs, 'oracle');
    const { steps, asked } = scripted(['misspelt', 'fails']);
    const { chosen } = await method.produce(steps, { samples: 1 });
    assert.equal(chosen?.answer?.text, 'fails');
    assert.equal(asked.length, 2);
  });

  it('is none that samples no answers', () => {
    for (const name of ['assertflip', 'agentless-tests', 'aider', 'tools']) {
      assert.throws(() => refiningMethod(methodNamed(name), 1), /methods that sample answers/);
    }
  });
});
