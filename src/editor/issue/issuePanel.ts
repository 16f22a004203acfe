import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { z } from 'zod';
import type { Instance } from '../../domain/instance';
import type { ReferenceTarget, ResolveReference } from '../../python/references';
import { windowConfiguration } from '../shell/configurationFile';
import { issueViewType, settingKeys } from '../shell/names';
import { problemText } from '../shell/problems';
import { issueDocument, messageDocument, splitIssue, type PageResources } from './issuePage';
import { literalDunders, renderIssue } from './renderIssue';
import { escapeHtml } from './sanitise';

/** What the panel needs of an instance, open or only listed. */
export interface IssueSource {
  readonly id: string;
  readonly extensionUri: vscode.Uri;
  /** @throws HumanError when the dataset or the row is gone; the panel shows its message */
  instance(): Promise<Instance>;
  isRevealed(): boolean;
  /** Asks the developer and remembers the answer. The panel redraws afterwards. */
  reveal(): Promise<void>;
  /** Finds places in R; undefined when there is no tree of R, so that nothing becomes a link. */
  resolver(): Promise<ResolveReference | undefined>;
  /** Shows a place of R in `column`, which is another column than the panel's. */
  openReference(place: ReferenceTarget, column: vscode.ViewColumn): Promise<void>;
  /** Opens the instance as a workspace; absent if it is open. */
  readonly openInstance?: (() => Promise<void>) | undefined;
  /**
   * Makes the environment of the instance. Undefined unless it is open, and where an image is its
   * environment, which a setting can change at any time.
   */
  readonly makeEnvironment: (() => Promise<void>) | undefined;
  /** Called when the user moves about in the page. */
  read(): void;
  /** Shows the error of handling a message of the page. */
  failed(error: unknown): void;
}

/** The messages of the page. A reference is the index of a place that was found before. */
const message = z.discriminatedUnion('do', [
  z.object({ do: z.literal('open'), reference: z.number().int().nonnegative() }),
  z.object({ do: z.literal('read') }),
  z.object({ do: z.literal('reveal') }),
  z.object({ do: z.literal('environment') }),
  z.object({ do: z.literal('openInstance') }),
]);

/** The part of the page's state that `restore` reads. The page adds keys of its own. */
const state = z.object({ id: z.string().min(1).max(500) });

/** The issue of an instance beside the code: one panel for each instance. */
export class IssuePanel implements vscode.Disposable {
  private static readonly panels = new Map<string, IssuePanel>();

  /**
   * Shows the issue, in its existing panel or in a new one.
   *
   * @param inPassing the keyboard stays where it is, and the next issue in passing takes the place
   *   of this one
   */
  static show(source: IssueSource, column: vscode.ViewColumn, inPassing = false): IssuePanel {
    const known = IssuePanel.panels.get(source.id);
    const passing = [...IssuePanel.panels.values()].filter((each) => each.inPassing);
    const shown = known ?? IssuePanel.openPanel(source, column, inPassing);
    if (known !== undefined) {
      known.panel.reveal(undefined, inPassing);
      known.update();
    }
    if (inPassing) {
      for (const each of passing) if (each !== shown) each.dispose();
    } else {
      shown.inPassing = false;
    }
    return shown;
  }

  private static openPanel(
    source: IssueSource,
    column: vscode.ViewColumn,
    inPassing: boolean,
  ): IssuePanel {
    const panel = vscode.window.createWebviewPanel(
      issueViewType,
      titleOf(source.id),
      {
        viewColumn: column,
        preserveFocus: inPassing || column === vscode.ViewColumn.Beside,
      },
      { enableFindWidget: true },
    );
    const opened = new IssuePanel(panel, source);
    opened.inPassing = inPassing;
    return opened;
  }

  /**
   * Fills a panel that VS Code brings back after a reload.
   *
   * @param saved the state that the page stored; it is untrusted
   * @param sourceOf returns the instance of an id; undefined closes the panel
   */
  static async restore(
    panel: vscode.WebviewPanel,
    saved: unknown,
    sourceOf: (id: string) => Promise<IssueSource | undefined>,
  ): Promise<void> {
    const { data } = state.safeParse(saved);
    const source = data === undefined ? undefined : await sourceOf(data.id);
    if (source === undefined || IssuePanel.panels.has(source.id)) {
      panel.dispose();
      return;
    }
    new IssuePanel(panel, source);
  }

  /** Redraws the panel of one instance, or all: after a reveal, or once a tree exists. */
  static updateAll(id?: string): void {
    for (const panel of IssuePanel.panels.values()) {
      if (id === undefined || panel.source.id === id) panel.update();
    }
  }

