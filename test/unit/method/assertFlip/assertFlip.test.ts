import assert from 'node:assert/strict';
import type { MethodCandidate } from '../../../../src/method/method';
import { methodNamed } from '../../../../src/method/methods';
import { BudgetSpent } from '../../../../src/method/models/budget';
import type { RunStep } from '../../../../src/method/trace';
import { failing, runStep } from '../refining/examined';
import { ScriptedSteps } from '../scriptedSteps';

const assertFlip = methodNamed('assertflip');

/** What tests do on R, by the first word of the answer. */
function outcomesOf(text: string): RunStep {
  const [word = ''] = text.split(' ');
  const passed = { test: 'tests/test_a.py::test_y', outcome: 'passed' } as const;
  const runs: Readonly<Record<string, RunStep>> = {
    passes: runStep([passed]),
    fails: runStep([failing({ details: `failure of ${text}` })]),
    mixed: runStep([passed, failing()]),
    misspelt: runStep([failing({ exception: 'NameError', message: 'name' })]),
    hangs: runStep([], { problem: 'stopped at the time limit after … s' }),
    skipped: runStep([{ ...passed, outcome: 'skipped' }]),
  };
  return runs[word] ?? assert.fail(text);
}

interface Request {
  readonly sample: number;
  readonly first: string;
  readonly answer: string | undefined;
  readonly said: string | undefined;
}

/** Plays a method to a model that says one text after the other; a judge answers by the candidate. */
async function play(texts: readonly string[], options: { samples?: number; tries?: number } = {}) {
  const asked: Request[] = [];
  const judged: string[] = [];
  const steps = new ScriptedSteps({
    say({ purpose, sample, messages: [first = '', answer, said] }) {
      if (purpose === 'judge') {
        const [, patch = ''] = /<tests>\n(.*)\n<\/tests>/.exec(first) ?? [];
        judged.push(patch);
        if (patch.includes('costly')) throw new BudgetSpent('spent', 'instance');
        const verdict = patch.includes('yes') ? 'YES' : patch.includes('no') ? 'NO' : '';
        return `judged ${patch}\n${verdict}`;
      }
      asked.push({ sample, first, answer, said });
      const text = texts[asked.length - 1] ?? assert.fail('the script has ended');
      if (text === 'spent') throw new BudgetSpent('spent', 'instance');
      return text;
    },
    read: (text) =>
      text === '' || text.startsWith('broken')
        ? { applies: false, problem: 'no hunk fits', patch: '' }
        : { applies: true, patch: text },
    run: outcomesOf,
  });
  const told: MethodCandidate[] = [];
  const result = await assertFlip.produce(steps, {
    ...{ samples: 10, ...options },
    onCandidate: (candidate) => told.push(candidate),
  });
  assert.equal(asked.length, texts.length, 'the whole script is played');
  assert.deepEqual(told.at(-1), result.candidates.at(-1));
  return { ...result, asked, judged, text: result.chosen?.answer?.text };
}

