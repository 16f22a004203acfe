import { dirname, join } from 'node:path';
import type { Side } from '../domain/outcome';
import type { DebuggedProgram } from '../engine/engine';

/** What a debugger needs to know of the instance, besides the program. */
export interface DebuggedSide {
  readonly side: Side;
  /** Folder of the workspace: R with the candidate. */
  readonly workspace: string;
  /** Files that X* changes or adds, relative to the tree. */
  readonly changed: readonly string[];
  /** The pristine tree of R∘X*, where it may be looked at; undefined while X* is hidden. */
  readonly fixed: string | undefined;
  /** Variables of this process, none of which the tests are to have. */
  readonly inherited: readonly string[];
}

/**
 * A launch configuration of the Python Debugger (debugpy) that does what a run does. Files of the
 * sandbox are those of the workspace to it. On R∘X*, files that X* changes are others: they are shown
 * as they are there once they may be looked at, and stepped over until then.
 * https://github.com/microsoft/debugpy/wiki/Debug-configuration-settings
 *
 * @returns the configuration without `name` and `type`
 */
export function debugConfiguration(
  { interpreter, args, cwd, env, tree }: DebuggedProgram,
  { side, workspace, changed, fixed, inherited }: DebuggedSide,
): Record<string, unknown> & { readonly request: 'launch' } {
  const folders = [...new Set(changed.map((path) => dirname(path)))];
  const isOther = side === 'fixed';
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
      // The first that fits is taken.
      ...(isOther && fixed !== undefined
        ? folders.map((folder) => ({
            localRoot: join(fixed, folder),
            remoteRoot: join(tree, folder),
          }))
        : []),
      { localRoot: workspace, remoteRoot: tree },
    ],
    ...(isOther && fixed === undefined
      ? { rules: changed.map((path) => ({ path: join(tree, path), include: false })) }
      : {}),
  };
}

/** `-m NAME …`, `-c CODE …` or `FILE …`, in the words of debugpy. */
function startOf(args: readonly string[]): Record<string, unknown> {
  const [first = '', second = '', ...rest] = args;
  if (first === '-m') return { module: second, args: rest };
  if (first === '-c') return { code: second, args: rest };
  return { program: first, args: args.slice(1) };
}
