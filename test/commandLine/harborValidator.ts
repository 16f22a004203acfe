import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Trajectory } from '../../src/trajectory/trajectory';
import { environment } from '../environments';
import { cli } from './cli';

const run = promisify(execFile);

/** The interpreter of an environment with Harbor. Skips the test where Harbor cannot be had. */
export const harborPython = async (test: Mocha.Context): Promise<string> =>
  join(await environment(test, newPython(), ['harbor==0.25.0']), 'bin', 'python');

/** Harbor needs Python 3.12; `python3` may be older than one of pyenv. */
function newPython(): string {
  const versions = join(process.env['PYENV_ROOT'] ?? join(homedir(), '.pyenv'), 'versions');
  const [found] = existsSync(versions)
    ? readdirSync(versions).filter((name) => /^3\.(?:1[2-9]|[2-9]\d)\./.test(name))
    : [];
  return found === undefined ? 'python3' : join(versions, found, 'bin', 'python');
}

/** The trajectories of a file or folder, which has no problem. */
export async function trajectoriesIn(path: string): Promise<Trajectory[]> {
  const { stdout, stderr } = await cli(['trajectory', path, '--json']);
  const { trajectories } = JSON.parse(stdout) as {
    readonly trajectories: readonly { readonly trajectory: Trajectory }[];
  };
  assert.equal(stderr, '');
  return trajectories.map(({ trajectory }) => trajectory);
}

/**
 * Writes the one trajectory of a file as ATIF beside it: Harbor's own validator accepts the document,
 * and it reads back equal.
 *
 * @param python of {@link harborPython}
 */
export async function assertAtif(python: string, file: string): Promise<void> {
  const document = `${file}.atif.json`;
  const written = await cli(['trajectory', file, '--format', 'atif', '--out', document]);
  assert.equal(written.status, 0, written.stderr);
  const check = ['-m', 'harbor.utils.trajectory_validator', document];
  assert.match((await run(python, check)).stdout, /Trajectory is valid/, file);
  const read = await trajectoriesIn(document);
  assert.deepEqual(read, await trajectoriesIn(file), file);
  assert.ok((read[0]?.steps.length ?? 0) > 0, file);
}
