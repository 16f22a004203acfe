import type { Instance } from '../../domain/instance';
import { HumanError, Cancelled } from '../../domain/work';
import { makeFolder } from '../../files/wholeFile';
import { bytesOf, textOf } from '../../patch/bytes';
import { makeUnified } from '../../patch/makeUnified';
import { parseUnified } from '../../patch/parseUnified';
import { checkPatchPaths } from '../../patch/unsafePath';
import { git, GitError, withoutPassword, neutralFolder } from '../git';
import { commitAlone, stageAll } from '../git/repositoryOfR';
import type { TreeSource } from '../source';
import { plainEdits, writePlainEdits } from './plainEdits';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rm, writeFile, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** How the golden patch was applied. */
export interface Applied {
  /** The command, as the user would write it. */
  readonly appliedWith: string;
  /**
   * The difference between R and R∘X* as git prints it, if the command was not plain `git apply`.
   * Then the lines in the row's patch are not those that changed.
   */
  readonly golden?: string;
}

export const plainApply = 'git apply';

/** The golden patch does not apply to R, which is a fault of the row and not of the machine. */
export class GoldenPatchUnfit extends HumanError {}

/**
 * Ways to apply a golden patch, the strictest first; each is tried when those before it fail. The
 * reference harness tries `git apply --reject` and then `patch --batch --fuzz=5`, both of which can
 * leave a tree half-patched. Every way here applies the whole patch or nothing.
 *
 * 1. as it is
 * 2. with different white space in the context, as a conversion of line ends leaves it
 * 3. with one matching line of context at either end of a hunk instead of three
 * 4. `patch --fuzz=5`, the harness's last way, which also works without context
 *
 * `--recount` is not among them, since a truncated patch would pass for whole.
 */
const ways: readonly (readonly string[])[] = [[], ['--ignore-whitespace'], ['-C1']];

/**
 * Turns a copy of R into R∘X*, which becomes the only commit of its repository.
 *
 * @returns how, with the object id of the commit's tree
 * @throws HumanError when no way applies the whole patch; the tree is then unusable
 */
export async function applyGolden(
  instance: Instance,
  source: TreeSource,
  tree: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly applied: Applied; readonly tree: string }> {
  const appliedWith = await applyPatchOfRow(tree, instance.goldenPatch, signal).catch(
    (error: unknown) => {
      if (!(error instanceof GitError)) throw error;
      throw new GoldenPatchUnfit(
        `The golden patch of ${instance.id} does not apply to its repository from ${withoutPassword(source.from)} (${error.stderr.trim().split('\n')[0]})`,
        source.kind === 'snapshot'
          ? 'Specify a snapshot closer to the base commit with --source'
          : "Check that the row's patch belongs to its base_commit",
      );
    },
  );
  await stageAll(tree, signal);
  const golden =
    appliedWith === plainApply
      ? undefined
      : await git(
          [
            ...['diff', '--cached', '--no-color', '--no-ext-diff', '--no-textconv', '--no-renames'],
            ...['--binary', 'HEAD'],
          ],
          { cwd: tree, signal },
        );
  const applied = golden === undefined ? { appliedWith } : { appliedWith, golden };
  return { applied, tree: await commitAlone(tree, signal) };
}

/**
 * Applies a patch of a row to a tree in the first of the ways that fits.
 *
 * @returns the command
 * @throws GitError with git's words when none does; the tree is then unusable
 */
export async function applyPatchOfRow(
  tree: string,
  patch: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const plain = await plainEdits(tree, patch);
  if (plain !== undefined) {
    await writePlainEdits(tree, plain);
    return plainApply;
  }
  let why: GitError | undefined;
  for (const way of ways) {
    try {
      await applyToTree(tree, patch, signal, way);
      return [plainApply, ...way].join(' ');
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      why ??= error;
    }
  }
  const fuzzy = await applyFuzzily(tree, patch, signal);
  if (fuzzy !== undefined) return fuzzy;
  throw why ?? new GitError('apply', 'the patch does not apply', undefined);
}

/**
 * Applies a unified diff to the files of a tree with `git apply`. It refuses paths outside the
 * tree, and changes nothing when any part does not fit.
 *
 * @throws GitError with git's words when it does not apply
 */
export async function applyToTree(
  tree: string,
  patch: string,
  signal?: AbortSignal,
  options: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await git(['apply', '--whitespace=nowarn', ...options, '-'], {
    cwd: tree,
    input: patch.endsWith('\n') ? patch : `${patch}\n`,
    signal,
    env,
  });
}

/**
 * Applies a patch with GNU patch, after a dry run in which every hunk must apply. Undefined when
 * one does not, or without a GNU patch that keeps paths inside the tree (2.7 and later do). The tree
 * is unusable then.
 *
 * @param options.whole refuse a damaged patch: GNU patch accepts a truncated hunk as one with less
 *   context
 * @returns the command, as the user would write it
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

/** A patch as a diff that `git apply` takes, and the command that applied it as it was. */
interface PatchOfCopies {
  readonly patch: string;
  readonly appliedWith: string;
}

/**
 * Applies a patch to copies of the files that it names, in a folder without a repository.
 *
 * @param read a file of the tree
 * @param text a patch whose paths stay within the tree
 * @param apply applies it to the copies and returns the command; undefined where it does not apply
 */
export async function applyOnCopies(
  read: (path: string) => Promise<string | undefined>,
  text: string,
  apply: (tree: string) => Promise<string | undefined>,
): Promise<PatchOfCopies | undefined> {
  const { files } = parseUnified(text);
  const paths = [
    ...new Set(files.flatMap(({ oldPath, newPath }) => [oldPath ?? [], newPath ?? []].flat())),
  ];
  const folder = await mkdtemp(join(tmpdir(), 'swt-bench-patch-'));
  const tree = join(folder, 'tree');
  try {
    await makeFolder(tree);
    const before = new Map<string, string | undefined>();
    for (const path of paths) {
      const content = await read(path);
      before.set(path, content);
      if (content === undefined) continue;
      await makeFolder(dirname(join(tree, path)));
      await writeFile(join(tree, path), bytesOf(content));
    }
    const appliedWith = await apply(tree);
    if (appliedWith === undefined) return undefined;
    const edits = paths.map(async (path) => ({
      path,
      before: before.get(path),
      after: await readFile(join(tree, path)).then(textOf, () => undefined),
    }));
    return { patch: makeUnified(await Promise.all(edits)), appliedWith };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
