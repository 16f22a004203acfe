import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StudyDocument } from '../domain/study/document';
import { HumanError, messageOf } from '../domain/humanError';
import { pack } from '../domain/study/packed';

/**
 * The dashboard as one HTML file that contains script, style and data, and sends no request over a
 * network. Its content security policy names the one script and the one style by their digests, so
 * that nothing else runs, whatever the data contain.
 *
 * @param assets folder with `dashboard.js` and `dashboard.css`, which the build makes
 * @throws HumanError when they are missing
 */
export async function dashboardHtml(document: StudyDocument, assets: string): Promise<string> {
  const [script, style] = await Promise.all([
    asset(join(assets, 'dashboard.js')),
    asset(join(assets, 'dashboard.css')),
  ]);
  const policy = [
    "default-src 'none'",
    `script-src '${digest(script)}'`,
    `style-src '${digest(style)}'`,
    // Exporting a plot as PNG goes through an image that the page itself makes.
    'img-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  // Readers of the file must not see paths of the machine that made it.
  const shared = {
    ...document,
    runs: document.runs.map(({ folder: _folder, place: _place, ...run }) => run),
  };
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>SWT-Bench: ${escapeHtml(titleOf(document))}</title>
<style>${style}</style>
</head>
<body>
<main><p>Reading the runs…</p></main>
<script type="application/json">${inScript(JSON.stringify(pack(shared)))}</script>
<script>${script}</script>
</body>
</html>
`;
}

const titleOf = (document: StudyDocument): string =>
  document.runs.length === 1 ? (document.runs[0]?.label ?? '') : `${document.runs.length} runs`;

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** JSON that neither ends a script element nor begins a comment in one: every `<` is escaped. */
const inScript = (json: string): string => json.replaceAll('<', '\\u003c');

const digest = (text: string): string =>
  `sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}`;

/** An asset of the page; a closing tag in it would end its element. */
async function asset(path: string): Promise<string> {
  try {
    const text = await readFile(path, 'utf8');
    return text.replace(/<\/(script|style)/gi, '<\\/$1').replace(/\r\n?/g, '\n');
  } catch (error) {
    throw new HumanError(
      `The dashboard cannot be made: ${path} is missing (${messageOf(error)})`,
      'Install the program again, or run `npm run build`',
    );
  }
}
