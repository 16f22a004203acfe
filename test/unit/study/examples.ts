import fc from 'fast-check';
import type { EntryReason } from '../../../src/domain/verdict';
import {
  nothingKnown,
  type InstanceFacts,
  type RunData,
  type RunEntry,
} from '../../../src/study/entry';

export const facts = (id: string, more: Partial<InstanceFacts> = {}): InstanceFacts => ({
  id,
  repo: 'octo/cat',
  created: '2023-01-01T00:00:00Z',
  issueLength: 100,
  ...more,
});

/** A candidate that applies and does nothing else, unless told. */
export const entry = (instance: string, more: Partial<RunEntry> = {}): RunEntry => ({
  instance,
  model: 'm',
  sample: 1,
  reason: 'no test ran',
  explanation: '',
  ...nothingKnown,
  evaluated: true,
  wellFormed: true,
  seconds: 1,
  ...more,
});

export const solved = (instance: string, more: Partial<RunEntry> = {}): RunEntry =>
  entry(instance, { reason: 'success', success: true, failToPass: 1, failToAny: 1, ...more });

export const run = (
  instances: readonly string[],
  entries: readonly RunEntry[],
  more: Partial<RunData> = {},
): RunData => ({
  label: 'run',
  instances: instances.map((id) => facts(id)),
  entries,
  ...more,
});

/** Random entries with consistent figures. */
export const anyEntry = (instance: string, model: string, sample = 1): fc.Arbitrary<RunEntry> =>
  fc
    .record({
      evaluated: fc.boolean(),
      applies: fc.boolean(),
      failToPass: fc.nat(3),
      failToFail: fc.nat(2),
      passToPass: fc.nat(2),
      passToFail: fc.nat(1),
      executable: fc.nat(5),
      covered: fc.nat(5),
      hasDelta: fc.boolean(),
    })
    .map((of) => {
      const runs = of.evaluated && of.applies;
      const figures = runs
        ? {
            failToPass: of.failToPass,
            failToFail: of.failToFail,
            passToPass: of.passToPass,
            passToFail: of.passToFail,
          }
        : { failToPass: 0, failToFail: 0, passToPass: 0, passToFail: 0 };
      const anyToFail = figures.failToFail + figures.passToFail;
      const success = figures.failToPass > 0 && anyToFail === 0;
      const reason: EntryReason = !of.evaluated
        ? 'environment failed'
        : !of.applies
          ? 'does not apply'
          : success
            ? 'success'
            : 'breaks a test';
      return entry(instance, {
        model,
        sample,
        reason,
        evaluated: of.evaluated,
        wellFormed: runs,
        success,
        ...figures,
        failToAny: figures.failToPass + figures.failToFail,
        anyToFail,
        ...(of.evaluated && of.hasDelta
          ? {
              delta: {
                executable: of.executable,
                covered: runs ? Math.min(of.covered, of.executable) : 0,
              },
            }
          : {}),
      });
    });
