import * as vscode from 'vscode';

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
