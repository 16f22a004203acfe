import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openDataset } from '../../src/dataset/dataset';
import { sides, type Side } from '../../src/domain/outcome';
import { silent } from '../../src/domain/work';
import type { RunRecord } from '../../src/engine/engine';
import { localEngine } from '../../src/engine/local/localEngine';
import { environments } from '../../src/environments/environments';
import { evaluateSince } from '../../src/evaluation/candidate';
import type { FirstResult } from '../../src/evaluation/firstResult';
import { prepareCandidate } from '../../src/evaluation/prepareCandidate';
import { openSession, type InstanceSession } from '../../src/evaluation/session';
import { runStore } from '../../src/evaluation/testRun';
import { parseSources, sourceOf } from '../../src/repository/source';
import { prepareTrees } from '../../src/repository/trees';
import { pytestEnvironment } from '../environments';
import { loadParser } from '../unit/python/loadParser';

const sample = resolve('media', 'sample');

/** What two runs of the same tests have in common. */
const lasting = ({ ending, exitCode, killedBy, trace }: RunRecord) => {
  const { outcomes, counts, collected, sessions, files, elsewhere, acts } = trace;
  const { problems, contradictions, unfinished, techniques } = trace;
  return JSON.parse(
    JSON.stringify(
      {
        ...{ ending, exitCode, killedBy, outcomes, collected, sessions, techniques, elsewhere },
        ...{ problems, contradictions, unfinished: unfinished.length },
        counts: counts.map(({ byTest, ...of }) => ({ ...of, byTest: [...byTest] })),
        files: files.map((each) => JSON.stringify(each)).sort(),
        acts: acts.map((each) => JSON.stringify(each)).sort(),
      },
      (name, value: unknown) => (name === 'seconds' ? 0 : value),
    ).replaceAll(/0x[0-9a-f]+|\/r\/[0-9a-f]{4}/g, 'somewhere'),
  ) as unknown;
};

describe('a run that begins with R loaded', function () {
  if (process.platform === 'win32') return;
  let storage = '';
  let python = '';
  let session: InstanceSession;
  let dispose: () => Promise<void> = () => Promise.resolve();
  const log: string[] = [];
  const reporter = { ...silent, log: (line: string) => void log.push(line) };
  const options = { timeoutSeconds: 60, reporter, reuse: false };
  before(async function () {
    python = await pytestEnvironment(this);
    storage = mkdtempSync(join(tmpdir(), 'warm-start-'));
  });
  afterEach(() => dispose());
  after(() => rmSync(storage, { recursive: true, force: true }));

  const open = async (more: { readonly warmFrom?: number } = { warmFrom: 0 }): Promise<void> => {
    const dataset = await openDataset(join(sample, 'instance.jsonl'), { storage, reporter });
    const [instance] = await dataset.read(
      [...readFileSync(join(sample, 'instance.jsonl'), 'utf8').matchAll(/"instance_id": ?"(.*?)"/g)]
        .map((match) => match[1] ?? '')
        .slice(0, 1),
    );
    assert.ok(instance !== undefined);
    const source = await sourceOf(instance, parseSources([join(sample, 'repository')]));
    const trees = await prepareTrees(instance, source, storage, { reporter });
    const tracer = resolve('src/engine/tracer');
    const engine = await localEngine({
      ...{ environments, storage, tracer, python, isAwaited: true, ...more },
    });
    const parser = await loadParser();
    const store = runStore(join(storage, 'runs'));
    session = await openSession({ instance, trees, engine, store, python: parser });
    dispose = async () => {
      await session.dispose();
      await engine.dispose();
      dispose = () => Promise.resolve();
    };
    log.length = 0;
  };

  const rows = readFileSync(join(sample, 'predictions.jsonl'), 'utf8').trim().split('\n');
  const candidates = rows.map(
    (row) => JSON.parse(row) as { model_name_or_path: string; model_patch: string },
  );
  const requestOf = (text: string, model = 'm') =>
    ({ model, text, format: 'unified', mode: 'unit-test' }) as const;

  /** The records of a preliminary run that was expected, and of a plain one. */
  const both = async (text: string, expected = text) => {
    const setOf = async (of: string) => {
      const read = await prepareCandidate(session, requestOf(of));
      if ('verdict' in read) return undefined;
      return { patch: read.patch, files: read.files, select: read.own.functions };
    };
    const set = await setOf(text);
    const before = await setOf(expected);
    if (set === undefined || before === undefined || set.select.length === 0) return undefined;
    session.expect(before, options);
    const warm = (await session.run(set, { ...options, isPreliminary: true })).records;
    const fresh = (await session.run(set, options)).records;
    return { warm, fresh };
  };

  for (const { model_name_or_path: name, model_patch: text } of candidates) {
    it(`records what a fresh process does: ${name}`, async function () {
      await open();
      const found = await both(text);
      if (found === undefined) return this.skip();
      for (const side of sides) {
        const [warm, fresh] = [found.warm[side], found.fresh[side]];
        assert.ok(warm !== undefined && fresh !== undefined);
        assert.deepEqual(lasting(warm), lasting(fresh), side);
        assert.equal(fresh.trace.warm, undefined);
        const how = warm.trace.warm?.seconds ?? warm.whyFresh ?? log.join('\n');
        assert.ok(how !== '', `neither loaded nor a reason: ${name}`);
        console.log(name, side, how, warm.trace.outcomes.length, warm.trace.counts.length);
      }
    });
  }
});
