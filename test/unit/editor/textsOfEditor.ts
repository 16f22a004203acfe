import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { settingGroups } from '../../../src/engine/engines';

const root = join(__dirname, '..', '..', '..', 'src');
/** What the bundles of the extension begin with. */
const entries = ['extension.ts', 'editor/shell/parts.ts'];

/** Names of the options of the command line, such as `--source`. */
export function optionsOfCommandLine(): ReadonlySet<string> {
  const files = readdirSync(join(root, 'commands'), { recursive: true, withFileTypes: true })
    .filter(({ name }) => name.endsWith('.ts'))
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
  const written = files.flatMap((text) =>
    [...text.matchAll(/['"`](?:-\w, )?(--[a-z][a-z-]+)[ '"`]/g)].map(([, option = '']) => option),
  );
  return new Set([
    ...written,
    ...settingGroups().flatMap(({ all }) => all.flatMap(({ flag }) => flag ?? [])),
  ]);
}

/**
 * The texts of several words that contain `--` in the files that the extension loads, with their
 * file. A template has `…` for each value in it.
 */
export function textsOfEditor(): readonly { readonly file: string; readonly text: string }[] {
  const files = new Map<string, string>();
  const waiting = entries.map(
    (entry): { readonly path: string; readonly names: readonly string[] } => ({
      path: join(root, entry),
      names: ['*'],
    }),
  );
  const seen = new Set<string>();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, names } = next;
    const asked = `${path}: ${names.join(', ')}`;
    if (seen.has(asked)) continue;
    seen.add(asked);
    const code = files.get(path) ?? readFileSync(path, 'utf8');
    files.set(path, code);
    for (const { from, taken, isPassedOn } of importsOf(code)) {
      const found = `${join(dirname(path), from)}.ts`;
      // A hall passes on what it does not use: only what somebody takes of it is loaded.
      const needed =
        isPassedOn && !names.includes('*') ? taken.filter((name) => names.includes(name)) : taken;
      if (needed.length > 0 && existsSync(found)) waiting.push({ path: found, names: needed });
    }
  }
  return [...files]
    .filter(([, code]) => code.includes('--'))
    .flatMap(([path, code]) =>
      textsIn(ts.createSourceFile(path, code, ts.ScriptTarget.Latest)).map((text) => ({
        file: relative(root, path).replaceAll('\\', '/'),
        text,
      })),
    );
}

interface Import {
  readonly from: string;
  /** The names that are taken; `*` for all. */
  readonly taken: readonly string[];
  readonly isPassedOn: boolean;
}

/** What a file of ours loads when it runs: `import type` is left out. */
const importsOf = (code: string): readonly Import[] =>
  [
    ...code.matchAll(
      /^(import|export)\s(?!type\s)([^;']*?)from '(\.[^']*)'|import\('(\.[^']*)'\)/gm,
    ),
  ].map(([, kind, list = '', from, late]) => ({
    from: from ?? late ?? '',
    taken: /\{/.test(list)
      ? list
          .replace(/[{}]/g, '')
          .split(',')
          .map((name) => name.trim().replace(/ as .*/, ''))
          .filter((name) => name !== '' && !name.startsWith('type '))
      : ['*'],
    isPassedOn: kind === 'export',
  }));

function textsIn(source: ts.SourceFile): readonly string[] {
  const texts: string[] = [];
  const look = (node: ts.Node): void => {
    const text = textOf(node);
    if (text?.includes('--') === true && /\S\s+\S/.test(text)) texts.push(text);
    if (text === undefined || ts.isTemplateExpression(node)) ts.forEachChild(node, look);
  };
  look(source);
  return texts;
}

/** The text of a literal, or of a sum of literals. */
function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) {
    return undefined;
  }
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}
