import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { messageOf } from '../../domain/work';
import { readPlainText } from '../../files/plainFile';
import { atifSchema, parseAtif, type AtifDocument } from './atifShape';
import type { AtifTree } from './readAtif';

interface Options {
  readonly signal?: AbortSignal | undefined;
  readonly told: (problem: string) => void;
}

/** Documents that one trajectory is put together from; an agent has some ten. */
const mostDocuments = 500;

/** Where Harbor has the folder of the trajectory within its containers. */
const inContainer = /^\/logs\/agent\//;

/**
 * A document of ATIF with what continues it and with the trajectories of its subagents, embedded or
 * in files beside it. A file outside of its folder, a link, and an address are not read.
 *
 * @param path of the file that has the document
 */
export function withAtifFiles(
  document: AtifDocument,
  path: string,
  options: Options,
): Promise<AtifTree> {
  const folder = dirname(resolve(path));
  return new AtifFiles(folder, options).tree(document, new Set([resolve(path)]));
}

class AtifFiles {
  private documents = 0;

  constructor(
    private readonly folder: string,
    private readonly options: Options,
  ) {}

  /** @param open files that led here, which are not read again */
  async tree(document: AtifDocument, open: ReadonlySet<string>): Promise<AtifTree> {
    const subagents = new Map<string, AtifTree>();
    for (const [index, value] of (document.subagent_trajectories ?? []).entries()) {
      const { data } = atifSchema.safeParse(value);
      const id = data?.trajectory_id ?? `${index + 1}`;
      if (data === undefined) this.options.told(`subagent ${id}: skipped (it is no ATIF document)`);
      else if (this.isFew(id)) subagents.set(id, await this.tree(data, open));
    }
    const paths = document.steps
      .flatMap(({ observation }) => observation?.results ?? [])
      .flatMap(({ subagent_trajectory_ref: refs }) => refs ?? [])
      .filter(({ trajectory_id: id }) => !subagents.has(id ?? ''))
      .map(({ trajectory_path: path }) => path);
    const { continued_trajectory_ref: continued } = document;
    for (const path of new Set(paths)) {
      const found = typeof path === 'string' ? await this.file(path, open) : undefined;
      if (found !== undefined && typeof path === 'string') subagents.set(path, found);
    }
    const next = typeof continued === 'string' ? await this.file(continued, open) : undefined;
    return { document, subagents, ...(next !== undefined && { next }) };
  }

  /** The documents of a file that another one names; undefined, and told, where it is not read. */
  private async file(name: string, open: ReadonlySet<string>): Promise<AtifTree | undefined> {
    const { told, signal } = this.options;
    const path = join(this.folder, name.replace(inContainer, ''));
    const why = await this.whyNot(name, path);
    if (why !== undefined) {
      told(`${JSON.stringify(name.slice(0, 200))}: not read (${why})`);
      return undefined;
    }
    if (open.has(path) || !this.isFew(name)) return undefined;
    try {
      const document = parseAtif(await readPlainText(path, { signal }));
      return await this.tree(document, new Set([...open, path]));
    } catch (error) {
      if (signal?.aborted === true) throw error;
      told(`${path}: skipped (${messageOf(error).split('\n', 1)[0]?.slice(0, 200)})`);
      return undefined;
    }
  }

  /** Why a file must not be read; undefined where it may. */
  private async whyNot(name: string, path: string): Promise<string | undefined> {
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(name)) return 'it is an address';
    if (name.includes('\0') || isAbsolute(name.replace(inContainer, ''))) return 'it is elsewhere';
    const isBelow = (from: string, to: string): boolean =>
      !relative(from, to).startsWith('..') && !isAbsolute(relative(from, to));
    if (!isBelow(this.folder, path)) return 'it is elsewhere';
    const [folder, real] = await Promise.all([
      realpath(this.folder).catch(() => undefined),
      realpath(dirname(path)).catch(() => undefined),
    ]);
    if (folder === undefined || real === undefined) return 'it is not there';
    return isBelow(folder, real) ? undefined : 'it is elsewhere';
  }

  private isFew(name: string): boolean {
    this.documents += 1;
    if (this.documents <= mostDocuments) return true;
    if (this.documents === mostDocuments + 1) {
      this.options.told(`${name}: not read (there are more than ${mostDocuments} documents)`);
    }
    return false;
  }
}
