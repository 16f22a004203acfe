import { tmpdir } from 'node:os';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { join, posix } from 'node:path';
import type { Side } from '../../domain/outcome';
import type { Limit } from '../../domain/verdict';
import { Cancelled, throwIfAborted } from '../../domain/work';
import { removeForce } from '../../repository/lock';
import {
  blobId,
  patchedFiles,
  readTreeFile,
  treeEntries,
  type TreeEntry,
  type TreeFile,
} from '../../repository/treeFiles';
import { BoundedOutput, outputLimit, streamLimit } from '../programs/boundedOutput';
import type { ExpectedRun, RunRecord, RunRequest, Sandbox } from '../engine';
import type { TestPlan } from '../runners/testPlan';
import { missingPrograms, missingService } from './services';
import { runnerOf } from '../runners/runners';
import { endings, signalName, type Ending } from '../programs/process';
import { emptyTrace, readTrace, type ExecutionTrace } from '../tracer/readTrace';
import { newRecordKey, type RecordKey } from '../tracer/recordKey';
import { Agent, type AgentParts } from './agent';
import { contentTime, filesOfTar, tarOf } from './archive';
import { servicesInSandbox } from './sandboxServices';
import type { SandboxRepository } from './sandboxRepository';
import { asciiJson } from './agentProtocol';
import { loadingTime, WarmStart, warmKeyOf } from './warmStart';

/** What a sandbox must know of its image. */
export interface SandboxImage {
  /** Folder of the repository. */
  readonly folder: string;
  /** Interpreter with the dependencies of the repository. */
  readonly python: string;
  /** Number of the user of the tests. */
  readonly user: number;
  /** The command that installs the repository again, where it can be. */
  readonly install?: readonly string[];
}

/** A container with its agent, ready for one tree. */
interface SandboxParts extends AgentParts {
  /** The pristine tree on this machine. */
  readonly tree: string;
  /** The pristine tree of the other side, or the same tree where there is no other side. */
  readonly other: string;
  readonly image: SandboxImage;
  /** Bytes that tests may write. */
  readonly diskBytes: number;
  /** Waits until there is memory for a run. The returned function releases it. */
  readonly admit: (signal: AbortSignal | undefined) => Promise<() => void>;
  /** Whether a run may begin in an interpreter that waits for it; never by default. */
  readonly mayStartAhead?: ((plan: TestPlan) => boolean) | undefined;
  /** Seconds from which on loading R ahead of a run is worth it. */
  readonly warmFrom?: number | undefined;
}

/**
 * Files that the repository is built from. When one of them changes, the repository has to be
 * installed again.
 */
const builds =
  /(^|\/)(setup\.(py|cfg)|pyproject\.toml|meson\.build|MANIFEST\.in)$|\.(pyx|pxd|pxi|c|cc|cpp|h|hpp|f|f90|src)(\.(in|tp))?$/;

/**
 * Files that have to be built again after a change of `changed`. Not every build system knows which
 * sources include a header, so a change of one counts for all of them. ccache finds those that are
 * the same nevertheless.
 *
 * @param all files of R
 */
function builtFrom(changed: readonly string[], all: Iterable<string>): string[] {
  const includes = changed.some((path) => /\.(pxd|pxi|h|hpp)(\.(in|tp))?$/.test(path));
  const units = includes ? [...all].filter((path) => /\.(pyx|c|cc|cpp|f|f90)$/.test(path)) : [];
  return [...new Set([...changed, ...units])];
}

/**
 * Opens a sandbox on a container whose agent is ready, and makes its tree equal to the one here.
 *
 * @param repository makes the repository that the tests see
 * @throws SandboxUnusable, Cancelled
 */
export async function openSandbox(
  parts: SandboxParts,
  repository: () => Promise<SandboxRepository>,
  signal?: AbortSignal,
): Promise<ContainerSandbox> {
  const sandbox = new ContainerSandbox(parts, await treeEntries(parts.tree, signal));
  await sandbox.synchronise(repository, signal);
  return sandbox;
}

