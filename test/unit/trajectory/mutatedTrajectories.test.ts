import assert from 'node:assert/strict';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { HumanError } from '../../../src/domain/work';
import { costOverTime } from '../../../src/trajectory/costOverTime';
import { readTrajectories } from '../../../src/trajectory/readTrajectories';
import { scanTrajectory } from '../../../src/trajectory/scanTrajectory';
import { stepKinds, totalsOf } from '../../../src/trajectory/trajectory';
import { trajectoryText } from '../../../src/trajectory/trajectoryText';
import { everydayRuns } from '../../everyday';
import {
  agentTrace,
  aiderChat,
  asLines,
  atifFiles,
  conversation,
  miniFile,
  miniFormatErrors,
  newOpenHandsRow,
  oldMiniFile,
  oldOpenHandsRow,
  oracleTrace,
  sweAgentFile,
} from './madeUpTrajectories';

/** Files by name, of each format. A file of values is one of JSON lines. */
const files: readonly Readonly<Record<string, unknown>>[] = [
  { 'a.traj': sweAgentFile },
  { 'a.traj.json': miniFile },
  { 'a.traj.json': miniFormatErrors },
  { 'a.traj.json': oldMiniFile },
  { 'trajectory.json': oldOpenHandsRow.history },
  { 'output.jsonl': [oldOpenHandsRow, newOpenHandsRow] },
  { 'a.trace.jsonl': [...agentTrace, ...oracleTrace] },
  { 'a.aider.chat.history.md': aiderChat },
  conversation,
  Object.fromEntries(Object.entries(atifFiles).map(([name, value]) => [`agent/${name}`, value])),
];

const strange = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 1e308, '', 'a\u202e\u001b[31m', [], {}, [[]], [null]),
  fc.constantFrom<unknown>({ role: null }, { kind: 'ActionEvent' }, { length: 7 }, '9'.repeat(999)),
  fc.string(),
  fc.double(),
);

const mutation = fc.record({
  at: fc.nat(),
  value: strange,
  how: fc.constantFrom('replace', 'remove', 'insert', 'repeat'),
});

type Mutation = typeof mutation extends fc.Arbitrary<infer Value> ? Value : never;

/** Each object and list in a value. */
function placesIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(placesIn)];
}

function mutated(value: unknown, mutations: readonly Mutation[]): unknown {
  const whole = { value: structuredClone(value) };
  for (const { at, value: given, how } of mutations) {
    const other = structuredClone(given);
    const places = placesIn(whole);
    const place = (places[at % places.length] ?? whole) as Record<string, unknown>;
    const keys = Object.keys(place);
    const key = keys[at % Math.max(1, keys.length)] ?? 'x';
    if (how === 'replace') place[key] = other;
    else if (how === 'remove') delete place[key];
    else if (how === 'insert') place[at % 2 === 0 ? 'extra' : key] = [other, place[key]];
    else if (Array.isArray(place))
      place.push(...(structuredClone(place) as unknown[]).slice(0, 50));
  }
  return whole.value;
}

describe('trajectories of strangers', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-mutated-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('are read and shown, or refused with a sentence, whatever is wrong in them', async () => {
    const property = fc.asyncProperty(
      fc.constantFrom(...files),
      fc.array(mutation, { maxLength: 4 }),
      fc.record({ from: fc.nat(), length: fc.constantFrom(0, 0, 0, 1, 40), by: fc.string() }),
      async (written, mutations, { from, length, by }) => {
        await rm(folder, { recursive: true, force: true });
        for (const [name, value] of Object.entries(written)) {
          const changed = mutated(value, mutations);
          const text =
            typeof changed === 'string'
              ? changed
              : name.endsWith('.jsonl') && Array.isArray(changed)
                ? asLines(changed)
                : String(JSON.stringify(changed));
          const start = from % (text.length + 1);
          const torn = length === 0 ? text : text.slice(0, start) + by + text.slice(start + length);
          await mkdir(dirname(join(folder, name)), { recursive: true });
          await writeFile(join(folder, name), torn);
        }
        const [first = ''] = Object.keys(written);
        for (const path of [folder, join(folder, first)]) await readAll(path);
      },
    );
    await fc.assert(property, { numRuns: everydayRuns(1000) });
  });
});

/** Reads as a person does: everything is shown, searched and added up. */
async function readAll(path: string): Promise<void> {
  const problems: string[] = [];
  try {
    for await (const { trajectory } of readTrajectories(path, {
      told: (problem) => problems.push(problem),
    })) {
      const { steps } = trajectory;
      for (const step of steps) {
        assert.ok(stepKinds.includes(step.kind));
        assert.equal(typeof step.text, 'string');
        assert.ok(Number.isInteger(step.turn) && step.turn >= 0);
      }
      for (const value of Object.values(totalsOf(trajectory))) assert.equal(typeof value, 'number');
      const findings = scanTrajectory(trajectory);
      costOverTime(trajectory);
      trajectoryText({ trajectory, findings });
    }
  } catch (error) {
    assert.ok(error instanceof HumanError, String((error as Error).stack));
  }
}
