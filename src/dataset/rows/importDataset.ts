import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { HumanError, messageOf, systemCode, type Reporter } from '../../domain/work';
import { chooseSplit, filesBelow, splitOf, type DatasetFile } from './datasetFiles';
import {
  huggingFaceHub,
  listHuggingFaceFiles,
  type HuggingFaceDataset,
} from '../download/huggingFace';
import { cacheFolderName, cachedFiles, type CacheOptions } from '../download/cachedFiles';

export interface ImportOptions {
  /** Storage folder; downloads are kept in `data/swt-bench/` below it. */
  readonly storage: string;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
  /** Ask the server whether a downloaded file has changed. */
  readonly refresh?: boolean | undefined;
}

/** A dataset on this machine. */
interface LocalDataset {
  /** The file or folder. */
  readonly path: string;
  /** In the order of their rows. */
  readonly files: readonly DatasetFile[];
}

/**
 * The files of a dataset, downloaded if they are not here yet. A name is, in this order:
 *
 * - `https://…`: a file. The page of a Hugging Face dataset means that dataset.
 * - `hf:owner/name`, `hf:owner/name@revision`: a Hugging Face dataset.
 * - A path of a file or a folder.
 * - `owner/name`, `owner/name@revision`: a Hugging Face dataset, unless it names a file.
 *
 * After a folder or a Hugging Face dataset, `:split` or `#split` selects a split other than `test`.
 *
 * @throws HumanError if there is no such dataset; Cancelled
 */
export async function importDataset(name: string, options: ImportOptions): Promise<LocalDataset> {
  if (/^https?:\/\//i.test(name)) {
    const page = hubPage(name);
    return page === undefined ? addressFiles(name, options) : hubFiles(page, options);
  }
  if (name.startsWith('hf:')) {
    const named = hubName(name.slice(3));
    if (named !== undefined) return hubFiles(named, options);
    throw new HumanError(
      `${JSON.stringify(name.slice(0, 120))} is not a Hugging Face dataset`,
      'Use the form hf:owner/name, with @revision and :split if needed',
    );
  }
  const named = hubName(name);
  const local = await localFiles(name, undefined, options.signal);
  if (local !== undefined) {
    if (named !== undefined && named.split === undefined) {
      options.reporter.log(
        `${name} is a path on this machine; write hf:${name} for the Hugging Face dataset of that name`,
      );
    }
    return local;
  }
  const cut = Math.max(name.lastIndexOf('#'), name.lastIndexOf(':'));
  if (cut > 0) {
    const split = await localFiles(name.slice(0, cut), name.slice(cut + 1), options.signal);
    if (split !== undefined) return split;
  }
  if (named !== undefined && !/\.(jsonl?|ndjson|parquet|gz|csv|tsv|txt|arrow)$/i.test(named.name)) {
    return hubFiles(named, options);
  }
  throw new HumanError(
    `There is no dataset at ${name}`,
    'Specify a JSON, JSONL or Parquet file or folder, an https URL, or hf:owner/name',
  );
}

/** The files at a local path; undefined if there is nothing. */
async function localFiles(
  path: string,
  split: string | undefined,
  signal: AbortSignal | undefined,
): Promise<LocalDataset | undefined> {
  const state = await stat(path).catch((error: unknown) => {
    if (systemCode(error) !== 'EACCES') return undefined;
    throw new HumanError(
      `The dataset ${path} cannot be read (${messageOf(error)})`,
      'Specify a readable file or folder',
    );
  });
  if (state === undefined) return undefined;
  if (state.isDirectory()) {
    const files = await filesBelow(path, signal);
    return { path, files: chooseSplit(files, split, `folder ${path}`) };
  }
  const name = basename(path);
  if (split !== undefined && splitOf(name) !== split) {
    throw new HumanError(`${path} is a single file without a split ${split}`, 'Omit the split');
  }
  return { path, files: [{ path, name }] };
}

type NamedHubDataset = HuggingFaceDataset & { readonly split: string | undefined };

const part = '[A-Za-z0-9][A-Za-z0-9._-]{0,95}';
const hubPattern = new RegExp(
  `^(${part}/${part})(?:@([A-Za-z0-9][\\w./-]{0,120}))?(?:[:#]([\\w./-]+))?$`,
);

function hubName(text: string): NamedHubDataset | undefined {
  const match = hubPattern.exec(text);
  if (match === null) return undefined;
  const [, name = '', revision = 'main', split] = match;
  return /\.\.|\/\//.test(`${name} ${revision}`) ? undefined : { name, revision, split };
}

/** `https://huggingface.co/datasets/owner/name`, with `/tree/revision` or without. */
function hubPage(address: string): NamedHubDataset | undefined {
  const { url } = huggingFaceHub();
  const base = [url, 'https://huggingface.co'].find((each) =>
    address.startsWith(`${each}/datasets/`),
  );
  if (base === undefined) return undefined;
  const rest = address.slice(`${base}/datasets/`.length).replace(/\/+$/, '');
  const match = /^([^/?#@:]+\/[^/?#@:]+)(?:\/tree\/([^?#]+))?$/.exec(rest);
  if (match === null) return undefined;
  return hubName(match[2] === undefined ? (match[1] ?? '') : `${match[1]}@${match[2]}`);
}

async function hubFiles(
  { name, revision, split }: NamedHubDataset,
  options: ImportOptions,
): Promise<LocalDataset> {
  const { url, token } = huggingFaceHub();
  const from = revision === 'main' ? name : `${name}@${revision}`;
  const folder = join(
    dataFolder(options.storage),
    cacheFolderName(from.replace('/', '--'), `${url} ${from}`),
  );
  const files = await cachedFiles(
    folder,
    from,
    () => listHuggingFaceFiles({ name, revision }, options),
    (listing) => chooseSplit(listing, split, `dataset ${name}`),
    {
      ...options,
      ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
    },
  );
  return { path: files.length === 1 ? (files[0]?.path ?? folder) : folder, files };
}

async function addressFiles(address: string, options: ImportOptions): Promise<LocalDataset> {
  const path = await keptAddress(address, options);
  return { path, files: [{ path, name: basename(path) }] };
}

/**
 * The file at an address, downloaded if it is not here yet.
 *
 * @throws HumanError if the address is not https, or the download fails; Cancelled
 */
export async function keptAddress(
  address: string,
  options: CacheOptions & { readonly storage: string },
): Promise<string> {
  const url = checkedAddress(address);
  const [name = ''] = url.pathname.split('/').slice(-1);
  const file = name.replace(/[^A-Za-z0-9._-]/g, '_').replace(/^[._]+/, '') || 'rows';
  // The query may be a signature that is valid for an hour, so it is not shown.
  const shown = `${url.origin}${url.pathname}`;
  const folder = join(
    dataFolder(options.storage),
    cacheFolderName(`${url.host}-${file}`, url.href),
  );
  const [kept] = await cachedFiles(
    folder,
    shown,
    async () => [{ name: `files/${file}`, url: url.href }],
    (listing) => listing,
    options,
  );
  if (kept === undefined) throw new Error('one file was asked for');
  return kept.path;
}

function checkedAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '');
  if (url === undefined || (url.protocol !== 'https:' && !isHere)) {
    throw new HumanError(
      `${JSON.stringify(address.slice(0, 120))} is not an https URL`,
      'Use https://, or download the file and specify its path',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new HumanError(
      `The URL of ${url.host} contains a user name or password`,
      'Download the file and specify its path',
    );
  }
  return url;
}

const dataFolder = (storage: string): string => join(storage, 'data', 'swt-bench');
