import * as vscode from 'vscode';
import { Cancelled, type HumanError, type Reporter } from '../../domain/work';
import type { Cost } from '../../method/generation';
import type { MethodCandidate } from '../../method/method';
import { told } from '../../method/models';
import { patchDigest } from '../instance/edits';
import type { OpenInstance } from '../instance/openInstance';
import { showProblem } from '../shell/problems';
import { afterAWhile, withNotification } from '../shell/progress';
import { ChoosableModels } from './choosableModels';
import { CandidateDocuments } from './documents';
import { generationOfRow, rowOfKind, type GeneratedNode } from './generatedTreeRow';
import {
  Generations,
  type AskedRun,
  type FinishedGeneration,
  type Generation,
  type GenerationKind,
} from './generations';
import type { Section } from './runRow';

/** What the sections of the Generated view have in common. */
export interface GeneratedParts {
  readonly context: vscode.ExtensionContext;
  readonly open: OpenInstance;
  readonly reporter: Reporter;
  /** The selected row of the view. */
  readonly selected: () => unknown;
}

interface SectionKind extends GenerationKind {
  readonly section: Section;
  /** Distinguishes its documents from those of other views. */
  readonly authority: string;
  /** The context key that is set while it has runs. */
  readonly contextKey: string;
  /** Says that its runs are being read. */
  readonly reading: string;
  /** Says that it has no run. */
  readonly none: () => HumanError;
}

/** What else the rows of a section show. */
interface ShownBeside extends vscode.Disposable {
  readonly onDidChange: vscode.Event<void>;
  load?(): Promise<void>;
}

/**
 * What models write for the open instance, in one section of the Generated view: its runs, their
 * documents, and the rows that its commands are about.
 */
export abstract class GeneratedRuns implements vscode.Disposable {
  protected readonly generations: Generations;
  protected readonly documents: CandidateDocuments;
  protected readonly models: ChoosableModels;
  private readonly changed = new vscode.EventEmitter<void>();
  /** Fires when other rows are to be shown. */
  readonly onDidChange = this.changed.event;
  private readonly subscriptions: readonly vscode.Disposable[];
  private readonly loaded: Promise<void>;

  protected constructor(
    protected readonly parts: GeneratedParts,
    private readonly kind: SectionKind,
    beside: ShownBeside,
  ) {
    const { context, open, reporter } = parts;
    const generations = new Generations(context, open, reporter, kind);
    this.generations = generations;
    this.models = new ChoosableModels(context, reporter);
    const all = (): MethodCandidate[] =>
      generations.list.flatMap(({ candidates }) => [...candidates.values()]);
    this.documents = new CandidateDocuments(
      open,
      {
        patchOf: (digest) =>
          all().find(({ patch }) => patchDigest(patch.patch) === digest)?.patch.patch,
        answerOf: (key) => all().find(({ answer }) => answer?.key === key)?.answer,
        actsOf: (key) => generations.actsOf(key),
        promptOf: (answer) => generations.promptOf(answer),
      },
      kind.authority,
    );
    const redraw = (): void => this.changed.fire();
    this.subscriptions = [
      generations,
      beside,
      generations.onDidChange(() => {
        const has = generations.list.length > 0;
        void vscode.commands.executeCommand('setContext', kind.contextKey, has);
        redraw();
      }),
      beside.onDidChange(redraw),
      open.onDidChange(redraw),
      this.changed,
    ];
    // After a failed read the list is empty; all else works.
    this.loaded = Promise.all([generations.load(), beside.load?.()]).then(
      () => undefined,
      (error: unknown) => reporter.log(error instanceof Error ? error.message : String(error)),
    );
  }

  /** Resolves when the runs of earlier windows are read; says so when that takes long. */
  protected ready(): Promise<void> {
    return afterAWhile(this.kind.reading, () => this.loaded);
  }

  /** Content of a document about a candidate or fix. */
  async contentOf(uri: vscode.Uri): Promise<string> {
    await this.loaded;
    return this.documents.contentOf(uri);
  }

  /** Runs a method, and shows its result with next steps. */
  protected async start(run: AskedRun): Promise<void> {
    const title = vscode.l10n.t('{0} with {1}', run.method.title, run.model.name);
    const { generations } = this;
    const work = async (reporter: Reporter, signal: AbortSignal): Promise<FinishedGeneration> => {
      const progress = generations.onDidChange(() => {
        const words = generations.running && this.progressOf?.(generations.running);
        if (words !== undefined) reporter.progress(words);
      });
      try {
        return await generations.start(run, signal, reporter);
      } catch (error) {
        if (signal.aborted) throw new Cancelled();
        throw error;
      } finally {
        progress.dispose();
      }
    };
    const { reporter, open } = this.parts;
    const finished = await withNotification(title, reporter, work, open.marker.id);
    if (finished !== undefined) void this.tell(finished).catch(this.show);
  }

  /** How far a run is, where its method does not say so itself. */
  protected progressOf?(running: Generation): string | undefined;

  /** Shows the result of a run and offers next steps. */
  protected abstract tell(finished: FinishedGeneration): Promise<void>;

  protected spent({ inputTokens, outputTokens, dollars = 0 }: Cost): string {
    return told({ tokens: inputTokens + outputTokens, dollars });
  }

  /** The row that a command is about: its argument, else the selected row. */
  protected rowIn<Kind extends GeneratedNode['kind']>(
    argument: unknown,
    ...kinds: readonly Kind[]
  ): Extract<GeneratedNode, { readonly kind: Kind }> | undefined {
    return rowOfKind([argument, this.parts.selected()], ...kinds);
  }

  /** The run of a row, else of the selected row, else the last one. */
  protected generationIn(argument: unknown): Generation {
    const rows = [argument, this.parts.selected()];
    const found = generationOfRow(this.kind.section, rows, this.generations.list);
    if (found === undefined) throw this.kind.none();
    return found;
  }

  protected readonly show = (error: unknown): void => showProblem(error, this.parts.reporter);

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}