describe('AssertFlip', () => {
  it('lets tests pass, turns them round, and has the failure validated', async () => {
    const { text, why, asked, judged, chosen } = await play(['passes', 'fails yes']);
    assert.equal(text, 'fails yes');
    assert.match(why, /as the issue says/);
    assert.deepEqual(judged, ['fails yes']);
    assert.match(asked[0]?.first ?? '', /ISSUE[^]*They must pass/);
    assert.equal(asked[0]?.said, undefined);
    assert.equal(asked[1]?.answer, 'passes');
    assert.match(asked[1]?.said ?? '', /invert their assertions/);
    assert.deepEqual([chosen?.sample, chosen?.from], [1, ['1']]);
  });

  it('sends back what does not pass, with what happens', async () => {
    const { text, asked } = await play([
      ...['broken', 'misspelt', 'fails at first', 'hangs', 'skipped', 'passes', 'fails yes'],
    ]);
    assert.equal(text, 'fails yes');
    const said = asked.map((each) => each.said ?? '');
    assert.match(said[1] ?? '', /no hunk fits[^]*must pass on the current repository/);
    assert.match(said[2] ?? '', /undefined name/);
    assert.match(said[3] ?? '', /failure of fails at first/);
    assert.match(said[4] ?? '', /stopped at the time limit/);
    assert.match(said[5] ?? '', /skipped/);
    assert.equal(asked[5]?.answer, 'skipped');
    assert.deepEqual(new Set(asked.map(({ sample }) => sample)), new Set([1]));
  });

  it('sends back what does not fail as it should after it is turned round', async () => {
    const { text, asked, judged } = await play([
      ...['passes', 'passes still', 'mixed', 'misspelt', 'broken', 'fails yes'],
    ]);
    assert.equal(text, 'fails yes');
    const said = asked.map((each) => each.said ?? '');
    assert.match(said[2] ?? '', /do not fail: tests\/test_a\.py::test_y\.[^]*inverted/);
    assert.match(said[3] ?? '', /do not fail: tests\/test_a\.py::test_y\./);
    assert.match(said[4] ?? '', /errors of their own/);
    assert.match(said[5] ?? '', /no hunk fits/);
    assert.deepEqual(judged, ['fails yes']);
  });

  it('makes another attempt with what was said, until one is validated', async () => {
    const { text, asked, candidates, chosen } = await play([
      ...['passes', 'fails no 1', 'passes', 'fails no 2', 'passes', 'fails yes'],
    ]);
    assert.equal(text, 'fails yes');
    assert.equal(chosen?.sample, 3);
    assert.deepEqual(
      candidates.map(({ sample, matches }) => [sample, matches]),
      [
        [1, false],
        [2, false],
        [3, true],
      ],
    );
    assert.doesNotMatch(asked[0]?.first ?? '', /<attempt>/);
    assert.match(
      asked[2]?.first ?? '',
      /<attempt>\nfails no 1\n<\/attempt>[^]*<feedback>\njudged fails no 1\nNO\n<\/feedback>/,
    );
    assert.match(asked[4]?.first ?? '', /judged fails no 2/);
  });

  it('counts what is sent back over both halves of an attempt', async () => {
    const { why, asked, text } = await play(
      ['broken', 'passes', 'passes 1', 'passes 2', 'broken', 'fails 1', 'fails 2'],
      { samples: 2, tries: 2 },
    );
    assert.deepEqual(
      asked.map(({ sample }) => sample),
      [1, 1, 1, 1, 2, 2, 2],
    );
    assert.match(
      asked[4]?.first ?? '',
      /<feedback>\nOn the current repository, these tests do not fail/,
    );
    assert.match(why, /do not fail on R as expected/);
    assert.equal(text, 'passes 2');
  });

  it('ends an attempt that repeats itself, or has no answer', async () => {
    const { asked } = await play(['broken', 'broken', '', 'passes', 'fails yes'], { samples: 3 });
    assert.deepEqual(
      asked.map(({ sample }) => sample),
      [1, 1, 2, 3, 3],
    );
  });

  it('chooses the best of what there is, where nothing is validated', async () => {
    const none = await play(['passes', 'fails no', 'passes', 'fails'], { samples: 2 });
    assert.equal(none.text, 'fails');
    assert.match(none.why, /no attempt is validated.*does not say/);
    const rejected = await play(['passes', 'fails no 1', 'broken', 'broken'], { samples: 2 });
    assert.equal(rejected.text, 'fails no 1');
    assert.match(rejected.why, /not because of the issue/);
    const empty = await play([''], { samples: 1 });
    assert.deepEqual([empty.chosen, empty.why], [undefined, 'every answer is empty']);
  });

  it('hands in what it has when the instance may cost no more', async () => {
    const asking = await play(['passes', 'spent']);
    assert.equal(asking.text, 'passes');
    assert.match(asking.why, /no tests .* inverted; the cost limit/);
    const judging = await play(['passes', 'fails costly']);
    assert.equal(judging.text, 'fails costly');
    assert.match(judging.why, /the cost limit/);
    const second = await play(['passes', 'fails no', 'spent']);
    assert.equal(second.text, 'fails no');
    assert.match(second.why, /the cost limit/);
  });
});
