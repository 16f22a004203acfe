import { posix } from 'node:path';
import {
  WorkspaceFileError,
  type CommandResult,
  type Workspace,
} from '../../../../src/engine/sandbox/workspace';
import { WorkspaceOnR } from '../../../../src/method/agents/workspaceOnR';

export const folder = '/testbed';

/**
 * A workspace in memory whose shell is a function: for agents' own commands, parsers and histories. Real
 * shells are in test/containers.
 */
export function madeUpWorkspace(
  files: Readonly<Record<string, string>>,
  shell: (command: string) => Partial<CommandResult> = () => ({}),
): { readonly workspace: WorkspaceOnR; readonly contents: Map<string, string> } {
  const contents = new Map(
    Object.entries(files).map(([path, text]) => [posix.join(folder, path), text]),
  );
  const workspace: Workspace = {
    folder,
    home: '/home/sandbox',
    run: ({ command }) =>
      Promise.resolve({
        ending: 'exited',
        exitCode: 0,
        output: '',
        cwd: folder,
        remarks: [],
        ...shell(command),
      }),
    start: () => Promise.reject(new Error('no program runs here')),
    listen: () => Promise.reject(new Error('no port is here')),
    read: (path) => {
      const text = contents.get(posix.resolve(folder, path));
      return text === undefined
        ? Promise.reject(new WorkspaceFileError(`${path} cannot be read: No such file`, 'Look'))
        : Promise.resolve(Buffer.from(text));
    },
    write: (path, content) => {
      contents.set(posix.resolve(folder, path), content.toString());
      return Promise.resolve();
    },
    changes: () => Promise.resolve({ changed: new Map(), removed: [], leftOut: new Map() }),
    reset: () => Promise.resolve(),
    dispose: () => Promise.resolve(),
  };
  const pristine = { folder, files: { read: () => Promise.resolve(undefined) } };
  return { workspace: new WorkspaceOnR(workspace, pristine), contents };
}
