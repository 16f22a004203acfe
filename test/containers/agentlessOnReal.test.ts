import { studyReportSchema } from '../../src/study/studyReportSchema';
import { type AgentlessStage, agentlessStages } from '../../src/method/agentless/agentlessSettings';
import { judgedRepairsSchema } from '../../src/repair/judgedRepairsSchema';
import { type Answer, type Evaluation, cli, start } from '../commandLine/cli';
import { jsonLinesOf } from '../commandLine/jsonLinesOf';
import { stageOutputsOf } from '../commandLine/stageOutputsOf';
import { sourceRelease } from '../environments';
import {
  agentlessOnSympy,
  brokenTest,
  excludedTest,
  reproductionScripts,
  rightDiff,
  sympyId,
  sympyRelease,
  vectorsOnSympy,
} from '../real/agentlessOnSympy';
import { type ModelByStage, modelByStage } from '../real/modelByStage';
import { hasOutputs, killedWhen, processesOn, volumeNames } from './afterKill';
import { containersOf } from './dockerForTests';
import { data, onRelease, storageOfSuite } from './realData';
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

describe(`Agentless on ${sympyId}, in containers @full`, () => {
  const storage = storageOfSuite([sympyId]);
  let server: ModelByStage;
  let isHeld: (stage: AgentlessStage) => boolean = () => false;
  let where: string[] = [];

  const serve = async (): Promise<void> => {
    isHeld = () => false;
    server = await modelByStage({
      ...{ answer: agentlessOnSympy, vectors: vectorsOnSympy, other: rightDiff },
      isHeld: (stage) => isHeld(stage),
    });
  };
  beforeEach(async function () {
    const archive = await sourceRelease(this, ...sympyRelease);
    where = onRelease(sympyId, archive, storage.path);
    await serve();
  });
  afterEach(() => server.close());

  const model = (): string[] => [
    ...['--model', 'openai-compatible/m', '--base-url', server.url, '--price', '2.5,10'],
    // The answers differ by their number, so that one after the other is asked for.
    ...['--concurrency', '1', '--budget', '9'],
  ];
  const samples = String(reproductionScripts.length);
  const repairing = (out: string, ...more: string[]): string[] => [
    ...['repair', '--method', 'agentless', '--out', out, ...model(), ...where],
    ...['--embedding-model', 'openai-compatible/e', '--embedding-price', '0.02'],
    ...['--reproduction-samples', samples, '--regression-files', '2', ...more],
  ];
  const judge = (out: string, ...predictions: string[]): Promise<Answer> =>
    cli([
      ...['evaluate', '--kind', 'repair', '--json', '--predictions', ...predictions],
      ...['--out', out, ...where],
    ]);

  it('goes from the issue to 40 patches, of which tests and votes choose the one that resolves', async () => {
    const out = join(storage.path, 'repairs.jsonl');
    const answer = await cli(repairing(out));
    assert.equal(answer.status, 0, answer.stderr);
    assert.deepEqual(await containersOf(sympyId), []);
    assert.match(answer.stderr, /ignored files that do not exist: \S*gone\.py/);
    const outputs = await stageOutputsOf(out);
    const quantum = 'sympy/physics/quantum';
    assert.deepEqual(outputs.get('folders'), [
      ...['sympy/plotting', 'sympy/polys', 'sympy/solvers', 'doc'],
    ]);
    const near = outputs.get('retrieval') as { readonly path: string }[];
    assert.equal(near[0]?.path, `${quantum}/tensorproduct.py`);
    assert.ok(!near.some(({ path }) => path.startsWith('sympy/polys/')));
    const files = outputs.get('combined') as string[];
    assert.equal(files[0], `${quantum}/tensorproduct.py`);
    assert.equal(files.length, 3);
    const sets = outputs.get('locations') as unknown[][];
    assert.deepEqual(
      sets.map((set) => set.length > 0),
      [true, true, false, true],
    );
    const regression = outputs.get('regression') as Record<
      'files' | 'tests' | 'excluded',
      string[]
    >;
    assert.ok(regression.files.includes(`${quantum}/tests/test_tensorproduct.py`));
    assert.deepEqual(regression.excluded, [excludedTest]);
    assert.ok(regression.tests.includes(brokenTest) && !regression.tests.includes(excludedTest));
    const {
      scripts,
      reproducing,
      ranked: ofIssue,
    } = outputs.get('reproduction') as {
      readonly scripts: number;
      readonly reproducing: number;
      readonly ranked: readonly { readonly sample: number; readonly votes: number }[];
    };
    assert.deepEqual(
      [scripts, reproducing, ...ofIssue.map(({ sample, votes }) => [sample, votes])],
      [5, 3, [2, 2], [3, 1]],
    );

    const [row] = await jsonLinesOf(out);
    assert.match(
      String(row?.['why']),
      /^breaks no regression test; the reproduction script prints "Issue resolved"; \d+ of 40 samples equal this patch/,
    );
    const ranked = await jsonLinesOf(`${out}.ranked.jsonl`);
    assert.equal(ranked[0]?.['model_patch'], row?.['model_patch']);
    assert.equal(ranked[0]?.['votes'], 16, 'also those with other comments, blanks and brackets');
    assert.ok((ranked.at(-1)?.['regressions'] as string[] | undefined)?.includes(brokenTest));
    assert.deepEqual(
      new Set(ranked.map(({ reproduction }) => reproduction)),
      new Set(['Issue resolved', 'Issue reproduced']),
    );

    // The chosen patch resolves the instance, and the last does not.
    const last = join(storage.path, 'last.jsonl');
    await writeFile(last, JSON.stringify({ ...ranked.at(-1), model_name_or_path: 'last' }));
    const results = join(storage.path, 'judged');
    const judged = await judge(results, out, last);
    assert.equal(judged.status, 0, judged.stderr);
    assert.deepEqual(
      judgedRepairsSchema
        .parse(JSON.parse(judged.stdout))
        .results.map(({ model, resolution, strict, location }) => [
          model,
          resolution,
          strict?.resolved,
          location?.line,
        ]),
      [
        [row?.['model_name_or_path'], 'RESOLVED_FULL', true, true],
        ['last', 'RESOLVED_NO', false, false],
      ],
    );
    const reported = await cli(['report', results, '--format', 'json']);
    assert.equal(reported.status, 0, reported.stderr);
    const { repairRates = [] } = studyReportSchema.parse(JSON.parse(reported.stdout));
    const [rates] = repairRates;
    assert.deepEqual(rates?.resolved, [sympyId]);
    assert.equal(rates.dollars?.mean, row?.['dollars']);
    assert.equal(rates.inputTokens?.mean, row?.['input_tokens']);
    assert.deepEqual(rates.correctLocation, { line: 1, function: 1, file: 1 });
  });

  it('repairs by retrieval and one diff', async () => {
    const out = join(storage.path, 'rag.jsonl');
    const answer = await cli(['repair', '--method', 'rag', '--out', out, ...model(), ...where]);
    assert.equal(answer.status, 0, answer.stderr);
    assert.equal(server.asked.length, 1);
    const judged = await judge(join(storage.path, 'judged-rag'), out);
    const [result] = judgedRepairsSchema.parse(JSON.parse(judged.stdout)).results;
    assert.equal(result?.resolution, 'RESOLVED_FULL', judged.stdout);
  });

  it('writes the reproduction script of most samples as a test, which is F→P', async () => {
    const out = join(storage.path, 'tests.jsonl');
    const answer = await cli([
      ...['generate', '--method', 'agentless-tests', '--samples', samples, '--out', out],
      ...[...model(), ...where],
    ]);
    assert.equal(answer.status, 0, answer.stderr);
    const [row] = await jsonLinesOf(out);
    assert.match(
      String(row?.['why']),
      /^3 of 5 scripts reproduce the issue on R, 2 of them like this one/,
    );
    const graded = await cli(['evaluate', '--json', '--predictions', out, ...where]);
    assert.equal(graded.status, 0, graded.stderr);
    const [result] = (JSON.parse(graded.stdout) as Evaluation).results;
    assert.equal(result?.strict?.success, true, result?.strict?.explanation ?? result?.error);
    assert.equal(result.strict.FAIL_TO_PASS.length, 1);
    assert.deepEqual(await containersOf(sympyId), []);
  });

  /** What a model received, request by request. */
  const received = (): unknown => [server.answered.map(({ text }) => text), server.embedded];

  it('killed in each stage and in runs, and with another X*, T* and lists, it ends the same', async () => {
    const volumes = await volumeNames();
    const whole = join(storage.path, 'whole.jsonl');
    const unkilled = await cli(repairing(whole, '--storage', join(storage.path, '1')));
    assert.equal(unkilled.status, 0, unkilled.stderr);
    const before = received();
    await server.close();
    await serve();
    const out = join(storage.path, 'killed.jsonl');
    const dataset = join(storage.path, 'other.jsonl');
    await writeFile(dataset, await rowWithOtherAnswer());
    const args = repairing(out, '--dataset', dataset, '--storage', join(storage.path, '2'));

    const asking = agentlessStages.filter((each) => each !== 'combined');
    for (const stage of asking) {
      // In the middle of a stage with several requests.
      let left = { retrieval: 3, locations: 2, repair: 17, reproduction: 1 }[stage as string] ?? 0;
      const { child, answer } = start(args);
      isHeld = (asked) => asked === stage && left-- <= 0 && child.kill('SIGKILL');
      const { status, stderr } = await answer;
      assert.equal(status, null, `${stage}: ${stderr}`);
    }
    isHeld = () => false;
    for (const [stage, count] of [
      ['script on R', 1],
      ['regression tests with a patch', 2],
    ] as const) {
      const { child, answer } = start(args);
      await killedWhen(child, () => hasOutputs(out, stage, count));
      assert.equal((await answer).status, null, stage);
    }
    assert.notDeepEqual(await containersOf(sympyId), [], 'the killed command leaves containers');
    const last = await cli(args);
    assert.equal(last.status, 0, last.stderr);
    assert.deepEqual(await containersOf(sympyId), []);
    assert.deepEqual(await volumeNames(), volumes);
    assert.deepEqual(await processesOn(storage.path), []);
    assert.deepEqual(received(), before, 'nothing is paid twice, and nothing tells of the answer');
    for (const ending of ['', '.ranked.jsonl']) {
      const [killed, unbroken] = await Promise.all(
        [out, whole].map((path) => readFile(`${path}${ending}`, 'utf8')),
      );
      assert.equal(killed, unbroken);
    }
  });
});

/** The row of the instance with an X*, a T*, lists and hints that are about something else. */
async function rowWithOtherAnswer(): Promise<string> {
  const row = (await jsonLinesOf(data)).find((each) => each['instance_id'] === sympyId);
  const added = (path: string, line: string): string =>
    `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}\n`;
  return JSON.stringify({
    ...row,
    patch: added('sympy/physics/quantum/other_answer.py', 'other = 1'),
    test_patch: added('sympy/core/tests/test_other_answer.py', 'def test_other(): assert False'),
    ...{ FAIL_TO_PASS: '["test_other"]', PASS_TO_PASS: '[]', hints_text: 'Not expand.' },
  });
}
