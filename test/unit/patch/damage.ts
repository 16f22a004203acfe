import type { PatchFormat } from './formats';
import { pick, seeded } from './generators';

type Damage = (text: string, random: () => number, format: PatchFormat) => string;

/** Where the distinguishable parts of a text begin: files, hunks or blocks. */
const beginnings: Readonly<Record<PatchFormat, RegExp>> = {
  unified: /^diff --git /,
  fuzzy: /^--- \S/,
  custom: /^diff$/,
  'search-replace': /^(```|~~~~)python$|^\S+\.\w+$/,
};

/** The text in parts; the first part of the result is the text before them. */
function partsOf(text: string, format: PatchFormat): string[][] {
  const parts: string[][] = [];
  const begins = beginnings[format];
  let fresh = true;
  for (const line of text.replace(/\n$/, '').split('\n')) {
    // A path and the fence below it form one beginning.
    if (parts.length === 0 || (begins.test(line) && fresh)) parts.push([]);
    parts.at(-1)?.push(line);
    fresh = format !== 'search-replace' || /^(```|~~~~)?$/.test(line);
  }
  return parts;
}

const joined = (parts: readonly (readonly string[])[]): string => `${parts.flat().join('\n')}\n`;

function shuffled<T>(all: readonly T[], random: () => number): T[] {
  const rest = [...all];
  const out: T[] = [];
  while (rest.length > 0) out.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return out;
}

/** Hunks of each file in another order. */
function shuffledHunks(text: string, random: () => number): string {
  const files = partsOf(text, /^diff --git /m.test(text) ? 'unified' : 'fuzzy');
  return joined(
    files.map((lines) => {
      const first = lines.findIndex((line) => line.startsWith('@@'));
      if (first < 0) return lines;
      const hunks: string[][] = [];
      for (const line of lines.slice(first)) {
        if (line.startsWith('@@')) hunks.push([]);
        hunks.at(-1)?.push(line);
      }
      return [...lines.slice(0, first), ...shuffled(hunks, random).flat()];
    }),
  );
}

/** Closing marks by format. A unified diff has none, so its fence counts. */
const endings: Readonly<Record<PatchFormat, RegExp>> = {
  unified: /^(```|~~~~)$/,
  fuzzy: /^(```|~~~~)$/,
  custom: /^end diff$/,
  'search-replace': /^(>{5,9} REPLACE|```|~~~~)$/,
};

const away = (number: string, random: () => number, reach: number): string =>
  String(Math.max(1, Number(number) + Math.floor(random() * (2 * reach + 1)) - reach));

/** Kinds of damage that models, mail and people do to a text. */
export const damages: Readonly<Record<string, Damage>> = {
  'cut in a line': (text, random) =>
    text.slice(0, Math.floor(text.length * (0.3 + 0.7 * random()))),

  'cut behind a line': (text, random) => {
    const lines = text.split('\n');
    return lines.slice(0, Math.ceil(lines.length * (0.3 + 0.7 * random()))).join('\n');
  },

  'given twice': (text) => `${text}\nOnce more, in full:\n\n${text}`,

  'a part doubled': (text, random, format) => {
    const parts = partsOf(text, format);
    const twice = pick(random, parts);
    return joined(parts.flatMap((part) => (part === twice ? [part, part] : [part])));
  },

  'parts shuffled': (text, random, format) =>
    format === 'unified' || format === 'fuzzy'
      ? shuffledHunks(joined(shuffled(partsOf(text, format), random)), random)
      : joined(shuffled(partsOf(text, format), random)),

  'lines re-indented': (text, random) =>
    text
      .split('\n')
      .map((line) => {
        if (!/^[ +-]? +\S/.test(line) || random() > 0.05) return line;
        const mark = /^[+-]/.exec(line)?.[0] ?? (line.startsWith(' ') ? ' ' : '');
        const rest = line.slice(mark.length);
        return mark + (random() < 0.5 ? rest.replace(/^ {1,4}/, '') : `    ${rest}`);
      })
      .join('\n'),

  'all re-indented by two': (text, _random, format) =>
    text
      .split('\n')
      .map((line) => {
        const isMarked = format === 'unified' || format === 'fuzzy';
        const match = (isMarked ? /^([ +-])( +\S.*)$/ : /^()( +\S.*)$/).exec(line);
        return match === null ? line : `${match[1]}  ${match[2]}`;
      })
      .join('\n'),

  'wrong numbers': (text, random) =>
    text
      .replace(
        /^@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@/gm,
        (_, old: string, oldCount: string, now: string, newCount: string) =>
          `@@ -${away(old, random, 5)}${oldCount} +${away(now, random, 5)}${newCount} @@`,
      )
      .replace(
        /^((?:rewrite|insert)\n)(\d+)$/gm,
        (_, action: string, line: string) => action + away(line, random, 5),
      ),

  'wrong counts': (text, random) =>
    text.replace(
      /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@/gm,
      (_, old: string, oldCount: string, now: string, newCount: string) =>
        `@@ -${old},${away(oldCount, random, 3)} +${now},${away(newCount, random, 3)} @@`,
    ),

  'blanks at ends lost': (text) => text.replace(/[ \t]+$/gm, ''),

  'context without its blank': (text) => text.replace(/^ (?=\S)/gm, ''),

  'tabs for blanks': (text) =>
    text.replace(
      /^([ +-]?)((?: {4})+)/gm,
      (_, mark: string, blanks: string) => mark + '\t'.repeat(blanks.length / 4),
    ),

  'end lines missing': (text, _random, format) =>
    text
      .split('\n')
      .filter((line) => !endings[format].test(line))
      .join('\n'),

  CRLF: (text) => text.replace(/\n/g, '\r\n'),

  'HTML-escaped': (text) =>
    text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;'),

  'prose between parts': (text, _random, format) => {
    const parts = partsOf(text, format);
    return joined(
      parts.flatMap((part, i) => [
        ['', `Now for change ${i + 1}. It makes sure that diff and rewrite are covered:`, ''],
        part,
      ]),
    );
  },

  'prose inserted anywhere': (text, random) => {
    const lines = text.split('\n');
    lines.splice(Math.floor(random() * lines.length), 0, 'This tests what the issue says.');
    return lines.join('\n');
  },

  'quoted as in mail': (text) => text.replace(/^/gm, '> '),
};

export const kindsOfDamage = Object.keys(damages);

/** A text with a kind of damage; the same seed gives the same result. */
export function damage(text: string, kind: string, format: PatchFormat, seed: number): string {
  const does = damages[kind];
  if (does === undefined) throw new Error(`no damage is called ${kind}`);
  return does(text, seeded(seed), format);
}