export class ContainerSandbox implements Sandbox {
  readonly side: Side;
  /**
   * Object id and mode of each file in the sandbox that differs from the tree; null for a removed
   * file.
   */
  private readonly loaded = new Map<string, TreeEntry | null>();
  /** Paths that tests changed and that have to be written again. */
  private altered: readonly string[] = [];
  /** Pending while the agent looks at what the last run did to the tree. */
  private settling: Promise<void> | undefined;
  /** The files that a patch changes, kept for further runs with the same patch. */
  private patched: { readonly patch: string; readonly files: PatchedFiles } | undefined;
  /** The files of the candidate that the repository was last installed with; undefined for none. */
  private builtWith: string | undefined;
  /** The patch whose tests ran as root, where the image allows no other user. */
  private ranAsRoot: string | undefined;
  /** Paths that differ between R and R∘X*. */
  private ofGolden: ReadonlySet<string> = new Set();
  /** Changed files that require a new build, which this image cannot make. */
  private readonly unbuilt = new Set<string>();
  private readonly warm: WarmStart<undefined>;
  /** Also asked by the workspace in this sandbox. */
  readonly agent: Agent;

  constructor(
    private readonly parts: SandboxParts,
    private readonly entries: ReadonlyMap<string, TreeEntry>,
  ) {
    this.side = parts.side;
    this.agent = new Agent(parts);
    this.warm = new WarmStart(parts.warmFrom);
  }

  /**
   * Makes the tree in the sandbox equal to the one here, by object ids. Files that are only here,
   * or differ, are written. Files that are only in the sandbox came with the image and stay. What
   * X* changes is written and installed on both sides. The folders of what X* adds or removes are
   * touched on both sides, so that neither times nor link counts tell the sides apart.
   */
  async synchronise(
    repository: () => Promise<SandboxRepository>,
    signal?: AbortSignal,
  ): Promise<void> {
    throwIfAborted(signal);
    const { tree, other } = this.parts;
    const { payload } = await this.agent.ask({ kind: 'digests' });
    const there = JSON.parse(payload.toString('utf8')) as Record<string, [string, string]>;
    const beyond = other === tree ? this.entries : await treeEntries(other, signal);
    const byGolden = [...new Set([...beyond.keys(), ...this.entries.keys()])].filter((path) => {
      const [one, two] = [beyond.get(path), this.entries.get(path)];
      return one?.id !== two?.id || one?.mode !== two?.mode;
    });
    this.ofGolden = new Set(byGolden);
    const differing = [...this.entries].flatMap(([path, { mode, id }]) =>
      there[path]?.[0] === mode && there[path][1] === id ? [] : [path],
    );
    const written = [...new Set([...differing, ...byGolden])].filter((path) =>
      this.entries.has(path),
    );
    const removed = byGolden.filter((path) => !this.entries.has(path) && path in there);
    await this.write(written.sort(), removed, byGolden);
    // The image has R installed, so only what X* changes is installed again.
    const built = byGolden.filter((path) => builds.test(path));
    if (built.length > 0) await this.install(signal, built);
    const { archive, idBytes } = await repository();
    await this.agent.ask({ kind: 'repository', idBytes }, archive);
  }

