import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cli, sample, scratch } from './cli';
import { fakeModels, type Asked, type FakeModels } from './fakeModels';

/** The bundled candidates that the fake model answers with, by their strict grading. */
const good = 'covers-some';
const bad = 'passes-on-both';
const failing = 'fails-on-both';
const broken = 'does-not-apply';

/**
 * The answers to each of six instances, by method. Methods with several answers choose a different
 * one each time; `chosen` is the answer that the method must choose.
 */
const scripts = {
  'zero-shot': {
    answers: [[good], [bad], [good], [failing], [broken], [good]],
    chosen: [1, 1, 1, 1, 1, 1],
    success: 50,
    wellFormed: 83.3,
  },
  'zero-shot-plus': {
    answers: [[good], [good], [bad], [good], [good], [failing]],
    chosen: [1, 1, 1, 1, 1, 1],
    success: 66.7,
    wellFormed: 100,
  },
  'pass-at-5': {
    answers: [
      [good, bad, bad, bad, bad],
      [bad, good, failing, bad, bad],
      [bad, bad, good, bad, bad],
      [broken, bad, bad, good, bad],
      [bad, bad, failing, bad, good],
      [broken, broken, bad, bad, bad],
    ],
    chosen: [1, 2, 3, 4, 5, 3],
    success: 83.3,
    wellFormed: 100,
  },
  libro: {
    answers: [
      [bad, good, bad, bad, bad],
      [bad, bad, failing, bad, bad],
      [good, bad, bad, bad, bad],
      [bad, bad, bad, bad, failing],
      [broken, bad, bad, bad, broken],
      [bad, failing, bad, bad, bad],
    ],
    chosen: [2, 3, 1, 5, 2, 2],
    success: 33.3,
    wellFormed: 100,
  },
} as const;
type MethodName = keyof typeof scripts;
const methods = Object.keys(scripts) as MethodName[];
const nameOf = (method: MethodName): string => `${method}/openai-compatible/m`;
/** As reports name it: an oracle chooses the candidates of Pass@5. */
const shownName = (method: MethodName): string =>
  method === 'pass-at-5' ? `${nameOf(method)} (oracle)` : nameOf(method);
const ids = [1, 2, 3, 4, 5, 6].map((number) => `tallybook__tallybook-30${number}`);

interface Row extends Record<string, unknown> {
  readonly instance_id: string;
  readonly model_name_or_path: string;
}
interface Summary {
  readonly name: string;
  readonly selected: number;
  readonly evaluated: number;
  readonly success: { readonly count: number; readonly of: number };
  readonly wellFormed: { readonly count: number; readonly of: number };
  readonly notEvaluated: readonly { readonly reason: string }[];
}

