import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { throwIfAborted } from '../../domain/work';
import { readTreeFile, treeEntries, type TreeEntry } from '../../repository/treeFiles';
import {
  asciiJson,
  contentTime,
  earliestTime,
  filesInTar,
  tarEnd,
  tarEntry,
} from '../../engine/sandbox';
import { type BuildContainer, foreignUser } from '../../engine/docker';
import { pythonText } from '../../engine/pythonProgram';
import type { CompiledFile, CompiledFiles } from './further/compiledFiles';

interface Laying {
  /** R. */
  readonly tree: string;
  /** Files of the folder that an earlier call has laid there, by path. */
  readonly present: ReadonlyMap<string, TreeEntry>;
  /** Folder of R in the container. */
  readonly folder: string;
  /** Interpreter of the base image. */
  readonly python: string;
  /** Absent where nothing of R needs to be compiled. */
  readonly compiled?: CompiledFiles;
  /** Paths in the container that are removed afterwards. */
  readonly obsolete?: readonly string[];
  /** Purpose, as in "could not …". */
  readonly doing: string;
  readonly signal?: AbortSignal | undefined;
}

/** Folder that files wait in until they are moved to their places. */
const staging = '/tmp/swt-lay';
const packed = '/tmp/swt-compiled.tar';
/** Bytes of compiled files that are taken out of a container. */
const limit = 512 << 20;

/**
 * Makes a folder equal to R, compiled, by sending only what differs. The result is the same
 * whatever was laid there before. What an installation has written into the folder stays, except
 * names of files that R does not have. Call this before anything foreign runs in the container, so that
 * the compiled files come from the compiler alone. Everything in the folder belongs to the user
 * that runs foreign code.
 *
 * @throws HumanError when it cannot be done, Cancelled
 */
export async function syncTree(container: BuildContainer, laying: Laying): Promise<void> {
  const { tree, present, folder, python, compiled, doing, obsolete = [], signal } = laying;
  const remove = async (...paths: string[]): Promise<void> => {
    if (paths.length === 0) return;
    await container.run(['rm', '-f', ...paths], 'remove build files');
  };
  const entries = await treeEntries(tree, signal);
  const plan = planOf(present, entries);
  if (plan.files.length === 0 && plan.remove.length === 0) return remove(...obsolete);
  const kept = (await compiled?.find(plan.sources)) ?? new Map<string, CompiledFile>();
  throwIfAborted(signal);
  const sources = [...plan.sources.keys(), ...plan.links];
  const compile = compiled === undefined ? [] : sources.filter((path) => !kept.has(path));
  const placed = [...kept.values()].filter(({ path }) => isSafe(path, entries));
  await container.put(Readable.from(staged(tree, { ...plan, compile }, placed, signal)));
  const said = await container.run(
    [
      ...[python, '-I', '-S', '-c', pythonText('compile_sources.py', 'sync_tree.py')],
      ...[staging, folder, packed, String(earliestTime)],
    ],
    doing,
    { isForeign: true, env: { HOME: '/tmp' } },
  );
  if (!(Number.parseInt(said.trim().split('\n').at(-1) ?? '', 10) > 0)) return remove(...obsolete);
  const archive = await container.take(packed, limit);
  const keep = async (): Promise<void> =>
    compiled?.keep(
      (await filesInTar(archive)).flatMap(({ path, content }): CompiledFile[] => {
        const source = sourceOf(path);
        const id = source === undefined ? undefined : plan.sources.get(source);
        return source === undefined || id === undefined ? [] : [{ source, id, path, content }];
      }),
    );
  await Promise.all([remove(packed, ...obsolete), keep()]);
}

interface Plan {
  /** Files that are in the folder and must not be, or have another content. */
  readonly remove: readonly string[];
  /** Files to write. */
  readonly files: readonly string[];
  /** Sources whose compiled files are to be made again: object ids by path. */
  readonly sources: ReadonlyMap<string, string>;
  /** Links to sources. Nothing tells whether what they lead to has changed, so they are compiled too. */
  readonly links: readonly string[];
  /** Compiled files that R itself has. */
  readonly own: readonly string[];
  /** Lists of sources that R itself has. */
  readonly lists: readonly string[];
}