  async load(patch: string, signal?: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    const wanted = await this.filesWith(patch, signal);
    await this.settle(signal);
    this.agent.mustBeThere();
    if (this.builtWith !== undefined && !this.isBuiltWith(wanted)) {
      // The candidate's set-up program ran as root, so its effects cannot be undone.
      throw this.agent.unusable('it had a candidate that changes how the repository is built');
    }
    if (this.ranAsRoot !== undefined && this.ranAsRoot !== patch) {
      // As root, the tests may have changed the interpreter, the agent, and what these report.
      throw this.agent.unusable(
        "its image runs tests as root, and it ran another candidate's tests",
      );
    }
    const files = new Map<string, TreeFile>();
    const removed: string[] = [];
    const loaded = new Map<string, TreeEntry | null>();
    const set = (path: string, file: TreeFile | undefined): void => {
      if (file === undefined) removed.push(path);
      else files.set(path, file);
    };
    const altered = new Set(this.altered);
    for (const [path, file] of wanted) {
      const entry = entryOf(file);
      loaded.set(path, entry);
      const before = this.loaded.get(path);
      const isThere =
        entry === null ? before === null : before?.id === entry.id && before.mode === entry.mode;
      if (!isThere || altered.has(path)) set(path, file);
    }
    for (const path of new Set([...this.loaded.keys(), ...altered])) {
      if (wanted.has(path)) continue;
      if (!this.entries.has(path) && !this.loaded.has(path)) {
        throw this.agent.unusable(`the tests changed ${path}, which exists only in the image`);
      }
      set(path, await readTreeFile(this.parts.tree, path));
    }
    throwIfAborted(signal);
    if (files.size > 0 || removed.length > 0) await this.send(files, removed);
    this.warm.candidateEdits(wanted.keys());
    this.altered = [];
    this.loaded.clear();
    for (const [path, entry] of loaded) this.loaded.set(path, entry);
    const built = [...loaded].filter(([path]) => builds.test(path));
    const builtWith = built.length === 0 ? undefined : JSON.stringify(built);
    if (builtWith !== undefined && builtWith !== this.builtWith) {
      // Set before the installation, because a failed one leaves the sandbox in an unknown state.
      this.builtWith = builtWith;
      await this.install(
        signal,
        built.map(([path]) => path),
      );
    }
    throwIfAborted(signal);
  }

  private async filesWith(patch: string, signal?: AbortSignal): Promise<PatchedFiles> {
    if (this.patched?.patch !== patch) {
      this.patched = { patch, files: await patchedFiles(this.parts.tree, patch, signal) };
    }
    return this.patched.files;
  }

  /** Waits until the agent has reported what the last run did to the tree. */
  private async settle(signal?: AbortSignal): Promise<void> {
    const { settling } = this;
    if (settling === undefined) return;
    let stop: (() => void) | undefined;
    const aborted = new Promise<void>((resolve) => {
      stop = resolve;
      signal?.addEventListener('abort', stop, { once: true });
    });
    try {
      await Promise.race([settling, aborted]);
    } finally {
      if (stop !== undefined) signal?.removeEventListener('abort', stop);
    }
    throwIfAborted(signal);
    this.settling = undefined;
  }

  private async learnAltered(): Promise<void> {
    const { altered, spoiled } = await this.agent.settled();
    this.altered = [...new Set([...this.altered, ...altered])];
    // The outcomes so far are valid; the next candidate gets another sandbox.
    if (spoiled !== undefined) this.agent.close(spoiled);
  }

  /** Whether the repository was last built with these files. */
  private isBuiltWith(wanted: ReadonlyMap<string, TreeFile | undefined>): boolean {
    const built = [...wanted].filter(([path]) => builds.test(path));
    const entries = built.map(([path, file]) => [path, entryOf(file)]);
    return JSON.stringify(entries) === this.builtWith;
  }

  /**
   * Writes files of the tree.
   *
   * @param settle paths whose folders are touched as well, even if nothing is written there
   */
  private async write(
    paths: readonly string[],
    removed: readonly string[],
    settle: readonly string[],
  ): Promise<void> {
    const files = new Map<string, TreeFile>();
    for (const path of paths) {
      const file = await readTreeFile(this.parts.tree, path);
      if (file !== undefined) files.set(path, file);
    }
    if (files.size > 0 || removed.length > 0 || settle.length > 0) {
      await this.send(files, removed, settle);
    }
  }

