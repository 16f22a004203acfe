import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { start } from './cli';
import { fakeModels, type Reply } from './fakeModels';

/** A line of a trace, as far as tests of killed runs read it. */
export interface KeptStep {
  readonly step: string;
  readonly key: string;
  /** Of an answer: an empty one is asked for again. */
  readonly attempt?: number;
  readonly patch?: string;
  readonly observation?: string;
  readonly isRestarted?: boolean;
}

/** What came of a command that was killed after each of its steps, and at last was not. */
export interface KilledRun {
  /** The requests that were answered, in their order. */
  readonly asked: readonly string[];
  /** All steps of the trace at the end. */
  readonly steps: readonly KeptStep[];
}

/**
 * Plays a script to `generate` with an agent. Each start gets one answer. It is killed with SIGKILL at
 * its next request, when everything up to there is on the disk. The start with the last answer ends by
 * itself. Asserts on the way that nothing is lost, written again, half-written or asked for twice, and
 * that each start of an agent says that it goes on.
 *
 * @param args of the command, for the address of the model
 * @param out the file of predictions
 * @param script answers, one for each request
 * @param of.agent whether the method is an agent
 */
export async function killedAtEachStep(
  args: (baseUrl: string) => readonly string[],
  out: string,
  script: readonly Reply[],
  of: { readonly agent: boolean } = { agent: true },
): Promise<KilledRun> {
  const asked: string[] = [];
  let before = '';
  for (const [at, reply] of script.entries()) {
    const running: { kill?: () => void } = {};
    const models = await fakeModels((_, number) => {
      if (number === 1) return reply;
      running.kill?.();
      return { hang: true };
    });
    const isLast = at === script.length - 1;
    try {
      const { child, answer } = start([...args(models.url)]);
      running.kill = () => child.kill('SIGKILL');
      const { status, stderr } = await answer;
      assert.equal(status === 0, isLast, `start ${at + 1}: ${stderr}`);
      assert.equal(models.asked.length, isLast ? 1 : 2, `start ${at + 1}: ${stderr}`);
      assert.equal(models.answered.length, 1);
      asked.push(models.asked[0]?.text ?? '');
      const kept = /resuming from its trace, which has (\d+) answers? and \d+ actions?/.exec(
        stderr,
      );
      const count = script.slice(0, at).filter(hasContent).length;
      const isTold = of.agent && count > 0;
      assert.equal(kept?.[1], isTold ? String(count) : undefined, stderr);
    } finally {
      await models.close();
    }
    const trace = await readFile(`${out}.trace.jsonl`, 'utf8');
    assert.ok(
      trace.startsWith(before) && trace.endsWith('\n'),
      'the trace only grows, line by line',
    );
    before = trace;
  }
  const steps = before
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as KeptStep);
  const keys = steps.map(({ step, key, attempt }) => `${step} ${key} ${attempt}`);
  assert.equal(new Set(keys).size, keys.length, 'no step is made twice');
  return { asked, steps };
}

const hasContent = (reply: Reply): boolean =>
  'text' in reply && (reply.text !== '' || ('calls' in reply && reply.calls !== undefined));

/**
 * A line of predictions without its count of input tokens. The note of a restart is part of each request
 * after it, so a killed run of an agent with a shell costs more than another.
 */
export const withoutInputTokens = (line: string): string =>
  line.replace(/"input_tokens":\d+/, '"input_tokens":0');
