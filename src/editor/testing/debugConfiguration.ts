import { chmod, copyFile, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Side } from '../../domain/outcome';
import { functionOf } from '../../domain/testId';
import type { DebuggedProgram } from '../../engine/engine';

/** What a debugger needs to know of the instance, in addition to the program. */
export interface DebuggedSide {
  readonly side: Side;
  /** Folder of the workspace: R with the candidate. */
  readonly workspace: string;
  /** Files that X* changes or adds, relative to the tree. */
  readonly changed: readonly string[];
  /** Copies of these files as they run, see `copyToShow`; undefined while X* is hidden. */
  readonly shown: ShownCopies | undefined;
  /** Names of environment variables of this process, which the tests must not see. */
  readonly inherited: readonly string[];
}

/** Copies of the files that a debugger runs. Folders are relative to the tree and to `root`. */
interface ShownCopies {
  readonly root: string;
  /** Folders whose own files are copied. */
  readonly folders: readonly string[];
  /** Folders directly below these, which are not copied. */
  readonly below: readonly string[];
}

/**
 * A launch configuration of the Python Debugger (debugpy) that does what a run does. It maps files
 * of the sandbox to those of the workspace. On R∘X*, files that X* changes differ: once revealed,
 * it maps them to copies. Until then, and without a copy, the debugger steps over them.
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
    // Null removes a variable.
    env: { ...Object.fromEntries(inherited.map((name) => [name, null])), ...env },
    // A `.env` file of the workspace is for the person's own runs.
    envFile: '',
    console: 'internalConsole',
    internalConsoleOptions: 'neverOpen',
    subProcess: true,
    pathMappings: [
      // The first match wins, so the copied folders come before the whole tree.
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
 * Copies the files of the folders that X* changes to a place where they may be shown. The copies
 * are read-only and temporary, since an edit in a pristine tree would affect later verdicts. A
 * debugger maps only whole folders. Folders with files of the candidate keep their mapping to the
 * workspace; the root would be everything.
 *
 * @param tree the tree that the debugger runs
 * @param changed files that X* changes or adds, relative to the tree
 * @param own files of the candidate, relative to the tree
 * @param root folder to create
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
    // The candidate may have deleted the whole folder.
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
 * Ids to debug for these ids. A case whose name VS Code would substitute is replaced by all cases
 * of its function.
 */
export function idsToDebug(ids: readonly string[]): string[] {
  return [...new Set(ids.map((id) => (isSubstituted(id) ? functionOf(id) : id)))];
}

/**
 * Whether VS Code would substitute a part of a configuration, or run a command for it. Names of
 * cases come from tested code, and no syntax escapes them.
 * https://code.visualstudio.com/docs/reference/variables-reference
 */
export function isSubstituted(configuration: unknown): boolean {
  return JSON.stringify(configuration).includes('${');
}

/** Translates `-m NAME …`, `-c CODE …` or `FILE …` into keys of debugpy. */
function startOf(args: readonly string[]): Record<string, unknown> {
  const [first = '', second = '', ...rest] = args;
  if (first === '-m') return { module: second, args: rest };
  if (first === '-c') return { code: second, args: rest };
  return { program: first, args: args.slice(1) };
}