  private async send(
    files: ReadonlyMap<string, TreeFile>,
    removed: readonly string[],
    settle: readonly string[] = [],
  ): Promise<void> {
    const list = [...files];
    const content = await tarOf(
      list.map(([path, file], index) => ({
        path: String(index),
        content: file.content,
        // A time derived from the content would differ between the sides. One time for several
        // contents is safe, since the agent removes the compiled files of each source that it
        // writes.
        ...(this.ofGolden.has(path) && { time: contentTime(Buffer.from(path)) }),
      })),
    );
    const header = {
      kind: 'write',
      remove: removed,
      files: list.map(([path, file]) => [path, file.mode]),
      settle,
    };
    await this.agent.ask(header, content);
  }

  /** Installs the repository in its present state, without a network. */
  private async install(
    signal: AbortSignal | undefined,
    because: readonly string[],
  ): Promise<void> {
    const { install } = this.parts.image;
    if (install === undefined) {
      // A pure Python project that is found by its path needs no build.
      for (const path of because) if (!/\.(py|cfg|toml|in)$/.test(path)) this.unbuilt.add(path);
      return;
    }
    const output = new BoundedOutput();
    const { header } = await this.agent.untilDone(
      {
        kind: 'install',
        argv: install,
        bin: this.bin,
        cwd: '.',
        env: {},
        seconds: 1800,
        disk: this.parts.diskBytes,
        changed: builtFrom(because, this.entries.keys()),
      },
      { signal, onOutput: (data) => output.add(data) },
    );
    throwIfAborted(signal);
    if (header.ending !== 'exited' || header.exit !== 0) {
      const last = output.text().trim().split('\n').slice(-3).join(' ').slice(-300);
      throw this.agent.unusable(`the repository could not be reinstalled (${last})`);
    }
  }

  async run(request: RunRequest): Promise<RunRecord> {
    const { signal } = request;
    const { image } = this.parts;
    if (signal?.aborted === true) return unstarted('cancelled');
    let release: () => void;
    try {
      release = await this.admitted(signal);
    } catch (error) {
      if (error instanceof Cancelled) return unstarted('cancelled');
      throw error;
    }
    try {
      if (image.user === 0) this.ranAsRoot = this.patched?.patch ?? '';
      const output = new BoundedOutput();
      const key = newRecordKey();
      const taken =
        request.isPreliminary === true ? await this.warm.take(warmKeyOf(request, '')) : undefined;
      if (request.isPreliminary !== true) await this.warm.discard();
      const isLoaded = taken !== undefined && 'process' in taken;
      const { header, payload } = await this.ran(request, key, { output, isLoaded });
      if (this.agent.isThere) {
        this.settling = this.learnAltered();
        // The next caller of `load` gets the error.
        this.settling.catch(() => undefined);
      }
      // Where the agent was lost, there are no records to contradict each other.
      const isLost = payload.length === 0 && !this.agent.isThere;
      const trace = isLost ? emptyTrace() : await traceOfRun(payload, key);
      const why = taken !== undefined && 'why' in taken ? taken.why : trace.warm?.why;
      return {
        ...(why !== undefined && { whyFresh: why }),
        ending: brokeAtLimit(trace, header) ?? endingOf(header.ending),
        exitCode: header.exit ?? undefined,
        killedBy: typeof header.signal === 'number' ? signalName(header.signal) : undefined,
        startError: header.why,
        log: output.text(),
        seconds: header.seconds ?? 0,
        trace,
        folders: [image.folder],
        remarks: [
          ...(header.remarks ?? []),
          ...missingPrograms(header.missing ?? [], output.text()),
          ...[...this.unbuilt].map((path) => `${path} changed, but this image cannot rebuild it`),
        ],
      };
    } finally {
      release();
    }
  }

