/**
 * Reads a column with a list of texts in any published form. The forms are a list, JSON text
 * (SWE-bench), and the `repr` of a Python list (`['a', "b's"]`, SWE-bench Pro).
 *
 * @returns `broken` for a text in none of these forms
 */
export function readTexts(value: string | readonly string[]): readonly string[] | 'broken' {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (text === '') return [];
  try {
    const parsed: unknown = JSON.parse(text);
    const isTexts = Array.isArray(parsed) && parsed.every((each) => typeof each === 'string');
    return isTexts ? parsed : 'broken';
  } catch {
    return readPythonList(text);
  }
}

const pythonText = /'((?:[^'\\]|\\[^])*)'|"((?:[^"\\]|\\[^])*)"/y;
const gap = /\s*/y;

function readPythonList(text: string): string[] | 'broken' {
  if (!text.startsWith('[') || !text.endsWith(']')) return 'broken';
  const list: string[] = [];
  let at = 1;
  const skipGap = (): void => {
    gap.lastIndex = at;
    gap.exec(text);
    at = gap.lastIndex;
  };
  for (;;) {
    skipGap();
    if (at === text.length - 1) return list;
    pythonText.lastIndex = at;
    const match = pythonText.exec(text);
    if (match === null) return 'broken';
    list.push(unescape(match[1] ?? match[2] ?? ''));
    at = pythonText.lastIndex;
    skipGap();
    if (text[at] === ',') at += 1;
    else if (at !== text.length - 1) return 'broken';
  }
}

const letters: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
};

/** Decodes the escapes that `repr` writes; Python reference, section 2.4.1. */
function unescape(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U(000[0-9a-f]{5}|0010[0-9a-f]{4})|([^]))/gi,
    (_, byte?: string, short?: string, long?: string, letter = '') => {
      const code = byte ?? short ?? long;
      return code === undefined
        ? (letters[String(letter)] ?? String(letter))
        : String.fromCodePoint(parseInt(code, 16));
    },
  );
}
