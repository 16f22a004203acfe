import { chmod, copyFile, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { functionOf, type Side } from '../../domain/outcome';
import type { DebuggedProgram } from '../../engine/engine';

/** What a debugger needs to know of the instance, besides the program. */
export interface DebuggedSide {
  readonly side: Side;
  /** Folder of the workspace: R with the candidate. */
  readonly workspace: string;
  /** Files that X* changes or adds, relative to the tree. */
  readonly changed: readonly string[];
  /** Copies of these files as they are run, see `copyToShow`; undefined while X* is hidden. */
  readonly shown: ShownCopies | undefined;
  /** Variables of this process, none of which the tests are to have. */
  readonly inherited: readonly string[];
}

/** Copies of what a debugger runs. Folders are relative to the tree and to `root`. */
export interface ShownCopies {
  readonly root: string;
  /** Folders whose own files are there. */
  readonly folders: readonly string[];
  /** Folders directly below these, which are not there. */
  readonly below: readonly string[];
}

/**
 * A launch configuration of the Python Debugger (debugpy) that does what a run does. Files of the
 * sandbox are those of the workspace to it. On R∘X*, files that X* changes are others: copies of them are
 * shown once they may be looked at, and they are stepped over until then, or where there is no copy.
 * https://github.com/microsoft/debugpy/wiki/Debug-configuration-settings
 *
 * @returns the configuration without `name` and `type`
 */
export function debugConfiguration(
  { interpreter, args, cwd, env, tree }: DebuggedProgram,
  { side, workspace, changed, shown, inherited }: DebuggedSide,
): Record<string, unknown> & { readonly request: 'launch' } {
  const isOther = side === 'fixed';
  const special = [
    ...(shown?.folders ?? []).map((folder) => [folder, shown?.root ?? ''] as const),
    ...(shown?.below ?? []).map((folder) => [folder, workspace] as const),
  ].sort(([a], [b]) => b.length - a.length);
  const over = isOther ? changed.filter((path) => !shown?.folders.includes(dirname(path))) : [];
  return {
    request: 'launch',
    python: interpreter,
    ...startOf(args),
    cwd,
    // Null takes a variable away.
    env: { ...Object.fromEntries(inherited.map((name) => [name, null])), ...env },
    // A file of variables in the workspace is for what the person runs there.
    envFile: '',
    console: 'internalConsole',
    internalConsoleOptions: 'neverOpen',
    subProcess: true,
    pathMappings: [
      // The first that fits is taken. That of a file would come after that of the whole tree.
      ...special.map(([folder, local]) => ({
        localRoot: join(local, folder),
        remoteRoot: join(tree, folder),
      })),
      { localRoot: workspace, remoteRoot: tree },
    ],
    ...(over.length > 0
      ? { rules: over.map((path) => ({ path: join(tree, path), include: false })) }
      : {}),
  };
}

/**
 * Copies the files of the folders that X* changes to where they may be shown. Read-only and thrown
 * away: an edit in a pristine tree would get into later verdicts. A debugger maps whole folders only:
 * those of the candidate stay what they are in the workspace, and the root is everything.
 *
 * @param tree what the debugger runs
 * @param changed files that X* changes or adds, relative to the tree
 * @param own files of the candidate, relative to the tree
 * @param root folder to be made
 */
export async function copyToShow(
  tree: string,
  changed: readonly string[],
  own: readonly string[],
  root: string,
): Promise<ShownCopies> {
  const kept = new Set(['.', ...own.map((path) => dirname(path))]);
  const folders = [...new Set(changed.map((path) => dirname(path)))].filter(
    (folder) => !kept.has(folder),
  );
  const below: string[] = [];
  for (const folder of folders) {
    await mkdir(join(root, folder), { recursive: true });
    // The candidate may have deleted all of it.
    const entries = await readdir(join(tree, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !folders.includes(path)) below.push(path);
      if (!entry.isFile()) continue;
      await copyFile(join(tree, path), join(root, path));
      await chmod(join(root, path), 0o444);
    }
  }
  return { root, folders, below };
}

/**
 * Ids of what is debugged for these ids: a case whose name would be substituted is debugged with all
 * the cases of its function.
 */
export function idsToDebug(ids: readonly string[]): string[] {
  return [...new Set(ids.map((id) => (isSubstituted(id) ? functionOf(id) : id)))];
}

/**
 * Whether VS Code would put something else in place of a part of a configuration, or run a command for
 * it. Names of cases come from tested code, and there is no way to write them otherwise.
 * https://code.visualstudio.com/docs/reference/variables-reference
 */
export function isSubstituted(configuration: unknown): boolean {
  return JSON.stringify(configuration).includes('${');
}

/** `-m NAME …`, `-c CODE …` or `FILE …`, in the words of debugpy. */
function startOf(args: readonly string[]): Record<string, unknown> {
  const [first = '', second = '', ...rest] = args;
  if (first === '-m') return { module: second, args: rest };
  if (first === '-c') return { code: second, args: rest };
  return { program: first, args: args.slice(1) };
}
