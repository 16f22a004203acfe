import { join } from 'node:path';
import type MiniSearch from 'minisearch';
import type { AsPlainObject } from 'minisearch';
import { z } from 'zod';
import { throwIfAborted } from '../../domain/work';
import { runsFolder } from '../../repository/storage';
import { keepPackedJson, readPackedJson } from '../../files/json';
import { sha256 } from '../../files/digest';
import type { TreeOfR } from '../view/treeOfR';

/** Raised when texts are split into words differently, so that files are ranked again. */
const format = 2;

/** The only field: a document is a file with its path, as in SWE-bench. */
const field = 'text';

/** BM25 with the values of Lucene; `d` above 0 would make it BM25+. */
const bm25 = { k: 1.2, b: 0.75, d: 0 };

/** Stop words of a query: Lucene's English list. */
const idle = new Set(
  (
    'a an and are as at be but by for if in into is it no not of on or such that the their then there ' +
    'these they this to was will with'
  ).split(' '),
);

const options = { fields: [field], tokenize: wordsOf, processTerm: (term: string) => term };

/**
 * The words of a text in lower case, without numbers and single letters. A name also gives its
 * parts: `QuerySet` gives `queryset`, `query` and `set`, and `bulk_create` gives `bulk` and
 * `create`.
 */
export function wordsOf(text: string): string[] {
  return [...countWords(text)].flatMap(([word, times]) => Array<string>(times).fill(word));
}

// oxlint-disable-next-line no-control-regex -- these are the signs of ASCII
const isAscii = /^[\x00-\x7f]*$/;

/**
 * How often each of these words occurs in a text. `known` caches the parts of names, which repeat
 * often in a program.
 */
function countWords(
  text: string,
  known = new Map<string, readonly string[]>(),
): Map<string, number> {
  const names = new Map<string, number>();
  // The pattern without `u` takes a third of the time.
  const pattern = isAscii.test(text) ? /[A-Za-z][A-Za-z0-9]+/g : /\p{L}[\p{L}\p{N}]+/gu;
  for (const name of text.match(pattern) ?? []) names.set(name, (names.get(name) ?? 0) + 1);
  const words = new Map<string, number>();
  for (const [name, times] of names) {
    let parts = known.get(name);
    if (parts === undefined) known.set(name, (parts = partsOf(name)));
    for (const part of parts) words.set(part, (words.get(part) ?? 0) + times);
  }
  return words;
}

function partsOf(name: string): string[] {
  const parts = [name.toLowerCase()];
  if (!/\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u.test(name)) return parts;
  for (const [part] of name.matchAll(/\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{N}]+/gu)) {
    if (part.length > 1 && part.length < name.length) parts.push(part.toLowerCase());
  }
  return parts;
}

/** Where what is computed for an instance is stored. */
export interface Place {
  readonly storage: string;
  readonly instance: string;
}

/** The file that keeps something computed from R and the issue. */
export const retrievedPath = ({ storage, instance }: Place, name: string): string =>
  join(runsFolder(storage, instance), 'retrieval', `${name}.json.gz`);

/** The most paths of a ranking: no prompt has room for more. */
const mostRanked = 500;

/**
 * Paths of the Python files of R, tests included, that share a word with a text, best first; files
 * of equal score are sorted by path. The ranking is kept with the runs of the instance, since all
 * files of a tree are read for it.
 *
 * @throws Cancelled
 */
export async function rankFiles(
  tree: TreeOfR,
  text: string,
  place: Place,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const name = `${tree.digest}-${format}-${sha256(text).slice(0, 16)}-ranking`;
  const path = retrievedPath(place, name);
  const known = await readPackedJson(path, (data) => z.array(z.string()).parse(data));
  if (known !== undefined) return known;
  const counts = countWords(text);
  for (const word of idle) counts.delete(word);
  const { default: Search } = await import('minisearch');
  const index: MiniSearch = Search.loadJS(await indexOf(tree, counts, signal), options);
  const ranked = index
    // Search for each word once, weighted by its count: the same score in less time.
    .search([...counts.keys()].join(' '), {
      tokenize: (words) => words.split(' '),
      boostTerm: (word) => counts.get(word) ?? 1,
      bm25,
    })
    .map(({ id, score }) => ({ path: String(id), score }))
    .sort((one, other) => other.score - one.score || (one.path < other.path ? -1 : 1))
    .map(({ path: each }) => each)
    .slice(0, mostRanked);
  await keepPackedJson(path, ranked);
  return ranked;
}

/**
 * The index of the Python files of R for a search of these words, in the form of
 * `MiniSearch.toJSON`. That of all words takes seconds to make, and to read when it was kept.
 */
async function indexOf(
  tree: TreeOfR,
  wanted: ReadonlyMap<string, number>,
  signal: AbortSignal | undefined,
): Promise<AsPlainObject> {
  const documentIds: Record<string, string> = {};
  const fieldLength: Record<string, number[]> = {};
  /** For each word, the count of the word in the documents that have it. */
  const index = new Map<string, Record<string, number>>();
  for (const word of wanted.keys()) index.set(word, {});
  const known = new Map<string, readonly string[]>();
  let count = 0;
  let length = 0;
  const paths = (await tree.paths()).filter((path) => path.endsWith('.py'));
  for (let start = 0; start < paths.length; start += 32) {
    throwIfAborted(signal);
    const some = paths.slice(start, start + 32);
    const texts = await Promise.all(some.map((path) => tree.read(path)));
    for (const [at, path] of some.entries()) {
      const text = texts[at];
      if (text === undefined) continue;
      const words = countWords(`${path}\n${text}`, known);
      const id = count++;
      documentIds[id] = path;
      // The library's length of a field is its number of different words.
      fieldLength[id] = [words.size];
      length += words.size;
      for (const [word, of] of index) {
        const times = words.get(word);
        if (times !== undefined) of[id] = times;
      }
    }
  }
  return {
    documentCount: count,
    nextId: count,
    documentIds,
    fieldIds: { [field]: 0 },
    fieldLength,
    averageFieldLength: [count === 0 ? 0 : length / count],
    storedFields: {},
    dirtCount: 0,
    index: [...index].flatMap(([word, of]) =>
      Object.keys(of).length === 0 ? [] : [[word, { '0': of }]],
    ),
    serializationVersion: 2,
  };
}
