import { join } from 'node:path';
import * as vscode from 'vscode';
import { RetryingMemo, Cancelled, HumanError, type Reporter } from '../../domain/work';
import { createPythonParser, type PythonParser } from '../../python/parser';
import { bundledCandidates } from '../instance/bundled';
import { customDiffCommandIds, customDiffLanguage } from '../shell/names';
import type { OpenInstance } from '../instance/openInstance';
import type { InstanceSource } from '../instance/instanceRoles';
import { showProblem } from '../shell/problems';
import { applyCustomDiff } from './applyCustomDiff';
import { copyChanges } from './copyChanges';
import { customDiffOf } from './diffInEditor';
import { CustomDiffLanguageClient } from './languageClient';
import { Previews } from './previews';
import { showUnifiedDiff } from './unifiedDiff';

type CommandId = (typeof customDiffCommandIds)[keyof typeof customDiffCommandIds];

/** Everything about custom diffs in a window: commands, previews and the language server. */
export class CustomDiffCommands implements vscode.Disposable {
  readonly previews = new Previews(() => this.python());
  private language: CustomDiffLanguageClient | undefined;
  private readonly parsing = new RetryingMemo(() =>
    createPythonParser((file) => join(this.extension, 'dist', file)),
  );

  constructor(
    private readonly extension: string,
    private readonly reporter: Reporter,
  ) {}

  /**
   * Starts the language server, once. Shows an error if that fails; the commands work without it.
   */
  async startLanguage(): Promise<void> {
    if (this.language !== undefined) return;
    this.language = new CustomDiffLanguageClient(join(this.extension, 'dist'));
    await this.language.start().catch((error: unknown) => showProblem(error, this.reporter));
  }

  /**
   * Runs a command.
   *
   * @param open the open instance, if any
   * @param argument the custom diff; see {@link customDiffOf}
   * @throws HumanError
   */
  async run(id: CommandId, open: OpenInstance | undefined, argument: unknown): Promise<void> {
    try {
      await this.runToEnd(id, open, argument);
    } catch (error) {
      // A person who cancelled needs no message.
      if (!(error instanceof Cancelled)) throw error;
    }
  }

  private async runToEnd(
    id: CommandId,
    open: OpenInstance | undefined,
    argument: unknown,
  ): Promise<void> {
    const { preview, apply, convert, copy, openSample } = customDiffCommandIds;
    switch (id) {
      case preview:
        return this.previews.show(await customDiffOf(argument));
      case apply:
        return applyCustomDiff(await customDiffOf(argument), await this.python());
      case convert:
        return showUnifiedDiff(await customDiffOf(argument), await this.python());
      case copy:
        return copyChanges(opened(open), await this.python());
      case openSample:
        return this.showSample(opened(open));
    }
  }

  private async showSample(open: InstanceSource): Promise<void> {
    const candidates = await bundledCandidates(this.extension, open);
    const sample = candidates.find((each) => each.model === 'custom-format');
    const document = await vscode.workspace.openTextDocument({
      language: customDiffLanguage,
      content: sample?.patch ?? '',
    });
    await vscode.window.showTextDocument(document, { preview: false });
  }

  private python(): Promise<PythonParser> {
    return this.parsing.get();
  }

  dispose(): void {
    this.previews.dispose();
    void this.parsing.made().then((python) => python?.dispose());
    void this.close();
  }

  /** Ends the language server's process. */
  async close(): Promise<void> {
    await this.language?.close();
  }
}

function opened(open: OpenInstance | undefined): OpenInstance {
  if (open !== undefined) return open;
  throw new HumanError(
    vscode.l10n.t('No instance is open'),
    vscode.l10n.t('Open one from the Instances view first'),
  );
}