describe('rates, from generate through evaluate to report @full', () => {
  const folder = scratch();
  let server: FakeModels;
  let dataset = '';
  let out = '';
  const file = (method: MethodName): string => join(folder.path, 'made', `${method}.jsonl`);
  const rowsOf = async (path: string): Promise<Row[]> =>
    (await readFile(path, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
  const write = (path: string, rows: readonly object[]): Promise<void> =>
    writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const evaluate = async (results: string, ...predictions: string[]): Promise<string> => {
    const answer = await cli([
      ...['evaluate', '--dataset', dataset, '--source', join(sample, 'repository')],
      ...['--storage', join(folder.path, 'storage'), '--out', results, '--run-id', 'night'],
      ...['--predictions', ...predictions],
    ]);
    assert.equal(answer.status, 0, answer.stderr);
    return answer.stdout;
  };
  const report = async (results: string): Promise<readonly Summary[]> => {
    const answer = await cli(['report', results, '--format', 'json']);
    assert.equal(answer.status, 0, answer.stderr);
    return (JSON.parse(answer.stdout) as { methods: Summary[] }).methods;
  };
  /** The rates that were counted by hand, one row for each method. */
  const assertRates = (summaries: readonly Summary[], of: readonly MethodName[] = methods): void =>
    assert.deepEqual(
      summaries.map(({ name, selected, evaluated, success, wellFormed, notEvaluated }) => ({
        ...{ name, selected, evaluated, notEvaluated },
        success: percent(success),
        wellFormed: percent(wellFormed),
      })),
      of.map((method) => ({
        ...{ name: shownName(method), selected: 6, evaluated: 6, notEvaluated: [] },
        success: scripts[method].success,
        wellFormed: scripts[method].wellFormed,
      })),
    );
  const percent = ({ count, of }: { count: number; of: number }): number =>
    Math.round((1000 * count) / of) / 10;

  before(async () => {
    const candidates = new Map(
      (await rowsOf(join(sample, 'predictions.jsonl'))).map((row) => [
        row.model_name_or_path,
        String(row['model_patch']),
      ]),
    );
    const [instance] = await rowsOf(join(sample, 'instance.jsonl'));
    assert.ok(instance);
    dataset = join(folder.path, 'dataset.jsonl');
    const issue = String(instance['problem_statement']);
    await write(
      dataset,
      ids.map((id) => ({
        ...instance,
        instance_id: id,
        problem_statement: `${issue}\n\nReported by ${id}.\n`,
      })),
    );
    await mkdir(join(folder.path, 'made'));
    for (const method of methods) {
      const asked = new Map<string, number>();
      const script = ({ text }: Asked): string => {
        if (text.includes('YES or NO')) return 'YES';
        const id = ids.find((each) => text.includes(`Reported by ${each}.`)) ?? '';
        const number = asked.get(id) ?? 0;
        asked.set(id, number + 1);
        const candidate = scripts[method].answers[ids.indexOf(id)]?.[number] ?? '';
        const patch = candidates.get(candidate);
        assert.ok(patch, `answer ${number + 1} to ${id}`);
        const block = patch.startsWith('diff --git') ? 'diff' : 'custom-diff';
        return `\`\`\`${block}\n${patch.trimEnd()}\n\`\`\`\n`;
      };
      server = await fakeModels((request) => ({ text: script(request) }));
      const answer = await cli([
        ...['generate', '--method', method, '--model', 'openai-compatible/m'],
        '--run-tests-locally',
        ...['--dataset', dataset, '--source', join(sample, 'repository'), '--out', file(method)],
        ...['--storage', join(folder.path, 'storage'), '--base-url', server.url],
        // One request at a time, so that answers have the numbers of the script.
        ...['--concurrency', '1', '--workers', '1'],
      ]);
      await server.close();
      assert.equal(answer.status, 0, answer.stderr);
    }
    out = join(folder.path, 'results');
    await evaluate(out, ...methods.map(file));
  });

  it('the choices differ, and their number is not that of a sample', async () => {
    for (const method of methods) {
      const rows = await rowsOf(file(method));
      assert.deepEqual(
        rows.map((row) => row['chosen_sample']),
        scripts[method].chosen,
        method,
      );
      assert.ok(rows.every((row) => !('sample' in row)));
    }
  });

  it('are those that were counted by hand, one row for each method', async () => {
    assertRates(await report(out));
  });

  it('evaluate prints the same, and knows of no further samples', async () => {
    for (const method of methods) {
      const text = await evaluate(join(folder.path, `alone-${method}`), file(method));
      const { success } = scripts[method];
      const line = text.split('\n').find((each) => each.startsWith(`${shownName(method)}: `));
      assert.match(line ?? text, new RegExp(`: .*\\bS ${Math.round(success)} %`));
      assert.doesNotMatch(text, /@\d/);
    }
  });

  it('five samples of a method stay five, and an oracle picks among them', async () => {
    const own = await rowsOf(join(sample, 'predictions.jsonl'));
    const patches = new Map(own.map((row) => [row.model_name_or_path, row['model_patch']]));
    const { answers } = scripts['pass-at-5'];
    const path = join(folder.path, 'five.jsonl');
    await write(
      path,
      ids.flatMap((instance_id, place) =>
        (answers[place] ?? []).map((candidate, index) => ({
          ...{ instance_id, model_name_or_path: 'five', model_patch: patches.get(candidate) },
          sample: index + 1,
        })),
      ),
    );
    const results = join(folder.path, 'five');
    await evaluate(results, path);
    const answer = await cli(['report', results, '--format', 'json']);
    const { methods: found } = JSON.parse(answer.stdout) as { methods: Summary[] };
    assert.deepEqual(
      found.map(({ name, success }) => [name, percent(success)]),
      [
        ['five', 16.7],
        ['five Pass@5 (oracle)', 83.3],
      ],
    );
  });
});