  /** Loads R for a preliminary run. @returns why that run begins in a fresh process nevertheless */
  async expect(request: ExpectedRun): Promise<string | undefined> {
    const { plan, signal } = request;
    const { beforeR } = runnerOf(plan.runner);
    await this.warm.discard();
    if (beforeR === undefined || !this.mayWait(request)) {
      return `${plan.runner} prepares R in its own way, or needs services`;
    }
    if (this.builtWith !== undefined) return 'the candidate changes how R is built';
    // Nothing of a candidate may be there while R is loaded.
    await this.load('', signal);
    const tests = { tests: Object.fromEntries(request.texts), environment: beforeR };
    const { header } = await this.agent.untilDone(
      { ...this.programOf(request), kind: 'expect', loads: loadingTime },
      { signal, payload: Buffer.from(asciiJson({ ...this.configurationOf(request), ...tests })) },
    );
    throwIfAborted(signal);
    if (header.why !== undefined) return header.why;
    const end = (): Promise<void> => Promise.resolve(); // the agent does, at the next request
    const key = warmKeyOf(request, '');
    return this.warm.keep({ key, process: undefined, end }, header.seconds ?? 0);
  }

  /** Whether the user waits for its runs, so that each is prepared before it is asked for. */
  get isAwaited(): boolean {
    return this.parts.mayStartAhead !== undefined;
  }

  private mayWait({ plan, hashSeed = 0 }: Pick<RunRequest, 'plan' | 'hashSeed'>): boolean {
    const { image, mayStartAhead } = this.parts;
    return image.user !== 0 && hashSeed === 0 && mayStartAhead?.(plan) === true;
  }

  /** The program of a run, for the agent. */
  private programOf({ plan, hashSeed = 0 }: Pick<RunRequest, 'plan' | 'hashSeed'>) {
    const services = servicesInSandbox(plan.services ?? []);
    return {
      argv: [this.parts.image.python, ...plan.args],
      bin: this.bin,
      cwd: plan.cwd,
      env: { ...this.environment(hashSeed), ...services.env, ...plan.env },
      disk: this.parts.diskBytes,
    };
  }

  /** The parameters of a run for the tracer. */
  private readonly configurationOf = ({
    plan,
    countLines,
  }: Pick<RunRequest, 'plan' | 'countLines'>) => ({
    format: 2,
    root: this.parts.image.folder,
    files: Object.fromEntries(countLines),
    relay: runnerOf(plan.runner).isRelay === true,
    outcomes: true,
  });

  /** Lets the agent run the tests, and passes on what they print, up to the limits. */
  private ran(
    request: RunRequest,
    key: ReturnType<typeof newRecordKey>,
    { output, isLoaded }: { readonly output: BoundedOutput; readonly isLoaded: boolean },
  ): ReturnType<Agent['untilDone']> {
    const { plan, signal } = request;
    const services = servicesInSandbox(plan.services ?? []);
    const decoder = new StringDecoder('utf8');
    let streamed = 0;
    return this.agent.untilDone(
      {
        ...this.programOf(request),
        kind: 'run',
        programs: plan.programs ?? [],
        services: services.started.map((each) => ({
          ...each,
          missing: missingService(each.name),
        })),
        // Takes effect only when this process is gone and cannot stop the run.
        seconds: request.timeoutSeconds + 30,
        key: key.content.toString('hex'),
        isAwaited: this.mayWait(request),
        isLoaded,
        tests: plan.files,
      },
      {
        signal,
        seconds: request.timeoutSeconds,
        payload: Buffer.from(asciiJson(this.configurationOf(request))),
        onOutput: (data, stop) => {
          output.add(data);
          if (request.onOutput !== undefined && streamed < streamLimit) {
            streamed += data.length;
            const text = decoder.write(data);
            if (text !== '') request.onOutput(text);
          }
          if (output.bytes > outputLimit) stop('too much output');
        },
      },
    );
  }

