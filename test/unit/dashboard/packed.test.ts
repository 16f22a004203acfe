import assert from 'node:assert/strict';
import { pack, unpack, type PackedStudy } from '../../../src/study/document/packed';
import { simulatedStudy } from './simulated';

/** The value as JSON, with the decimals that packing keeps. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_key, each: unknown) =>
      typeof each === 'number' ? Math.round(each * 1e6) / 1e6 : each,
    ),
  );

describe('a packed study', () => {
  it('is the same study, with every field of every entry', () => {
    const study = simulatedStudy({ instances: 120, methods: 3, samples: 2, seed: 7 });
    const [first, ...rest] = study.runs;
    assert.ok(first);
    const entries = first.entries.map((entry, index) => ({
      ...entry,
      ...(index % 3 === 0 && { difference: `rule ${index}` }),
      ...(index % 2 === 0 &&
        entry.harness !== undefined && { harness: { ...entry.harness, coverage: 0.25 } }),
      ...(index % 5 === 0 && { cost: { dollars: 0.1 } }),
      ...(index % 7 === 0 && { oracle: true as const }),
      ...(index % 4 === 3 && { trajectoryFindings: [] }),
      ...(index % 5 === 1 && { mutants: { killed: 4, all: 4 } }),
      ...(index % 5 === 2 && { mutants: { killed: 0, all: 0 } }),
      ...(index % 5 === 3 && {
        mutants: { killed: 1, all: 2 },
        survivors: [
          {
            ...{ path: 'a.py', line: index, operator: 'comparison' },
            ...{ before: '<', after: '<=', status: 'survived' as const },
          },
        ],
      }),
      ...(index % 6 === 0 && {
        trajectoryFindings: [
          { kind: 'history', severity: 'note', step: index, text: 'git log' } as const,
        ],
      }),
      // The three cases: not checked, nothing found, something found.
      ...(index % 4 === 1 && { findings: [] }),
      ...(index % 4 === 2 && {
        findings: [{ kind: 'no changed line ran', evidence: ['a', `b ${index}`] } as const],
      }),
    }));
    const whole = { ...study, runs: [{ ...first, entries, unfinished: true }, ...rest] };
    assert.deepEqual(
      plain(unpack(JSON.parse(JSON.stringify(pack(whole))) as PackedStudy)),
      plain(whole),
    );
  });

  it('keeps what two runs know differently of one instance', () => {
    const study = simulatedStudy({ instances: 4, methods: 2 });
    const [first, second] = study.runs;
    assert.ok(first && second);
    const undated = second.instances.map((facts) => ({ ...facts, created: '' }));
    const whole = { ...study, runs: [first, { ...second, instances: undated }] };
    assert.deepEqual(plain(unpack(pack(whole))), plain(whole));
  });

  it('keeps entries of instances that a run did not select', () => {
    const study = simulatedStudy({ instances: 4, methods: 1 });
    const [run] = study.runs;
    assert.ok(run);
    const whole = { ...study, runs: [{ ...run, instances: run.instances.slice(0, 2) }] };
    assert.deepEqual(plain(unpack(pack(whole))), plain(whole));
  });

  it('is at most a third of the text', () => {
    const study = simulatedStudy({ instances: 500, methods: 4 });
    assert.ok(3 * JSON.stringify(pack(study)).length < JSON.stringify(study).length);
  });
});
