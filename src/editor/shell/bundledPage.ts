import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { escapeAttribute } from '../issue/sanitise';

interface BundledPageParts {
  readonly extensionUri: vscode.Uri;
  /** The name of the document, which a screen reader says when it enters the page. */
  readonly title: string;
  /** Name of its script and its style sheet in `dist`, without their endings. */
  readonly bundle: string;
  /** What is there until the page has drawn itself. */
  readonly reading: string;
  /** Sources of images by the content security policy; none by default. */
  readonly images?: string;
  /** What the script reads at its start: `data-` attributes of `<main>`. */
  readonly data?: Readonly<Record<string, string>>;
}

/** The document of a webview whose page is a bundle. It loads nothing else. */
export function bundledPage(
  webview: vscode.Webview,
  { extensionUri, title, bundle, reading, images, data = {} }: BundledPageParts,
): string {
  const address = (file: string): string =>
    escapeAttribute(
      webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, 'dist', file)).toString(),
    );
  const nonce = randomBytes(16).toString('base64url');
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    ...(images === undefined ? [] : [`img-src ${images}`]),
  ].join('; ');
  const attributes = Object.entries(data).map(
    ([key, value]) => ` data-${key}="${escapeAttribute(value)}"`,
  );
  return `<!DOCTYPE html>
<html lang="en" data-host="vscode">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeAttribute(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeAttribute(title)}</title>
<link rel="stylesheet" href="${address(`${bundle}.css`)}">
</head>
<body>
<main${attributes.join('')}><p>${escapeAttribute(reading)}</p></main>
<script nonce="${escapeAttribute(nonce)}" src="${address(`${bundle}.js`)}"></script>
</body>
</html>`;
}

/**
 * Opens an exported page: in the browser where the window is on the machine of the file, else in a
 * panel of the window, which no browser of that machine can show.
 */
export async function openPage(page: vscode.Uri, title: string): Promise<void> {
  const isHere = vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined;
  if (isHere && page.scheme === 'file' && (await vscode.env.openExternal(page))) return;
  const panel = vscode.window.createWebviewPanel(
    'swt-bench.exportedPage',
    title,
    vscode.ViewColumn.Active,
    // The page's own policy allows its one script and nothing else.
    { enableScripts: true, localResourceRoots: [], enableFindWidget: true },
  );
  panel.webview.html = Buffer.from(await vscode.workspace.fs.readFile(page)).toString('utf8');
}
