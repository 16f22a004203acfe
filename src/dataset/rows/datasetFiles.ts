import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { createGunzip } from 'node:zlib';
import { HumanError, throwIfAborted } from '../../domain/work';
import { openPlain } from '../../files/plainFile';
import { isParquet } from './parquet';
import { isGzip, readAt } from '../records';

/** A file with rows. */
export interface DatasetFile {
  readonly path: string;
  /** Relative to the dataset, with `/` between its parts. */
  readonly name: string;
}

const splitWords = /^(train|test|dev|validation|valid|val)$/;
const dataEnding = /\.(parquet|jsonl?|ndjson)(\.gz)?$/i;

/**
 * Whether a name is that of a file with rows. Metadata files of the datasets library have the same
 * endings and are excluded.
 */
export const hasDataName = (name: string): boolean =>
  dataEnding.test(name) &&
  !/(^|\/)(dataset_infos?|dataset_dict|state|config|package(-lock)?|\.[^/]*)\.json$/i.test(name);

/**
 * The split of a file by its name; undefined if the name shows none.
 * `data/test-00000-of-00001.parquet` and `test.jsonl` hold `test`, and `lite/dev.parquet` holds
 * `dev`.
 */
export function splitOf(name: string): string | undefined {
  const base = name.slice(name.lastIndexOf('/') + 1);
  const sharded = /^(.+?)-\d{5}-of-\d{5}(?:-[0-9a-f]{8,})?\./.exec(base);
  if (sharded !== null) return sharded[1];
  const [word = ''] = base.split('.');
  if (splitWords.test(word)) return word;
  return undefined;
}

/**
 * The files of one split, or all files if no name shows a split. Without a wish the split is
 * `test`, or the only one. Several folders may hold the split, as configurations of a Hugging Face
 * dataset. Then a wish may name the folder: `lite/test`.
 *
 * @param where names the dataset in messages
 * @throws HumanError naming the existing splits
 */
export function chooseSplit<File extends { readonly name: string }>(
  files: readonly File[],
  wish: string | undefined,
  where: string,
): File[] {
  const named = files.flatMap((file) => {
    const split = splitOf(file.name);
    const slash = file.name.lastIndexOf('/');
    return split === undefined
      ? []
      : [{ file, split, folder: file.name.slice(0, Math.max(0, slash)) }];
  });
  if (named.length === 0) {
    if (wish === undefined) return [...files];
    throw new HumanError(
      `The ${where} has no splits, so it has no split ${wish}`,
      'Omit the split',
    );
  }
  const splits = [...new Set(named.map(({ split }) => split))].sort();
  const folders = [...new Set(named.map(({ folder }) => folder))].sort();
  const full = ({ split, folder }: { split: string; folder: string }): string =>
    folder === '' ? split : `${folder}/${split}`;
  const all = [...new Set(named.map(full))].sort();
  const choices = folders.length > 1 ? all : splits;
  const split =
    wish ?? (splits.includes('test') ? 'test' : splits.length === 1 ? splits[0] : undefined);
  if (split === undefined) {
    throw new HumanError(
      `The ${where} has the splits ${choices.join(', ')}`,
      `Choose one after a colon, such as :${choices[0]}`,
    );
  }
  const exact = named.filter((each) => full(each) === split);
  const chosen = exact.length > 0 ? exact : named.filter((each) => each.split === split);
  if (chosen.length === 0) {
    throw new HumanError(
      `The ${where} has no split ${split}`,
      `It has ${choices.join(', ')}; choose one after a colon, such as :${choices[0]}`,
    );
  }
  const holding = [...new Set(chosen.map(({ folder }) => folder))];
  const preferred =
    holding.length === 1
      ? holding[0]
      : holding.find((folder) => /^(|data|default|data\/default)$/.test(folder));
  if (preferred === undefined) {
    throw new HumanError(
      `The ${where} has the split ${split} more than once: ${[...new Set(chosen.map(full))].sort().join(', ')}`,
      `Choose one after a colon, such as :${full(chosen[0] ?? { split, folder: '' })}`,
    );
  }
  return chosen.filter(({ folder }) => folder === preferred).map(({ file }) => file);
}

/**
 * Maximum number of files below a folder, so that the path to a whole disk gives an error, not an
 * endless wait.
 */
const mostEntries = 20_000;

/**
 * The files with rows below a folder, by name. They are recognised by their first bytes, so that
 * predictions, settings and notes are skipped.
 *
 * @throws HumanError if there are none
 */
export async function filesBelow(folder: string, signal?: AbortSignal): Promise<DatasetFile[]> {
  const files: DatasetFile[] = [];
  let seen = 0;
  let arrow = false;
  const visit = async (path: string): Promise<void> => {
    throwIfAborted(signal);
    const entries = await readdir(path, { withFileTypes: true });
    for (const entry of entries) {
      seen += 1;
      if (seen > mostEntries) {
        throw new HumanError(
          `The folder ${folder} has more than ${mostEntries} files`,
          "Specify the dataset's own folder or file",
        );
      }
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const below = join(path, entry.name);
      if (entry.isDirectory()) await visit(below);
      else if (entry.name.endsWith('.arrow')) arrow = true;
      // The cache of Hugging Face contains links to files. Links to files are followed, those to
      // folders are not.
      else if ((await stat(below).catch(() => undefined))?.isFile() === true) {
        const name = relative(folder, below).split(sep).join('/');
        if (await holdsRows(below)) files.push({ path: below, name });
      }
    }
  };
  await visit(folder);
  if (files.length === 0) {
    throw new HumanError(
      `The folder ${folder} has no dataset${arrow ? ', only Arrow files written by save_to_disk' : ''}`,
      arrow
        ? "Export it with the datasets library's to_parquet or to_json"
        : 'Specify a folder with JSON, JSONL or Parquet files whose rows have an instance_id',
    );
  }
  return files.sort((a, b) => (a.name < b.name ? -1 : 1));
}

const sniffed = 1 << 16;

async function holdsRows(path: string): Promise<boolean> {
  const file = await openPlain(path, { named: true }).catch(() => undefined);
  if (file === undefined) return false;
  try {
    const head = await readAt(file, 0, sniffed);
    if (isParquet(head)) return true;
    const text = (isGzip(head) ? await inflated(head) : head).toString('utf8');
    if (isParquet(Buffer.from(text.slice(0, 8)))) return true;
    return (
      /^\uFEFF?\s*[[{]/.test(text) &&
      text.includes('"instance_id"') &&
      !text.includes('"model_patch"')
    );
  } finally {
    await file.close();
  }
}

/** Inflates as much as the beginning of a compressed file yields. */
function inflated(head: Buffer): Promise<Buffer> {
  return new Promise((done) => {
    const parts: Buffer[] = [];
    const stream = createGunzip();
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('error', () => done(Buffer.concat(parts)));
    stream.on('end', () => done(Buffer.concat(parts)));
    stream.end(head);
  });
}
