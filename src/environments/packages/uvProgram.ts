import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256 } from '../../files/digest';
import { HumanError, messageOf } from '../../domain/work';
import { writeWholeFile } from '../../files/wholeFile';
import { zipEntries } from '../../files/zip';
import type { Downloads } from './downloads';
import { hostOf, IndexTrouble, type IndexClient } from './indexClient';
import { pageTypes, readIndexPage, type IndexFile } from './indexPages';
import type { IndexSettings, PackageIndex } from './indexSettings';

/** The record of a fetched program. */
const recordSchema = z.object({
  version: z.string(),
  /** The wheel that contained it, and the digest of the wheel as the index published it. */
  wheel: z.string(),
  wheelDigest: z.string(),
  /** SHA-256 of the program. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
});

interface Program {
  readonly version: string;
  /** SHA-256. */
  readonly digest: string;
  readonly content: Buffer;
}

interface UvRequest {
  readonly storage: string;
  /** Processor of the container, as `uname -m` names it. */
  readonly machine: string;
  readonly settings: IndexSettings;
  readonly client: IndexClient;
  readonly downloads: Downloads;
  readonly say: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** The oldest uv with all options that are used here: `--exclude-newer-package`. */
const oldest = [0, 9];
const wheelLimit = 256 << 20;

/**
 * The program uv, which resolves requirements. It comes from a wheel with the digest that the index
 * publishes. It is kept on this machine, where no container reaches it, and compared with its
 * digest at each use. As uv needs no Python, it also serves Python versions that it cannot be
 * installed for.
 *
 * @throws HumanError when the index has none or cannot be reached; Cancelled
 */
export async function uvProgram(request: UvRequest): Promise<Program> {
  const { storage, machine, say } = request;
  const folder = join(storage, 'images', 'programs');
  const recordPath = join(folder, `uv-${machine.replace(/\W/g, '_')}.json`);
  const known = await readFile(recordPath, 'utf8')
    .then((text) => recordSchema.parse(JSON.parse(text)))
    .catch(() => undefined);
  if (known !== undefined) {
    const path = join(folder, known.digest);
    const content = await readFile(path).catch(() => undefined);
    if (content !== undefined && sha256(content) === known.digest) {
      return { version: known.version, digest: known.digest, content };
    }
    if (content !== undefined) {
      say(
        `the cached uv in ${folder} does not match its digest (${known.digest.slice(0, 12)}…); downloading it again`,
      );
      await rm(path, { force: true });
    }
  }
  const { wheel, content: archive } = await fetched(request);
  const content = await programIn(archive, 'uv');
  const digest = sha256(content);
  const version = versionOf(wheel.filename).join('.');
  await writeWholeFile(join(folder, digest), content);
  const record = { version, wheel: wheel.filename, wheelDigest: sha256(archive), digest };
  await writeWholeFile(recordPath, JSON.stringify(record));
  say(`downloaded ${wheel.filename}; its digest matches the index`);
  return { version, digest, content };
}

const versionOf = (filename: string): number[] =>
  (/^uv-(\d+(?:\.\d+)*)-/.exec(filename)?.[1] ?? '').split('.').filter(Boolean).map(Number);

const compare = (one: readonly number[], other: readonly number[]): number => {
  for (let at = 0; at < Math.max(one.length, other.length); at++) {
    const difference = (one[at] ?? 0) - (other[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
};

/** The newest wheel of uv for a machine with a Linux of glibc. */
export function newestUv(files: readonly IndexFile[], machine: string): IndexFile | undefined {
  const platform = new RegExp(`-[^-]*manylinux(2014|_2_17)_${machine}(\\.[^-]*)?\\.whl$`);
  return files
    .filter(({ filename, yanked }) => {
      const version = versionOf(filename);
      return (
        yanked === false &&
        version.length > 0 &&
        compare(version, oldest) >= 0 &&
        platform.test(filename)
      );
    })
    .sort((one, other) => compare(versionOf(other.filename), versionOf(one.filename)))[0];
}

async function fetched(request: UvRequest): Promise<{ wheel: IndexFile; content: Buffer }> {
  const { settings, client, downloads, machine, signal, say } = request;
  let why = '';
  for (const index of [...settings.others, settings.usual]) {
    try {
      const found = await filesOf(index, request);
      const wheel = found === undefined ? undefined : newestUv(found, machine);
      if (wheel === undefined) continue;
      const kept = wheel.sha256 === undefined ? undefined : await downloads.find(wheel.sha256);
      if (kept !== undefined) return { wheel, content: await readFile(kept) };
      if (wheel.sha256 === undefined) {
        say(
          `${hostOf(index.url)} publishes no SHA-256 for ${wheel.filename}, so it cannot be verified`,
        );
      }
      const answer = await client.get(wheel.url, index, { signal });
      if (answer.status !== 200) {
        answer.body.resume();
        throw new IndexTrouble(`${hostOf(wheel.url)} responded with status ${answer.status}`);
      }
      const { path } = await downloads.keep(answer.body, wheel.sha256, wheelLimit);
      return { wheel, content: await readFile(path) };
    } catch (error) {
      if (signal?.aborted === true) throw error;
      why = `: ${messageOf(error)}`;
    }
  }
  throw new HumanError(
    `Could not get uv ${oldest.join('.')} or later for ${machine}, which resolves requirements, from the package index${why}`,
    `Check whether ${[...settings.others, settings.usual].map(({ url }) => hostOf(url)).join(' or ')} can be reached from here, and set PIP_INDEX_URL to an index that has uv`,
  );
}

async function filesOf(
  index: PackageIndex,
  { client, signal }: UvRequest,
): Promise<IndexFile[] | undefined> {
  const answer = await client.get(`${index.url}/uv/`, index, { accept: pageTypes, signal });
  if (answer.status !== 200) {
    answer.body.resume();
    if (answer.status === 404) return undefined;
    throw new IndexTrouble(`${hostOf(index.url)} responded with status ${answer.status}`);
  }
  const pieces: Buffer[] = [];
  for await (const piece of answer.body) pieces.push(piece as Buffer);
  return readIndexPage(Buffer.concat(pieces).toString('utf8'), answer.type, answer.url);
}

/**
 * Extracts a program from a wheel, where it is `NAME.data/scripts/` in a zip file.
 *
 * @throws Error when the bytes are no such wheel
 */
async function programIn(wheel: Buffer, name: string): Promise<Buffer> {
  const found = zipEntries(wheel).find(({ path }) => path.endsWith(`.data/scripts/${name}`));
  if (found === undefined) throw new Error(`the wheel has no program ${name}`);
  return found.content();
}
