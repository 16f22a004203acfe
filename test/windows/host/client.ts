/**
 * The tests' side of the bridge (bridge.mjs). Tests run in the extension host; through these
 * functions they see and use the window as a person does. Lists in VS Code contain only the visible
 * rows.
 */
import { readFile } from 'node:fs/promises';
import { commands, type TextDocument, type TextEditor, type TextEditorEdit } from 'vscode';

/** A row of a tree or list. */
export interface Row {
  /** without the description */
  readonly label: string;
  /** the grey text after the label; of a finished test its duration unless it has a description */
  readonly description: string;
  readonly text: string;
  /** what a screen reader says, e.g. `test_alpha (Passed), in 12ms` */
  readonly aria: string;
  /** from 1 */
  readonly level: number;
  /** null for a leaf */
  readonly expanded: boolean | null;
  readonly selected: boolean;
  /** codicons of the row without those of its buttons, e.g. `testing-passed-icon` */
  readonly icons: readonly string[];
  /** labels of the row's buttons that show now */
  readonly actions: readonly string[];
}

/** A view in a side bar or panel. */
export interface Pane {
  readonly title: string;
  readonly expanded: boolean;
  /** text of the welcome content, empty when it does not show */
  readonly welcome: string;
  readonly buttons: readonly string[];
  readonly text: string;
}

export interface StatusBarItem {
  /** `<extension id>.<id given to createStatusBarItem>` */
  readonly id: string;
  /** without icons */
  readonly text: string;
  /** text with the names of icons, then the tooltip */
  readonly aria: string;
  readonly icons: readonly string[];
  /** `error`, `warning`, `prominent`, ... or empty */
  readonly kind: string;
  readonly color: string;
}

export interface EditorLine {
  /** line number shown in the margin; null for the rest of a wrapped line */
  readonly number: number | null;
  readonly text: string;
  /** texts of decorations before and after */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** CSS classes of what is drawn on the line and its margin, e.g. `line-insert` in a diff */
  readonly marks: readonly string[];
}

export interface GutterIcon {
  readonly line: number | null;
  /** file name of the icon, or its data: address; empty for codicons */
  readonly icon: string;
  /** e.g. `codicon-testing-passed-icon`, `testing-run-glyph` */
  readonly classes: readonly string[];
}

/** A visible text editor with what it draws beside its text. */
export interface Editor {
  readonly uri: string;
  readonly side: 'original' | 'modified' | 'single';
  readonly lines: readonly EditorLine[];
  readonly gutter: readonly GutterIcon[];
  readonly lenses: readonly { readonly above: number | null; readonly text: string }[];
  /** messages of failed tests beside their lines */
  readonly testMessages: readonly { readonly line: number | null; readonly text: string }[];
}

export interface Tab {
  readonly label: string;
  readonly description: string;
  readonly active: boolean;
  readonly dirty: boolean;
}

export interface Notification {
  readonly message: string;
  readonly source: string;
  readonly buttons: readonly string[];
  readonly severity: 'error' | 'warning' | 'info' | '';
}

export interface QuickInput {
  readonly title: string;
  readonly placeholder: string;
  readonly value: string;
  readonly message: string;
  readonly items: readonly { readonly label: string; readonly description: string }[];
}

/** A question that nothing else can be done before it is answered. */
export interface Dialog {
  readonly message: string;
  readonly detail: string;
  /** with VS Code's own *Cancel*, by name, since each system has its own order */
  readonly buttons: readonly string[];
}

/** A text of a decoration and where it stands. */
export interface LineText {
  readonly uri: string;
  readonly side: Editor['side'];
  readonly line: number | null;
  readonly text: string;
}

/**
 * The element to point at: the first match of the CSS selector, containing the text if both are
 * given.
 */
export interface Target {
  readonly selector?: string;
  readonly text?: string;
}