function planOf(
  present: ReadonlyMap<string, TreeEntry>,
  wanted: ReadonlyMap<string, TreeEntry>,
): Plan {
  const files = [...wanted].filter(([path, { mode, id }]) => {
    const there = present.get(path);
    return there?.mode !== mode || there.id !== id;
  });
  const written = files.map(([path]) => path);
  return {
    files: written,
    remove: [
      ...[...present.keys()].filter((path) => !wanted.has(path)),
      ...written.filter((path) => present.has(path)),
    ],
    sources: new Map(
      files.flatMap(([path, { mode, id }]) =>
        path.endsWith('.py') && mode !== '120000' ? [[path, id] as const] : [],
      ),
    ),
    links: [...wanted].flatMap(([path, { mode }]) =>
      path.endsWith('.py') && mode === '120000' ? [path] : [],
    ),
    own: [...wanted.keys()].filter((path) => path.endsWith('.pyc')),
    lists: [...wanted.keys()].filter((path) => path.endsWith('.egg-info/SOURCES.txt')),
  };
}

/** Source of a compiled file, `FOLDER/__pycache__/NAME.TAG.pyc`; undefined for other files. */
function sourceOf(compiled: string): string | undefined {
  const [whole, above = '', stem = ''] =
    /^(.*\/)?__pycache__\/([^/]+?)\.[\w-]+\.pyc$/.exec(compiled) ?? [];
  return whole === undefined ? undefined : `${above}${stem}.py`;
}

/** Whether a compiled file can be written. R may have a link, or its own file, in that place. */
const isSafe = (compiled: string, entries: ReadonlyMap<string, TreeEntry>): boolean =>
  !compiled.split('/').includes('..') &&
  !compiled.startsWith('/') &&
  !entries.has(compiled) &&
  !entries.has(posix.dirname(compiled));

/**
 * A file of the staging folder: where it belongs, its mode as in git, and the bytes of what a link
 * leads to, a character each.
 */
type Placing = readonly [path: string, mode: string, seconds: number, target: string | null];

/**
 * The staging folder as a tar that is produced while it is read. Files are named by numbers, since
 * a tar cannot hold all paths; the plan comes last and says where they belong.
 */
async function* staged(
  tree: string,
  plan: Plan & { readonly compile: readonly string[] },
  compiled: readonly CompiledFile[],
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const common = { type: 'File', time: earliestTime, owner: foreignUser, mode: 0o644 } as const;
  const below = (name: string): string => `${staging.slice(1)}/${name}`;
  yield await tarEntry({ ...common, type: 'Directory', path: below(''), mode: 0o755 });
  const places: Placing[] = [];
  for (const path of plan.files) {
    throwIfAborted(signal);
    const file = await readTreeFile(tree, path);
    if (file === undefined) continue;
    const { mode, content } = file;
    const time = contentTime(content);
    const isLink = mode === '120000';
    const entry = { ...common, path: below(String(places.length)), time };
    places.push([path, mode, time, isLink ? content.toString('latin1') : null]);
    if (!isLink)
      yield await tarEntry({ ...entry, mode: mode === '100755' ? 0o755 : 0o644 }, content);
  }
  for (const { path, content } of compiled) {
    const time = contentTime(content);
    yield await tarEntry({ ...common, path: below(String(places.length)), time }, content);
    places.push([path, '100644', time, null]);
  }
  const { remove, compile, links, own, lists } = plan;
  const stale = [...plan.sources.keys(), ...links];
  const text = asciiJson({ remove, stale, own, lists, places, compile });
  yield await tarEntry({ ...common, path: below('plan.json') }, Buffer.from(text));
  yield tarEnd;
}