  private readonly subscriptions: readonly vscode.Disposable[];
  private places: readonly ReferenceTarget[] = [];
  private drawing = 0;
  private drawn = false;
  private disposed = false;
  private inPassing = false;

  private constructor(
    private readonly panel: vscode.WebviewPanel,
    private readonly source: IssueSource,
  ) {
    const media = vscode.Uri.joinPath(source.extensionUri, 'media');
    panel.webview.options = { enableScripts: true, localResourceRoots: [media] };
    panel.title = titleOf(source.id);
    this.subscriptions = [
      panel.webview.onDidReceiveMessage((received: unknown) => void this.receive(received)),
      panel.onDidDispose(() => this.dispose()),
      windowConfiguration.onDidChange(() => this.update()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(settingKeys.engine)) this.update();
      }),
    ];
    IssuePanel.panels.set(source.id, this);
    this.update();
  }

  /** Redraws the page, which keeps its scroll position. */
  update(): void {
    void this.draw();
  }

  private async draw(): Promise<void> {
    const turn = ++this.drawing;
    const resources = this.resources();
    if (!this.drawn) {
      const reading = vscode.l10n.t('Reading the issue…');
      this.set(messageDocument(this.source.id, reading, resources));
    }
    const places: ReferenceTarget[] = [];
    const html = await this.page(places, resources).catch((error: unknown) =>
      messageDocument(this.source.id, problemText(error), resources),
    );
    if (turn !== this.drawing) return; // A later change has already drawn the page.
    this.places = places;
    this.drawn = true;
    this.set(html);
  }

  private async page(places: ReferenceTarget[], resources: PageResources): Promise<string> {
    const instance = await this.source.instance();
    const resolve = await this.source.resolver().catch((error: unknown) => {
      this.source.failed(error); // An issue without links is still worth reading.
      return undefined;
    });
    const { body } = splitIssue(instance.issue);
    const rendered = await renderIssue(await markdown(body), resolve, places);
    const source = await renderIssue(plain(body), resolve, places);
    // Read last, so that what was hidden meanwhile is not drawn.
    const revealed = this.source.isRevealed()
      ? { hints: await renderIssue(await markdown(instance.hints), resolve, places) }
      : undefined;
    const canMakeEnvironment = this.source.makeEnvironment !== undefined;
    const canOpen = this.source.openInstance !== undefined;
    return issueDocument(
      { instance, body: rendered, source, revealed, canMakeEnvironment, canOpen },
      resources,
    );
  }

  private set(html: string): void {
    if (!this.disposed) this.panel.webview.html = html;
  }

  private resources(): PageResources {
    const { webview } = this.panel;
    const address = (file: string): string =>
      webview.asWebviewUri(vscode.Uri.joinPath(this.source.extensionUri, 'media', file)).toString();
    return {
      script: address('issue.js'),
      style: address('issue.css'),
      cspSource: webview.cspSource,
      nonce: randomBytes(16).toString('base64url'),
      language: vscode.env.language,
    };
  }

  private async receive(received: unknown): Promise<void> {
    const { data } = message.safeParse(received);
    if (data === undefined) return;
    try {
      if (data.do === 'read') {
        this.source.read();
        return;
      }
      if (data.do === 'reveal') {
        await this.source.reveal();
        this.update();
        return;
      }
      if (data.do === 'openInstance') {
        await this.source.openInstance?.();
        return;
      }
      if (data.do === 'environment') {
        await this.source.makeEnvironment?.();
        return;
      }
      const place = this.places[data.reference];
      if (place !== undefined) await this.source.openReference(place, this.columnForCode());
    } catch (error) {
      this.source.failed(error);
    }
  }

  /** The column for code: another group of editors than the issue's, if there is one. */
  private columnForCode(): vscode.ViewColumn {
    const other = vscode.window.tabGroups.all.find(
      (group) => group.viewColumn !== this.panel.viewColumn,
    );
    return other?.viewColumn ?? vscode.ViewColumn.Beside;
  }

  dispose(): void {
    if (this.disposed) return;
    this.disposed = true;
    this.drawing++;
    IssuePanel.panels.delete(this.source.id);
    for (const each of this.subscriptions) each.dispose();
    this.panel.dispose();
  }
}

const titleOf = (id: string): string => vscode.l10n.t('Issue of {0}', id);

const plain = (text: string): string => `<pre>${escapeHtml(text)}</pre>`;

/**
 * HTML from VS Code's own renderer, which is not sanitised; plain text when the renderer is
 * missing.
 */
async function markdown(text: string): Promise<string> {
  try {
    const html: unknown = await vscode.commands.executeCommand(
      'markdown.api.render',
      literalDunders(text),
    );
    return typeof html === 'string' ? html : plain(text);
  } catch {
    return plain(text); // The built-in extension is disabled.
  }
}