  /**
   * Waits until the tree is put back and there is memory for a run.
   *
   * @returns gives the memory back
   * @throws SandboxUnusable, Cancelled
   */
  async admitted(signal: AbortSignal | undefined): Promise<() => void> {
    await this.settle(signal);
    this.agent.mustBeThere();
    return this.parts.admit(signal);
  }

  /**
   * Ends all that runs and puts R back.
   *
   * @throws SandboxUnusable when that is impossible, Cancelled
   */
  async reset(signal?: AbortSignal): Promise<void> {
    await this.settle(signal);
    await this.agent.ask({ kind: 'reset' });
    this.settling = this.learnAltered();
    await this.load('', signal);
  }

  /** Absolute path of the tree in the container. */
  get folder(): string {
    return this.parts.image.folder;
  }

  /** Path of the interpreter of the tests. */
  get python(): string {
    return this.parts.image.python;
  }

  /** Bytes that tests may write. */
  get diskBytes(): number {
    return this.parts.diskBytes;
  }

  /** What a shell in the tree needs to find the interpreter and the modules of R. */
  shellEnvironment(): { readonly bin: string; readonly env: Readonly<Record<string, string>> } {
    const env = { ...this.environment(0), PYTHONPATH: this.modulePaths().join(':') };
    return { bin: this.bin, env };
  }

  /** Marks the sandbox as gone, for a reason in words. */
  close(why: string): void {
    this.agent.close(why);
  }

  private environment(hashSeed: number): Record<string, string> {
    return {
      PYTHONPATH: [tracerFolder, ...this.modulePaths()].join(':'),
      PYTHONHASHSEED: String(hashSeed),
      PYTHONIOENCODING: 'utf-8',
      PYTHONUNBUFFERED: '1',
      LANG: 'C.UTF-8',
    };
  }

  /** Folders of the tree that modules are imported from. */
  private modulePaths(): string[] {
    const { folder } = this.parts.image;
    const src = [...this.entries.keys()].some((path) => path.startsWith('src/'));
    return [...(src ? [`${folder}/src`] : []), folder];
  }

  /**
   * Folder of the interpreter, which comes first on the path of programs. Empty when the
   * interpreter is found on that path.
   */
  private get bin(): string {
    const { python } = this.parts.image;
    return python.includes('/') ? posix.dirname(python) : '';
  }
}

/** Folder of the tracer in a container. */
export const tracerFolder = '/swt/tracer';

type PatchedFiles = Awaited<ReturnType<typeof patchedFiles>>;

const entryOf = (file: TreeFile | undefined): TreeEntry | null =>
  file === undefined ? null : { mode: file.mode, id: blobId(file.content) };

const endingOf = (word: string | undefined): Ending =>
  endings.find((ending) => ending === word) ?? 'not started';

/**
 * The limit that made a run break off although its first process ended on its own: a part of it was
 * killed or could not be started, and one of its tests never ended.
 */
const brokeAtLimit = (
  { unfinished }: ExecutionTrace,
  {
    ending,
    limit,
  }: { readonly ending?: string | undefined; readonly limit?: Limit | null | undefined },
): Limit | undefined =>
  ending === 'exited' && unfinished.length > 0 ? (limit ?? undefined) : undefined;

const unstarted = (ending: Ending): RunRecord => ({
  ending,
  exitCode: undefined,
  killedBy: undefined,
  startError: undefined,
  log: '',
  seconds: 0,
  trace: emptyTrace(),
});

async function traceOfRun(tar: Buffer, key: RecordKey): Promise<RunRecord['trace']> {
  const files = tar.length === 0 ? new Map<string, Buffer>() : await filesOfTar(tar);
  const folder = await mkdtemp(join(tmpdir(), 'swt-bench-trace-'));
  try {
    // One file after the other, since a run may have had thousands of processes.
    for (const [name, content] of files) await writeFile(join(folder, name), content);
    return await readTrace(folder, key);
  } finally {
    await removeForce(folder);
  }
}
