import { quotedForShell } from '../../engine/programs';
import type {
  CommandRequest,
  CommandResult,
  ListeningPort,
  ProgramRequest,
  RunningProgram,
  Workspace,
} from '../../engine/engine';
import { textOf } from '../../patch/bytes';
import { makeUnified, type FileEdit } from '../../patch/makeUnified';
import { type FolderTree, ignoredPaths } from '../../repository/folderTree';
import { patchedFiles } from '../../repository/treeFiles';

/** What was done in a workspace, as a candidate. */
export interface WorkDone {
  /** Unified diff on R, new files included; empty when nothing differs. */
  readonly patch: string;
  /** Paths that the diff does not hold, with the reason. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/** The pristine tree of R on this machine. */
interface Pristine {
  readonly folder: string;
  readonly files: Pick<FolderTree, 'read'>;
}

/** A workspace whose state can be taken as a patch on R, and made again from one. */
export class WorkspaceOnR {
  constructor(
    private readonly workspace: Workspace,
    private readonly pristine: Pristine,
  ) {}

  /** Absolute path of R in the workspace. */
  get folder(): string {
    return this.workspace.folder;
  }

  /** Absolute path of the home of the user that works in it. */
  get home(): string {
    return this.workspace.home;
  }

  run(request: CommandRequest): Promise<CommandResult> {
    return this.workspace.run(request);
  }

  start(request: ProgramRequest): Promise<RunningProgram> {
    return this.workspace.start(request);
  }

  listen(onConnection: Parameters<Workspace['listen']>[0]): Promise<ListeningPort> {
    return this.workspace.listen(onConnection);
  }

  read(path: string, limit?: number): Promise<Buffer> {
    return this.workspace.read(path, limit);
  }

  write(path: string, content: Buffer): Promise<void> {
    return this.workspace.write(path, content);
  }

  /** The difference to R as `git add --all` stages it: without files that git ignores. */
  async done(signal?: AbortSignal): Promise<WorkDone> {
    const { changed, removed, leftOut } = await this.workspace.changes();
    const before = new Map<string, string | undefined>();
    for (const path of [...changed.keys(), ...removed]) {
      before.set(path, await this.pristine.files.read(path));
    }
    const added = [...changed.keys(), ...leftOut.keys()].filter(
      (path) => before.get(path) === undefined,
    );
    const ignored = await ignoredPaths(this.pristine.folder, added, signal);
    const out = new Map([...leftOut].filter(([path]) => !ignored.has(path)));
    const edits: FileEdit[] = [];
    for (const [path, content] of changed) {
      if (ignored.has(path)) continue;
      if (content.includes(0)) out.set(path, 'it is not a text file');
      else edits.push({ path, before: before.get(path), after: textOf(content) });
    }
    for (const path of removed) edits.push({ path, before: before.get(path), after: undefined });
    edits.sort((one, other) => (one.path < other.path ? -1 : 1));
    return { patch: makeUnified(edits), leftOut: out };
  }

  /**
   * Puts R back, makes what a patch of {@link done} says, and begins a shell in its folder.
   *
   * @throws GitError when the patch does not apply to R
   */
  async restore(
    patch: string,
    { cwd }: { readonly cwd: string },
    signal?: AbortSignal,
  ): Promise<void> {
    await this.workspace.reset(signal);
    const removed: string[] = [];
    for (const [path, file] of await patchedFiles(this.pristine.folder, patch, signal)) {
      if (file === undefined) removed.push(path);
      else await this.workspace.write(path, file.content);
    }
    const gone = removed.map((path) => quotedForShell(`${this.folder}/${path}`));
    await this.workspace.run({
      command: `rm -f -- ${gone.join(' ')}; cd ${quotedForShell(cwd)}`,
      timeoutSeconds: 60,
      keptBytes: 1000,
      signal,
    });
  }

  dispose(): Promise<void> {
    return this.workspace.dispose();
  }
}
