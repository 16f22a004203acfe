import assert from 'node:assert/strict';
import { entryOfGrade } from '../../../src/editor/generate/candidateTreeRow';
import { withoutOracle } from '../../../src/editor/trajectory/trajectoryOrigin';
import { costOverTime } from '../../../src/trajectory/costOverTime';
import { OwnTrace } from '../../../src/trajectory/formats/ownTrace';
import {
  diffSize,
  keptSteps,
  markedPieces,
  stepFacts,
  stepLine,
  timeInWords,
} from '../../../src/trajectory/stepRows';
import {
  diffSoFar,
  stepKinds,
  totalsOf,
  type Trajectory,
  type TrajectoryStep,
} from '../../../src/trajectory/trajectory';
import { trajectoryText, wholeStepText } from '../../../src/trajectory/trajectoryText';
import { agentTrace, oracleTrace, testDiff } from './madeUpTrajectories';

const step = (kind: TrajectoryStep['kind'], text: string, more = {}): TrajectoryStep => ({
  ...{ kind, text, turn: 1 },
  ...more,
});

function trajectoryOf(steps: typeof agentTrace): Trajectory {
  const trace = new OwnTrace(() => true);
  for (const each of steps) trace.add(each);
  const [trajectory] = trace.trajectories();
  assert.ok(trajectory !== undefined);
  return trajectory;
}

