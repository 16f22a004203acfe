import { HumanError, messageOf } from '../domain/work';
import type { StudyDocument } from './document/document';
import { pack } from './document/packed';
import { studyTitle } from './document/studyTitle';
import { withoutPaths } from './entry';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface PageParts {
  /** The page, by the name of its assets `NAME.js` and `NAME.css`. */
  readonly name: 'dashboard' | 'trajectory';
  readonly title: string;
  /** The text that is there until the script has run. */
  readonly waiting: string;
  /** The data of the page: each is one element with JSON, read by the script. */
  readonly data: readonly unknown[];
  /** Sources of images in the words of a content security policy; absent for none. */
  readonly images?: string;
}

/**
 * A page as one HTML file that contains script, style and data, and sends no request over a network.
 * Its content security policy names the one script and the one style by their digests, so that
 * nothing else runs, whatever the data contain.
 *
 * @param assets folder with the script and the style, which the build makes
 * @throws HumanError when they are missing
 */
export async function pageHtml(
  { name, title, waiting, data, images }: PageParts,
  assets: string,
): Promise<string> {
  const [script, style] = await Promise.all([
    asset(name, join(assets, `${name}.js`)),
    asset(name, join(assets, `${name}.css`)),
  ]);
  const policy = [
    "default-src 'none'",
    `script-src '${digest(script)}'`,
    `style-src '${digest(style)}'`,
    ...(images === undefined ? [] : [`img-src ${images}`]),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const elements = data.map(
    (each) => `<script type="application/json">${inScript(JSON.stringify(each))}</script>`,
  );
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>SWT-Bench: ${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main><p>${escapeHtml(waiting)}</p></main>
${elements.join('\n')}
<script>${script}</script>
</body>
</html>
`;
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** JSON that neither ends a script element nor begins a comment in one: every `<` is escaped. */
const inScript = (json: string): string => json.replaceAll('<', '\\u003c');

const digest = (text: string): string =>
  `sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}`;

/** An asset of the page; a closing tag in it would end its element. */
async function asset(page: string, path: string): Promise<string> {
  try {
    const text = await readFile(path, 'utf8');
    return text.replace(/<\/(script|style)/gi, '<\\/$1').replace(/\r\n?/g, '\n');
  } catch (error) {
    throw new HumanError(
      `The ${page} page cannot be created: ${path} is missing (${messageOf(error)})`,
      'Install the program again, or run `npm run build`',
    );
  }
}

/**
 * The dashboard as one HTML file.
 *
 * @param assets folder with `dashboard.js` and `dashboard.css`, which the build makes
 * @throws HumanError when they are missing
 */
export async function dashboardHtml(document: StudyDocument, assets: string): Promise<string> {
  // Readers of the file must not see paths of the machine that made it.
  const shared = {
    ...document,
    runs: document.runs.map(withoutPaths),
  };
  return pageHtml(
    {
      name: 'dashboard',
      title: studyTitle(document),
      waiting: 'Reading runs…',
      data: [pack(shared)],
      // Exporting a plot as PNG goes through an image that the page itself makes.
      images: 'blob:',
    },
    assets,
  );
}
