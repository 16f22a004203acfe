import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Cancelled } from '../../domain/humanError';
import { bytesOf } from '../../patch/bytes';
import { parseUnified } from '../../patch/unified/parseUnified';
import { checkPatchPaths } from '../../patch/unsafePath';
import { neutralFolder } from './git';

/**
 * Applies a patch with GNU patch, after a dry run in which every hunk must apply. Undefined when
 * one does not, or without a GNU patch that keeps paths inside the tree (2.7 and later do). The tree
 * is unusable then.
 *
 * @param options.whole refuse a damaged patch: GNU patch accepts a truncated hunk as one with less
 *   context
 * @returns the command, as a person would write it
 */
export async function applyFuzzily(
  tree: string,
  patch: string,
  signal: AbortSignal | undefined,
  { whole = true }: { readonly whole?: boolean } = {},
): Promise<string | undefined> {
  const parsed = parseUnified(patch);
  const { problems } = parsed;
  if (checkPatchPaths(parsed).length > 0) return undefined;
  if (whole && problems.some((each) => each.severity === 'error')) return undefined;
  const version = await runPatch(['--version'], tree, signal);
  if (!/^GNU patch (2\.([7-9]|\d\d)|[3-9])/.test(version?.text ?? '')) return undefined;
  const file = join(dirname(tree), `golden.${randomUUID()}.patch`);
  // Never reversed, and never as an ed script, which runs commands. No .orig and .rej files remain.
  const options = [
    ...['--unified', '--force', '--forward', '--fuzz=5', '-p1'],
    // Without it, patch takes off carriage returns, as it does for SWE-bench.
    ...(whole ? ['--binary'] : []),
    ...['--no-backup-if-mismatch', '--reject-file=-', '--silent', '-i', file],
  ];
  try {
    await writeFile(file, bytesOf(patch.endsWith('\n') ? patch : `${patch}\n`));
    const trial = await runPatch(['--dry-run', ...options], tree, signal);
    if (trial?.status !== 0 || /ignor|skipp|reversed/i.test(trial.text)) return undefined;
    // The trial takes each part for itself, so that a part that is there twice fails only now.
    const real = await runPatch(options, tree, signal);
    return real?.status === 0 ? 'patch --fuzz=5 -p1' : undefined;
  } finally {
    await rm(file, { force: true });
  }
}

/** Undefined when patch cannot be run. */
function runPatch(
  args: readonly string[],
  tree: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly status: number; readonly text: string } | undefined> {
  const { PATH } = process.env;
  return new Promise((done, fail) => {
    execFile(
      'patch',
      ['--directory', tree, ...args],
      // Leaves out POSIXLY_CORRECT, PATCH_GET and similar variables, which change how patch works.
      { cwd: neutralFolder, signal, env: { ...(PATH === undefined ? {} : { PATH }), LC_ALL: 'C' } },
      (error, stdout, stderr) => {
        if (signal?.aborted === true) return fail(new Cancelled());
        if (error === null) return done({ status: 0, text: stdout + stderr });
        const { code } = error;
        done(typeof code === 'number' ? { status: code, text: stdout + stderr } : undefined);
      },
    );
  });
}
