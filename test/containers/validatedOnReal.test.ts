import assert from 'node:assert/strict';
import { join } from 'node:path';
import { cli, type Evaluation } from '../commandLine/cli';
import { fakeModels, type FakeModels } from '../commandLine/fakeModels';
import { jsonLinesOf } from '../commandLine/jsonLinesOf';
import { newFileDiff } from '../commandLine/recordedSession';
import { kindOfRequest } from '../commandLine/surrogateScript';
import { sourceRelease } from '../environments';
import { rightDiff, sympyId, sympyRelease } from '../real/agentlessOnSympy';
import { containersOf } from './dockerForTests';
import { onRelease, storageOfSuite } from './realData';

const path = 'sympy/physics/quantum/tests/test_scalars.py';
const tests = (assertion: string): string =>
  newFileDiff(
    path,
    [
      'from sympy.physics.quantum import TensorProduct as TP',
      'from sympy.physics.quantum.operator import Operator',
      '',
      '',
      'def test_scalars_are_expanded():',
      "    A, B = Operator('A'), Operator('B')",
      '    found = TP(2*A + B, A + B).expand(tensorproduct=True)',
      '    wanted = 2*TP(A, A) + 2*TP(A, B) + TP(B, A) + TP(B, B)',
      `    assert ${assertion}`,
    ].join('\n'),
  );
const reproduces = tests('found == wanted');
const passes = tests('found != wanted');
const neverPasses = tests('found == wanted + 1');
/** The right fix with a line below it, without which its hunk would belong at the end of the file. */
const solvingDiff = rightDiff
  .replace('-246,6 +246,7', '-246,7 +246,8')
  .replace(/\n```\n$/, '\n                 break\n```\n');
/** A surrogate fix after which the tests of the issue fail as before. */
const uselessDiff = solvingDiff.replace('Mul(*c_part)*Mul(*nc_part)', 'tp');

describe(`methods that validate what the model writes, on ${sympyId}, in containers @full`, () => {
  const storage = storageOfSuite([sympyId]);
  let server: FakeModels | undefined;
  let where: string[] = [];

  beforeEach(async function () {
    where = onRelease(sympyId, await sourceRelease(this, ...sympyRelease), storage.path);
  });
  afterEach(() => server?.close());

  /** Runs a method, and checks that its choice reproduces the issue. */
  const succeeds = async (method: string, ...more: string[]): Promise<string> => {
    const out = join(storage.path, `${method}.jsonl`);
    const answer = await cli([
      ...['generate', '--method', method, '--out', out, '--model', 'openai-compatible/m'],
      ...['--base-url', server?.url ?? '', '--concurrency', '1', ...where, ...more],
    ]);
    assert.equal(answer.status, 0, answer.stderr);
    const [row] = await jsonLinesOf(out);
    const graded = await cli(['evaluate', '--json', '--predictions', out, ...where]);
    const [result] = (JSON.parse(graded.stdout) as Evaluation).results;
    assert.equal(
      result?.strict?.success,
      true,
      `${String(row?.['why'])}: ${result?.strict?.explanation ?? result?.error}`,
    );
    assert.deepEqual(await containersOf(sympyId), []);
    return String(row?.['why']);
  };

  it('surrogate fixes choose the test that reproduces', async () => {
    const counts = { fix: 0, refinement: 0, tests: 0 };
    server = await fakeModels((asked) => {
      const kind = kindOfRequest(asked);
      const texts = {
        fix: [solvingDiff, uselessDiff],
        refinement: [],
        tests: [neverPasses, reproduces],
      };
      return { text: texts[kind][counts[kind]++] ?? '' };
    });
    const why = await succeeds('surrogate', '--samples', '2', '--fixes', '2', '--rounds', '0');
    assert.match(why, /^passes with 1 of 2 surrogate fixes/);
    assert.deepEqual(counts, { fix: 2, refinement: 0, tests: 2 });
  });

  it('assertflip turns a passing test round, and has it validated', async () => {
    const script = [passes, reproduces, 'The scalar stays inside, as the report says.\nYES'];
    server = await fakeModels(() => ({ text: script.shift() ?? '' }));
    assert.match(await succeeds('assertflip'), /fail on R as the issue says/);
    assert.equal(server.asked.length, 3);
  });
});
