import { join } from 'node:path';
import type MiniSearch from 'minisearch';
import type { AsPlainObject } from 'minisearch';
import { z } from 'zod';
import { throwIfAborted } from '../../domain/work';
import { runsFolder } from '../../repository/storage';
import { keepPackedJson, readPackedJson } from '../../files/json';
import { sha256 } from '../../files/digest';
import type { TreeOfR } from '../view/treeOfR';

/** An index of the Python files of R that ranks them by the words they share with a text. */
interface SearchIndex {
  /**
   * Paths of files that share a word with the text, best first; files of equal score are sorted by
   * path.
   */
  rank(text: string): readonly string[];
}

/** Raised when texts are split into words differently, so that kept indexes are rebuilt. */
const format = 1;

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

/**
 * How often each of these words occurs in a text. `known` caches the parts of names, which repeat
 * often in a program.
 */
function countWords(
  text: string,
  known = new Map<string, readonly string[]>(),
): Map<string, number> {
  const names = new Map<string, number>();
  for (const name of text.match(/\p{L}[\p{L}\p{N}]+/gu) ?? []) {
    names.set(name, (names.get(name) ?? 0) + 1);
  }
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
interface Place {
  readonly storage: string;
  readonly instance: string;
}

/** The most paths of a ranking that are stored: no prompt has room for more. */
const mostRanked = 500;

/**
 * Paths of the Python files of R that share a word with a text, best first. The ranking is stored,
 * since loading the index of a large tree takes seconds.
 */
export async function rankFiles(
  tree: TreeOfR,
  text: string,
  place: Place,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const path = inPlace(place, `${tree.digest}-${format}-${sha256(text).slice(0, 16)}-ranking`);
  const known = await readPackedJson(path, (data) => z.array(z.string()).parse(data));
  if (known !== undefined) return known;
  const ranked = (await searchIndex(tree, place, signal)).rank(text).slice(0, mostRanked);
  await keepPackedJson(path, ranked);
  return ranked;
}

const inPlace = ({ storage, instance }: Place, name: string): string =>
  join(runsFolder(storage, instance), 'retrieval', `${name}.json.gz`);

/**
 * The index of the Python files of R, tests included. It is made once for a tree and kept with the
 * runs of the instance.
 */
export async function searchIndex(
  tree: TreeOfR,
  place: Place | undefined,
  signal?: AbortSignal,
): Promise<SearchIndex> {
  const path = place === undefined ? undefined : inPlace(place, `${tree.digest}-${format}`);
  const known =
    path === undefined ? undefined : await readPackedJson(path, (data) => keptSchema.parse(data));
  if (known !== undefined) return openIndex(known);
  const made = await makeIndex(tree, signal);
  const keeping = path === undefined ? undefined : keepPackedJson(path, made);
  const index = await openIndex(made);
  await keeping;
  return index;
}

async function openIndex(made: AsPlainObject): Promise<SearchIndex> {
  const { default: Search } = await import('minisearch');
  const index: MiniSearch = Search.loadJS(made, options);
  return {
    rank(text) {
      const counts = countWords(text);
      for (const word of idle) counts.delete(word);
      // Search for each word once, weighted by its count: the same score in less time.
      return index
        .search([...counts.keys()].join(' '), {
          tokenize: (words) => words.split(' '),
          boostTerm: (word) => counts.get(word) ?? 1,
          bm25,
        })
        .map(({ id, score }) => ({ path: String(id), score }))
        .sort((one, other) => other.score - one.score || (one.path < other.path ? -1 : 1))
        .map(({ path }) => path);
    },
  };
}

/**
 * The index of these files in the form of `MiniSearch.toJSON`. Words are counted here, file by
 * file, since adding each word to the index takes five times as long.
 */
async function makeIndex(tree: TreeOfR, signal: AbortSignal | undefined): Promise<AsPlainObject> {
  const documentIds: Record<string, string> = {};
  const fieldLength: Record<string, number[]> = {};
  /** For each word, pairs of a document and the count of the word in it. */
  const index = new Map<string, number[]>();
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
      for (const [word, times] of words) {
        const files = index.get(word);
        if (files === undefined) index.set(word, [id, times]);
        else files.push(id, times);
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
    index: [...index].map(([word, files]) => [word, { '0': inPairs(files) }]),
    serializationVersion: 2,
  };
}

function inPairs(flat: readonly number[]): Record<string, number> {
  const pairs: Record<string, number> = {};
  for (let at = 0; at < flat.length; at += 2) pairs[flat[at] ?? 0] = flat[at + 1] ?? 0;
  return pairs;
}

const counts = z.record(z.string(), z.number());
const keptSchema = z.object({
  documentCount: z.number(),
  nextId: z.number(),
  documentIds: z.record(z.string(), z.string()),
  fieldIds: counts,
  fieldLength: z.record(z.string(), z.array(z.number())),
  averageFieldLength: z.array(z.number()),
  storedFields: z.record(z.string(), z.unknown()),
  dirtCount: z.number(),
  // Only cheap checks: there are a hundred thousand entries.
  index: z.custom<AsPlainObject['index']>(Array.isArray),
  serializationVersion: z.literal(2),
});
