import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { cli, start } from './cli';
import type { KeptStep } from './killedAtEachStep';

/**
 * Starts a command of `generate` again and again. Each start but the last is killed with SIGKILL as
 * soon as the trace has so many steps of a kind. Asserts that the last start ends well, and that no
 * step is made twice.
 *
 * @param out the file of predictions
 * @param moments kinds of steps with the numbers to kill at
 * @returns the steps of the trace at the end
 */
export async function killedWithSteps(
  args: readonly string[],
  out: string,
  moments: readonly (readonly [step: string, number: number])[],
): Promise<KeptStep[]> {
  const stepsIn = async (): Promise<KeptStep[]> => {
    const text = await readFile(`${out}.trace.jsonl`, 'utf8').catch(() => '');
    const lines = text.split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as KeptStep);
  };
  for (const [step, number] of moments) {
    const { child, answer } = start([...args]);
    let ended = false;
    void answer.then(() => (ended = true));
    while (!ended) {
      const there = (await stepsIn()).filter((each) => each.step === step);
      if (there.length >= number) child.kill('SIGKILL');
      await sleep(5);
    }
  }
  const last = await cli([...args]);
  assert.equal(last.status, 0, last.stderr);
  const steps = await stepsIn();
  const keys = steps.map(({ step, key }) => `${step} ${key}`);
  assert.equal(new Set(keys).size, keys.length, 'no step is made twice');
  return steps;
}