describe('the steps of a trajectory', () => {
  it('say when they were done without the signs for programs', () => {
    for (const [at, said] of [
      ['1970-01-01T00:01:43.000Z', '1970-01-01 00:01:43 UTC'],
      ['2025-01-01T00:00:05', '2025-01-01 00:00:05'],
      ['2025-01-01T00:00:05.123456+02:00', '2025-01-01 00:00:05 +02:00'],
      ['yesterday', 'yesterday'],
    ] as const) {
      assert.equal(timeInWords(at), said);
    }
  });

  it('fold to one line without control characters', () => {
    assert.equal(
      stepLine(step('action', 'ls\n\u001b[31m-la\u202e', { label: 'bash' })),
      'ls [31m-la',
    );
    assert.equal(stepLine(step('asked', 'Do it', { label: 'system' })), 'system: Do it');
    assert.equal(stepLine(step('thought', ' \n')), '(no text)');
    const output = '<returncode>1</returncode>\n<output>\nTraceback\n</output>';
    assert.equal(stepLine(step('observation', output)), 'exit 1: Traceback');
    assert.equal(stepLine(step('observation', 'x'.repeat(1e6))).length, 200);
  });

  it('name the stages of a pipeline and what these found', () => {
    const [answer] = oracleTrace;
    assert.ok(answer?.step === 'answer');
    const of = { at: answer.at, instance: answer.instance };
    const { steps } = trajectoryOf([
      { ...answer, purpose: 'stage', method: 'agentless files', sample: 2 },
      { ...of, key: 's1', step: 'stage', stage: 'files', output: ['cat.py'] },
      {
        ...{ ...of, key: 'e1', step: 'embedding', model: 'openai/e', documents: ['d'] },
        ...{ texts: 2, inputTokens: 7, seconds: 1 },
      },
      {
        ...of,
        key: 's2',
        step: 'stage',
        stage: 'lines',
        output: { of: 'x'.repeat(200) },
        isGiven: true,
      },
    ]);
    assert.deepEqual(
      steps.map(({ kind, label, text }) => [kind, label, text.split('\n').length]),
      [
        ['answer', 'agentless files, sample 2', 1],
        ['stage', 'files', 1],
        ['stage', 'embeddings', 1],
        ['stage', 'lines (given)', 3],
      ],
    );
    assert.equal(steps[1]?.text, '["cat.py"]');
  });

  it('say what they cost and change', () => {
    const facts = stepFacts(
      step('observation', 'a\nb\n', {
        ...{ seconds: 61, inputTokens: 12345, outputTokens: 6, dollars: 0.0123 },
        ...{ isRestarted: true, diff: testDiff },
      }),
    );
    assert.deepEqual(facts, [
      'new workspace',
      '2 lines',
      'diff +3 −0',
      '1 min 1 s',
      '12\u202f345 tokens in, 6 out',
      '$0.0123',
    ]);
    assert.deepEqual(stepFacts(step('thought', 'a\nb')), []);
    assert.equal(diffSize(''), 'no diff');
  });

  it('are filtered by kind, words and findings', () => {
    const steps = [
      step('asked', 'The Issue'),
      step('action', 'ls'),
      step('action', 'git LOG', { label: 'Shell' }),
    ];
    const kept = (
      words: string,
      kinds = stepKinds as readonly string[],
      only?: Set<number>,
    ): boolean[] =>
      keptSteps(steps, {
        words,
        kinds: new Set(kinds) as ReadonlySet<TrajectoryStep['kind']>,
        only,
      });
    assert.deepEqual(kept(''), [true, true, true]);
    assert.deepEqual(kept(' issue '), [true, false, false]);
    assert.deepEqual(kept('shell'), [false, false, true]);
    assert.deepEqual(kept('', ['action']), [false, true, true]);
    assert.deepEqual(kept('', stepKinds, new Set([3])), [false, false, true]);
    assert.deepEqual(kept('issue', stepKinds, new Set([3])), [false, false, false]);
  });

  it('mark what is searched, and keep the text whole', () => {
    const pieces = (text: string, words: string, most?: number): string[] =>
      markedPieces(text, words, most).map((piece) =>
        piece.isMatch ? `[${piece.text}]` : piece.text,
      );
    assert.deepEqual(pieces('Aba a', 'A'), ['[A]', 'b', '[a]', ' ', '[a]']);
    assert.deepEqual(pieces('aaa', 'a', 2), ['[a]', '[a]', 'a']);
    assert.deepEqual(pieces('abc', ' '), ['abc']);
    assert.deepEqual(pieces('', 'a'), ['']);
    // In lower case this letter is two units long.
    assert.deepEqual(pieces('\u0130 a', 'a'), ['\u0130 a']);
  });

  it('have a difference to R that lasts until it changes', () => {
    const { steps } = trajectoryOf(agentTrace);
    assert.equal(diffSoFar(steps, 8), undefined);
    assert.equal(diffSoFar(steps, 9), testDiff);
    assert.equal(diffSoFar(steps, 99), testDiff);
    assert.equal(diffSoFar([], 0), undefined);
  });

  it('have a cost that grows over minutes, or over turns where a time is missing', () => {
    const trajectory = trajectoryOf(agentTrace);
    const cost = costOverTime(trajectory);
    assert.equal(cost?.unit, 'dollars');
    assert.equal(cost?.axis, 'minutes');
    assert.deepEqual(
      cost?.points.map((point) => [point.step, point.cost.toFixed(2)]),
      [
        [3, '0.01'],
        [6, '0.02'],
        [8, '0.03'],
        [11, '0.04'],
      ],
    );
    const strange = trajectory.steps.map((step, index) =>
      index === 1 ? { ...step, at: '__proto__' } : step,
    );
    const odd = costOverTime({ ...trajectory, steps: strange });
    assert.ok(odd?.points.every(({ at }) => Number.isFinite(at)));
    const untimed = trajectory.steps.map(({ at: _, dollars: _dollars, ...rest }) => rest);
    const inTokens = costOverTime({ ...trajectory, steps: untimed });
    assert.equal(inTokens?.unit, 'tokens');
    assert.deepEqual(
      inTokens?.points.map(({ at, cost: sum }) => [at, sum]),
      [
        [1, 110],
        [2, 220],
        [3, 330],
        [4, 440],
      ],
    );
    assert.equal(costOverTime({ ...trajectory, steps: untimed.slice(0, 3) }), undefined);
  });

  it('count what the file states of the whole where that is more than the steps say', () => {
    const trajectory = trajectoryOf(agentTrace);
    const { dollars, inputTokens, turns } = totalsOf({
      ...trajectory,
      stated: { dollars: 9, inputTokens: 9, turns: 7 },
    });
    assert.deepEqual([dollars, inputTokens, turns], [9, 400, 7]);
    const silent = trajectory.steps.map(({ dollars: _, ...rest }) => rest);
    assert.equal(totalsOf({ ...trajectory, steps: silent, stated: { dollars: 1 } }).dollars, 1);
  });

  it('are a text for a terminal, which no text of a model can control', () => {
    const evil = step('action', 'ls \u001b]0;title\u0007\u202e\r\nnext');
    const trajectory = { ...trajectoryOf(agentTrace), steps: [evil], ending: '\u001b[2J' };
    const finding = { kind: 'history', severity: 'warning', step: 1, text: 'a\u001b[1m' } as const;
    const text = trajectoryText({ trajectory, findings: [finding] });
    // oxlint-disable-next-line no-control-regex -- these are what must not be there
    const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;
    assert.doesNotMatch(text, control);
    assert.match(
      text,
      /verdict: not graded\n1 finding:\n {2}warning, step 1: The agent looked at the repository's history/,
    );
    assert.match(text, /⚠ {4}1 {2}action/);
    assert.doesNotMatch(wholeStepText(evil, 1), control);
    assert.match(wholeStepText(evil, 1), /ls ·\]0;title··\nnext\n$/);
  });

  it('hide what an oracle says of R∘X*, and keep their numbers', () => {
    const trajectory = trajectoryOf(oracleTrace);
    const hidden = withoutOracle(trajectory, 'hidden');
    assert.equal(hidden.steps.length, trajectory.steps.length);
    assert.equal(hidden.ending, 'hidden');
    const said = JSON.stringify(hidden);
    for (const secret of ['success', 'F→P', 'R∘X*', 'ΔC'])
      assert.ok(!said.includes(secret), secret);
    const plain = trajectoryOf(agentTrace);
    assert.equal(withoutOracle(plain, 'hidden'), plain);
  });

  it('of a candidate end with its grade', () => {
    const grade = {
      ...{ success: false, reason: 'breaks a test', findings: [] },
      transitions: [
        { test: 'a', transition: 'F→P' as const },
        { test: 'b', transition: 'P→F' as const },
      ],
      coverage: { covered: 1, executable: 2 },
    };
    const of = { instance: 'x', model: 'm', sample: 2 };
    const entry = entryOfGrade(grade, of);
    const { reason, failToPass, passToFail, failToFail, delta, evaluated } = entry;
    assert.deepEqual(
      [reason, failToPass, passToFail, failToFail, evaluated],
      [...['breaks a test', 1, 1, 0], true],
    );
    assert.deepEqual(delta, { covered: 1, executable: 2 });
    assert.equal('delta' in entryOfGrade({ ...grade, coverage: null }, of), false);
  });
});
