import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isMap, isPair, isScalar, LineCounter, parseDocument, visit, type Document } from 'yaml';
import type { z } from 'zod';
import { HumanError, systemCode } from '../../domain/work';
import { keyVariables } from '../../engine/keysInUse';
import { expandHome } from '../../files/expandHome';
import { configurationSchema, keysOf, type ConfigurationValues } from '../schema';

/** Bytes of a configuration file: no file that the user writes is longer. */
const mostBytes = 1 << 20;

/** A configuration file that has been read and checked. */
export interface FileConfiguration {
  readonly path: string;
  /** With sizes in MiB, and with absolute paths. */
  readonly values: ConfigurationValues;
}

/**
 * Reads a configuration file.
 *
 * @param path absolute path
 * @throws HumanError naming file, line and key of the first fault
 */
export async function readConfigurationFile(path: string): Promise<FileConfiguration> {
  const lines = new LineCounter();
  const document = parseDocument(await textOf(path), { lineCounter: lines, logLevel: 'silent' });
  const place = (offset: number | undefined): string =>
    offset === undefined ? path : `${path}:${lines.linePos(offset).line}`;
  const [error] = document.errors;
  if (error !== undefined) {
    const [said = ''] = error.message.split(/ at line \d|\n/);
    throw new HumanError(`${place(error.pos[0])}: ${said}`, 'Correct the YAML');
  }
  refuseSecrets(document, place);
  const parsed = configurationSchema.safeParse(valueOf(document, path) ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues.map(innermost);
    if (issue === undefined) throw parsed.error;
    throw faultOf(issue, (keys) => place(offsetOf(document, keys)));
  }
  return { path, values: withAbsolutePaths(parsed.data, dirname(path)) };
}

async function textOf(path: string): Promise<string> {
  try {
    if ((await stat(path)).size > mostBytes) {
      throw new HumanError(`${path} is longer than 1 MiB`, 'Name a configuration file');
    }
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof HumanError) throw error;
    throw new HumanError(
      `The configuration file ${path} cannot be read (${systemCode(error)})`,
      'Specify a readable file with --config, or omit it',
    );
  }
}

/** The values in a document. Aliases that multiply it are a fault of the file. */
function valueOf(document: Document, path: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new HumanError(`${path} has too many aliases`, 'Write the values out');
  }
}

/** Place in the text of the key that a path leads to, or of the nearest above it. */
function offsetOf(document: Document, keys: readonly PropertyKey[]): number | undefined {
  let at: unknown = document.contents;
  let offset: number | undefined;
  for (const key of keys) {
    if (!isMap(at)) break;
    const pair = at.items.find(({ key: each }) => isScalar(each) && String(each.value) === key);
    if (pair === undefined || !isScalar(pair.key)) break;
    offset = pair.key.range?.[0] ?? offset;
    at = pair.value;
  }
  return offset;
}

type Issue = z.core.$ZodIssue;

/** The fault within a fault of a key or of alternatives, with its whole path. */
function innermost(issue: Issue): Issue {
  const [within] =
    issue.code === 'invalid_key' || issue.code === 'invalid_element'
      ? issue.issues
      : issue.code === 'invalid_union'
        ? (issue.errors.at(-1) ?? [])
        : [];
  return within === undefined
    ? issue
    : innermost({ ...within, path: [...issue.path, ...within.path] });
}

function faultOf(issue: Issue, placeOf: (keys: readonly PropertyKey[]) => string): HumanError {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const near = nearest(key, keysOf(path));
    return new HumanError(
      `${placeOf([...path, key])}: ${[...path, key].join('.')} is not a key`,
      near === undefined
        ? `Write one of ${keysOf(path).join(', ')}`
        : `Did you mean ${[...path, near].join('.')}?`,
    );
  }
  return new HumanError(`${placeOf(path)}: ${path.join('.') || 'the file'}: ${issue.message}`);
}

/** The word that differs in the fewest letters, if that is less than half of it. */
function nearest(word: string, among: readonly string[]): string | undefined {
  const [first] = among
    .map((each) => ({ each, distance: distance(word.toLowerCase(), each.toLowerCase()) }))
    .filter(({ each, distance: letters }) => letters <= Math.max(2, each.length / 3))
    .sort((left, right) => left.distance - right.distance);
  return first?.each;
}

/** Letters that are added, removed or replaced to get from one word to another. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...from.slice(0, 100)].entries()) {
    const next = [at + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** Keys whose values are secrets, in any spelling. */
const secretKey =
  /^(?:api[_-]?key|(?:access|auth|secret|bearer)?[_-]?(?:key|token)|secret|password|passwd|authorization|headers?|.*_(?:api_?key|access_?key|token|secret|password))$/i;

/**
 * Refuses keys of providers: a configuration file is shared and committed.
 *
 * @throws HumanError naming the variable that holds the secret instead
 */
function refuseSecrets(document: Document, place: (offset: number | undefined) => string): void {
  visit(document, {
    Pair(_, { key, value }, ancestors) {
      if (!isScalar(key) || !secretKey.test(String(key.value))) return;
      // An agent gets the address of a proxy, which has the key; placeholders and words are none.
      const isOfAgent = ancestors.some(
        (each) => isPair(each) && isScalar(each.key) && each.key.value === 'agents',
      );
      const text = isScalar(value) ? String(value.value) : '';
      if (isOfAgent && (text.length < 12 || /[\s{]/.test(text) || text.includes('proxy'))) return;
      const names = ancestors.flatMap((each) =>
        isPair(each) && isScalar(each.key) ? [String(each.key.value)] : [],
      );
      const variables = variablesFor([String(key.value), ...names]);
      throw new HumanError(
        `${place(key.range?.[0])}: ${String(key.value)} is a secret, and configuration files must not contain secrets`,
        /^headers?$/i.test(String(key.value))
          ? 'Remove it, and pass it with --header'
          : `Remove it, and set the environment variable ${variables.join(' or ')}`,
      );
    },
  });
}

/** The variables for a secret below these keys: the one that is named so, or those of a provider. */
function variablesFor(keys: readonly string[]): readonly string[] {
  const all = Object.values(keyVariables).flat();
  const own = all.filter((name) => keys.includes(name));
  if (own.length > 0) return own;
  const starts = keys.map((key) => key.split('/')[0]);
  const found = Object.entries(keyVariables).find(([provider]) => starts.includes(provider));
  return found?.[1] ?? all;
}

/** The values with paths that no longer depend on a folder. */
function withAbsolutePaths(values: ConfigurationValues, folder: string): ConfigurationValues {
  const absolute = (path: string): string => resolve(folder, expandHome(path));
  const { storage, agents } = values;
  const { local } = values as { readonly local?: { readonly python?: string } };
  const python = local?.python;
  return {
    ...values,
    ...(storage !== undefined && { storage: absolute(storage) }),
    // A word without a slash is a program on the path, or `auto`.
    ...(python?.includes('/') === true && { local: { ...local, python: absolute(python) } }),
    ...(agents !== undefined && {
      agents: Object.fromEntries(
        Object.entries(agents).map(([name, { program, ...agent }]) => [
          name,
          { ...agent, ...(program !== undefined && { program: program && absolute(program) }) },
        ]),
      ),
    }),
  };
}
