import assert from 'node:assert/strict';
import { findingsInCode } from '../../../../src/evaluation/findings/findings';
import type { PythonParser } from '../../../../src/python/parser';
import { goldenRows } from '../../patch/goldenRows';
import { loadParser } from '../../python/loadParser';

/** Packages of the repositories of the rows. */
const packages =
  /^(src\/|lib\/)?(django|sympy|matplotlib|sklearn|_?pytest|sphinx|requests|xarray|astropy|seaborn|flask|pylint)\/__init__\.py$/;

describe('golden tests as candidates', function () {
  let python: PythonParser;
  before(async () => {
    python = await loadParser();
  });
  after(() => python.dispose());

  it('have no finding in their code', async function () {
    const rows = goldenRows(python);
    if (rows === undefined) return this.skip();
    const flagged: string[] = [];
    for (const { id, text, before } of rows) {
      const readFileOfR = async (path: string): Promise<string | undefined> =>
        before.get(path) ?? (packages.test(path) ? '' : undefined);
      for (const { kind, evidence } of await findingsInCode({ python, readFileOfR }, text)) {
        flagged.push(...evidence.map((each) => `${id}: ${kind}: ${each}`));
      }
    }
    assert.deepEqual(flagged, []);
  });
});