async function post<T>(action: string, body: object = {}): Promise<T> {
  const bridge = process.env['SWT_BENCH_BRIDGE'];
  if (bridge === undefined) throw new Error('SWT_BENCH_BRIDGE is not set: start through run.mjs');
  const response = await fetch(`${bridge}/${action}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as T & { error?: string };
  if (!response.ok) throw new Error(`${action}: ${answer.error ?? response.statusText}`);
  return answer;
}

const ask = <T>(query: string, options: object = {}): Promise<T> =>
  post<T>('evaluate', { query, options });

/**
 * Writes a picture of the window, or of the first element of `selector`.
 * @param name file name without ending
 * @param options width and height (CSS pixels) resize the window first, and it stays so
 * @returns path of the PNG file
 */
export async function screenshot(
  name: string,
  options: { width?: number; height?: number; selector?: string } = {},
): Promise<string> {
  return (await post<{ file: string }>('screenshot', { name, ...options })).file;
}

/** What a person currently sees. */
export const visible = {
  /** rows of the Testing view's tree */
  testingRows: () => ask<Row[]>('rows', { scope: '.test-explorer' }),
  /** rows of the view with this title, or of everything in sight */
  treeRows: (title?: string) => ask<Row[]>('rows', title === undefined ? {} : { title }),
  panes: () => ask<Pane[]>('panes'),
  /** items of the status bar whose text contains `text` */
  statusBar: async (text = ''): Promise<StatusBarItem[]> =>
    (await ask<StatusBarItem[]>('statusBar')).filter((item) => item.text.includes(text)),
  editors: () => ask<Editor[]>('editors'),
  /** texts that decorations put after lines, in all visible editors */
  decorationsAfter: async (): Promise<LineText[]> =>
    (await visible.editors()).flatMap(({ uri, side, lines }) =>
      lines.flatMap(({ number, after }) =>
        after.map((text) => ({ uri, side, line: number, text })),
      ),
    ),
  /** icons in the gutters of all visible editors */
  gutterIcons: async (): Promise<(GutterIcon & Pick<Editor, 'uri' | 'side'>)[]> =>
    (await visible.editors()).flatMap(({ uri, side, gutter }) =>
      gutter.map((icon) => ({ uri, side, ...icon })),
    ),
  codeLenses: async (): Promise<LineText[]> =>
    (await visible.editors()).flatMap(({ uri, side, lenses }) =>
      lenses.map(({ above, text }) => ({ uri, side, line: above, text })),
    ),
  tabs: () => ask<Tab[]>('tabs'),
  /**
   * Notifications that were not dismissed. Under its test driver VS Code does not show any by
   * itself, so the list of them is opened and closed again.
   */
  notifications: async (): Promise<Notification[]> => {
    await commands.executeCommand('notifications.showList');
    const list = await ask<Notification[]>('notifications');
    await commands.executeCommand('notifications.hideList');
    return list;
  },
  /** texts of the hovers in sight */
  hovers: () => ask<string[]>('hovers'),
  /** the open quick pick or input box */
  quickInput: () => ask<QuickInput | null>('quickInput'),
  /** the open modal dialog */
  dialog: () => ask<Dialog | null>('dialog'),
  /** texts of the visible elements of any CSS selector */
  texts: (selector: string) => ask<string[]>('texts', { selector }),
  /** texts of webviews: Markdown previews, panels */
  webviews: () => post<string[]>('frames'),
  /** elements of webviews by a CSS selector, and whether some of each is cut off or out of sight */
  inWebviews: (selector: string) =>
    post<readonly { readonly text: string; readonly isCut: boolean }[]>('elements', { selector }),
  /** of webviews that leave the mark `data shown`: when they were opened, had data and painted them, in epoch ms */
  paints: () =>
    post<{ readonly opened: number; readonly received: number; readonly painted: number }[]>(
      'paints',
    ),
  /** windows that were opened beside this one, with everything that can be read in them */
  otherWindows: () => post<{ readonly title: string; readonly text: string }[]>('windows'),
};

/** Writes a picture of the window that was opened beside this one. */
export async function screenshotOfOtherWindow(name: string): Promise<string> {
  return (await post<{ file: string }>('windowScreenshot', { name })).file;
}

/** Closes the windows that were opened beside this one. */
export const closeOtherWindows = (): Promise<null> => post<null>('closeWindows');

/** The text without a byte order mark, and with the line ends that an editor uses. */
const plain = (text: string): string => text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');

interface Clicking {
  readonly double?: boolean;
  readonly button?: 'left' | 'right';
  readonly modifiers?: string[];
  /** milliseconds until it fails where there is no such thing */
  readonly timeout?: number;
}

/** The actions of a person. */
export const hands = {
  /** a key or chord in playwright's spelling, e.g. `Control+Shift+P`, `Escape` */
  press: (press: string) => post<null>('keyboard', { press }),
  type: (type: string) => post<null>('keyboard', { type }),
  /** runs a command from the palette of another window, by its whole title */
  commandInOtherWindow: (command: string) => post<null>('commandInOtherWindow', { command }),
  click: (target: Target & Clicking) => post<null>('click', target),
  /** the first text of a webview that contains `text`, or element of `selector` that does */
  clickInWebview: (text: string, selector?: string) =>
    post<null>('clickInWebview', { text, ...(selector === undefined ? {} : { selector }) }),
  hover: (target: Target) => post<null>('hover', target),
  resize: (width: number, height: number) => post<null>('resize', { width, height }),
  /**
   * Changes the text of an editor. VS Code refuses an edit of a text that it is about to reload
   * from the disk. This function therefore first waits for the reload, and retries where VS Code
   * refuses.
   */
  edit: async (editor: TextEditor, change: (edit: TextEditorEdit) => void): Promise<void> => {
    const { document } = editor;
    await asOnDisk(document);
    await waitFor(`an edit of ${document.uri.path}`, async () => editor.edit(change));
  },
};

/** The actions of a person in the open quick pick or input box. */
export const inQuickInput = {
  /** Types once the box has the focus: earlier keys would go elsewhere. */
  async type(text: string): Promise<null> {
    await waitFor('the input box', () => visible.texts('.quick-input-widget input:focus'));
    return hands.type(text);
  },
  /** Presses Enter, once the box has the focus. */
  async accept(): Promise<null> {
    await waitFor('the input box', () => visible.texts('.quick-input-widget input:focus'));
    return hands.press('Enter');
  },
  /** Presses Escape until the open box is closed. */
  async cancel(): Promise<void> {
    const { title, placeholder } = await waitFor('a question', () => visible.quickInput());
    await waitFor(`the end of "${title || placeholder}"`, async () => {
      const open = await visible.quickInput();
      if (open?.title !== title || open.placeholder !== placeholder) return true;
      await hands.press('Escape');
      throw new Error(JSON.stringify(open));
    });
  },
  /**
   * Chooses the first entry that contains the text.
   * @param title of the quick pick, or a part of it
   */
  async choose(text: string, title = ''): Promise<null> {
    await waitFor(`the entry "${text}" ${title === '' ? '' : `of "${title}"`}`, async () => {
      const input = await visible.quickInput();
      const isThere =
        input?.title.includes(title) === true &&
        input.items.some(({ label }) => label.includes(text));
      if (!isThere) throw new Error(JSON.stringify(input));
      return true;
    });
    return hands.click({ selector: '.quick-input-list .monaco-list-row', text });
  },
};

/**
 * Answers the modal dialog.
 *
 * @param button its whole label
 * @param message of the dialog, or a part of it
 * @param picture name of a picture to take before the answer
 */
export async function answerDialog(
  button: string,
  message = '',
  picture?: string,
): Promise<Dialog> {
  const shown = await waitFor(`a dialog "${message}" with "${button}"`, async () => {
    const open = await visible.dialog();
    if (open?.message.includes(message) === true && open.buttons.includes(button)) return open;
    throw new Error(JSON.stringify(open));
  });
  if (picture !== undefined) await screenshot(picture);
  const selector = `.monaco-dialog-box .dialog-buttons .monaco-button >> text=/^${button}$/`;
  await hands.click({ selector });
  await waitFor(`the end of "${shown.message}"`, async () => {
    const open = await visible.dialog();
    return open?.message !== shown.message;
  });
  return shown;
}

/** Closes all editors, and drops what is not saved, for which VS Code asks. */
export async function closeAllEditors(): Promise<void> {
  const closing = commands.executeCommand('workbench.action.closeAllEditors');
  let isDone = false;
  const done = (): void => void (isDone = true);
  closing.then(done, done);
  while (!isDone) {
    const open = await visible.dialog();
    if (open?.buttons.includes("Don't Save") === true) await answerDialog("Don't Save");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await closing;
}

/** The rows of the Testing view once every file, class and parametrised test is unfolded. */
export async function unfoldedTests(): Promise<Row[]> {
  for (;;) {
    const rows = await visible.testingRows();
    if (rows.every(({ expanded }) => expanded !== false)) return rows;
    const selector = '.test-explorer .monaco-list-row[aria-expanded="false"] .monaco-tl-twistie';
    // A row may be gone or unfolded before the click.
    await hands.click({ selector, timeout: 2000 }).catch(() => undefined);
  }
}

/** Writes a line to the output of the run, from places where `console.log` may not reach it. */
export const printLine = (line: string): Promise<null> => post<null>('print', { line });

/** Reports the counts of the suite to the runner. */
export const reportCounts = (counts: {
  passed: number;
  failed: number;
  skipped: number;
}): Promise<null> => post<null>('result', counts);

/** Waits until VS Code has read what something else wrote to the file of a document. */
export async function asOnDisk(document: TextDocument): Promise<void> {
  await waitFor(`the text of ${document.uri.path} that is on disk`, async () => {
    if (document.uri.scheme !== 'file' || document.isDirty) return true;
    const onDisk = await readFile(document.uri.fsPath, 'utf8');
    return plain(onDisk) === plain(document.getText());
  });
}

/**
 * Repeats a probe until its result is neither false, undefined nor an empty list.
 * @param what in words, for the error
 * @param probe may reject: then it is repeated too
 * @param limit in milliseconds; generous, since a busy machine must not fail a test
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | Promise<T>,
  limit = 240_000,
): Promise<NonNullable<T>> {
  const end = Date.now() + limit;
  for (let last = ''; ;) {
    try {
      const answer = await probe();
      const empty = Array.isArray(answer) && answer.length === 0;
      if (answer !== undefined && answer !== null && answer !== false && !empty) return answer;
      last = JSON.stringify(answer) ?? 'undefined';
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    if (Date.now() > end) {
      throw new Error(`${what}: not seen within ${limit / 1000} s, last: ${last}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Enters a path in VS Code's own file dialog. */
export async function answerFileDialog(path: string): Promise<void> {
  await waitFor('the dialog', async () => {
    const value = (await visible.quickInput())?.value;
    return value !== undefined && value.startsWith('/');
  });
  const isThere = async (): Promise<boolean> => (await visible.quickInput())?.value === path;
  // The dialog sets a value of its own a moment after it appears.
  for (let turn = 0; turn < 5; turn++) {
    await hands.press('Control+a');
    await hands.type(path);
    if (await waitFor('the path', isThere, 2000).catch(() => false)) break;
  }
  await waitFor('the path', isThere);
  const isGone = async (): Promise<boolean> => (await visible.quickInput()) === null;
  // The dialog checks the typed path a moment later, and refuses before that.
  for (let turn = 0; turn < 5; turn++) {
    await hands.press('Enter');
    if (await waitFor('the dialog to be gone', isGone, 3000).catch(() => false)) return;
  }
  throw new Error('the dialog stays');
}
