import assert from 'node:assert/strict';
import { Cancelled, HumanError } from '../../../src/domain/work';
import type { InstanceForModels } from '../../../src/editor/tools/instanceForModels';
import { answerCall, type EditorCall, withinBudget } from '../../../src/editor/tools/answerCall';
import { candidateInMemory } from '../../../src/method/tools/tool';
import { viewForTests } from '../method/sampleView';

describe('a call of a tool by an agent of the editor', () => {
  const sample = viewForTests();
  const logged: string[] = [];
  const opened = (view: InstanceForModels['modelView']): InstanceForModels => ({
    folder: {} as InstanceForModels['folder'],
    marker: { id: sample.instance.id },
    modelView: view,
    candidatePatch: () => Promise.resolve(''),
    textOfR: () => Promise.resolve(undefined),
  });
  const call = (more: Partial<EditorCall> = {}): EditorCall => ({
    name: 'read_issue',
    input: {},
    isTrusted: true,
    opened: opened(() => Promise.resolve(sample.view)),
    candidate: () => candidateInMemory(),
    timeoutSeconds: 60,
    signal: new AbortController().signal,
    reporter: { log: (line) => logged.push(line), progress: () => undefined },
    ...more,
  });
  beforeEach(() => logged.splice(0));

  it('is answered from the view of R', async () => {
    const answer = await answerCall(call());
    assert.equal(answer.isError, false);
    assert.match(answer.text, /out of balance/);
  });

  it('is refused in a workspace that is not trusted, whatever it is', async () => {
    const never = opened(() => Promise.reject(new Error('nothing is looked at')));
    for (const name of ['read_issue', 'read_file', 'apply_candidate', 'run_tests'] as const) {
      const answer = await answerCall(call({ name, isTrusted: false, opened: never }));
      assert.equal(answer.isError, true);
      assert.match(answer.text, /not trusted.*Do not call one again: tell the person/);
    }
  });

  it('is refused where no instance is open', async () => {
    const answer = await answerCall(call({ opened: undefined }));
    assert.equal(answer.isError, true);
    assert.match(answer.text, /No instance is open.*Tell the person/);
  });

  it('does not tell why the repository cannot be had: that may be of X*', async () => {
    const why = 'the golden patch does not apply: "by_loss = sorted(parts)" is not there';
    const broken = opened(() => Promise.reject(new HumanError(why)));
    const answer = await answerCall(call({ opened: broken }));
    assert.equal(answer.isError, true);
    assert.match(answer.text, /unavailable.*The log/);
    assert.doesNotMatch(answer.text, /by_loss|golden/);
    assert.match(logged.join('\n'), /by_loss/);
  });

  it('is answered with what is wrong in its input', async () => {
    for (const input of [undefined, null, 'x', { path: 3 }, { path: 'a', more: 1 }]) {
      const answer = await answerCall(call({ name: 'read_file', input }));
      assert.equal(answer.isError, true);
      assert.match(answer.text, /The input of read_file is invalid/);
    }
  });

  it('ends when it is cancelled', async () => {
    const signal = AbortSignal.abort();
    await assert.rejects(answerCall(call({ signal })), Cancelled);
  });
});

describe('an answer within a budget of tokens', () => {
  const countTokens = (text: string): Promise<number> =>
    Promise.resolve(Math.ceil(text.length / 4));
  const text = Array.from({ length: 2000 }, (_, at) => `line ${at}`).join('\n');

  it('is whole where it fits, or where no budget is named', async () => {
    assert.equal(await withinBudget(text, undefined), text);
    assert.equal(await withinBudget(text, { tokenBudget: 100_000, countTokens }), text);
  });

  it('keeps its beginning and its end where it does not, and says how much is left out', async () => {
    for (const tokenBudget of [20, 50, 1000]) {
      const shown = await withinBudget(text, { tokenBudget, countTokens });
      assert.ok((await countTokens(shown)) <= tokenBudget, `${shown.length}`);
      assert.match(shown, /^line 0\n[^]*\[\d+ characters omitted\][^]*line 1999$/);
    }
  });

  it('is nothing where nothing fits', async () => {
    assert.equal(await withinBudget(text, { tokenBudget: 2, countTokens }), '');
  });
});
