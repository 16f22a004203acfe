import * as vscode from 'vscode';
import { z } from 'zod';
import { Cancelled, HumanError, type Reporter } from '../../domain/work';
import { agentlessSettings } from '../../method/agentless';
import { repairMethods, methodNamed, methodOf } from '../../method/methods';
import type { Method } from '../../method/method';
import { told, embeddingBeside, type EmbeddingUse } from '../../method/models';
import type { AgentlessNumbers } from './agentlessNumbers';
import { ChoosableModels } from './choosableModels';
import { chooseRun, estimateParts, type AskedNames } from './chooseRun';
import { CandidateDocuments } from './documents';
import { type EstimateParts, embeddedTokens } from './estimatedCost';
import { generationOfRow } from './generatedTreeRow';
import {
  Generations,
  type AskedRun,
  type FinishedGeneration,
  type Generation,
} from './generations';
import { embeddingOfRecord, type GenerationRecord } from './records';
import { configuredEmbedding, configuredNumbers, generateSettings } from './settings';
import { refuseUntrusted } from '../shell/workspaceTrust';
import { patchDigest } from '../instance/edits';
import type { OpenInstance } from '../instance/openInstance';
import { contextKeys, fixAuthority, fixCommandIds } from '../shell/names';
import { showProblem } from '../shell/problems';
import { afterAWhile, withNotification } from '../shell/progress';
import { withoutLinkMarkup } from '../shell/plainText';
import { distinctFixes, type FixNode, type ShownFixes, type FoundPlace } from './fixTreeRow';
import { TestsOnFixes, type NamedPatch } from './testsOnFixes';

type CommandId = (typeof fixCommandIds)[keyof typeof fixCommandIds];
type Fix = Omit<Extract<FixNode, { kind: 'fix' }>, 'kind'>;

const namesSchema = z.object({ method: z.string().optional(), model: z.string().optional() });

/**
 * Code patches that models propose for the open instance: commands, rows and documents. An author
 * without X* runs the tests on R with one of them. Nothing here knows X* or T*.
 */
export class Fixes implements vscode.Disposable {
  private readonly generations: Generations;
  private readonly documents: CandidateDocuments;
  private readonly models: ChoosableModels;
  private readonly changed = new vscode.EventEmitter<void>();
  /** Fires when other rows are to be shown. */
  readonly onDidChange = this.changed.event;
  private readonly subscriptions: vscode.Disposable[];
  private readonly loaded: Promise<void>;
  private readonly tests: TestsOnFixes;

  constructor(
    context: vscode.ExtensionContext,
    private readonly open: OpenInstance,
    private readonly reporter: Reporter,
    /** The selected row of the view. */
    private readonly selected: () => unknown,
  ) {
    const generations = new Generations(context, open, reporter, {
      kept: 'repair',
      methodOf: methodOfRecord,
      busy: () =>
        new HumanError(
          vscode.l10n.t('A model is already proposing fixes'),
          vscode.l10n.t('Wait for it, or cancel it'),
        ),
    });
    this.generations = generations;
    this.models = new ChoosableModels(context, reporter);
    this.tests = new TestsOnFixes(open, reporter);
    this.documents = new CandidateDocuments(
      open,
      {
        patchOf: (digest) =>
          generations.list
            .flatMap(distinctFixes)
            .find(({ patch }) => patchDigest(patch.patch) === digest)?.patch.patch,
        answerOf: () => undefined,
        actsOf: () => [],
        promptOf: () => Promise.resolve(undefined),
      },
      fixAuthority,
    );
    this.subscriptions = [
      generations,
      this.tests,
      generations.onDidChange(() => {
        const has = generations.list.length > 0;
        void vscode.commands.executeCommand('setContext', contextKeys.fixes, has);
        this.changed.fire();
      }),
      this.tests.onDidChange(() => this.changed.fire()),
      this.changed,
    ];
    this.loaded = generations
      .load()
      .catch((error: unknown) =>
        reporter.log(error instanceof Error ? error.message : String(error)),
      );
  }

  /** What the view shows of them, the latest run first. */
  get shown(): ShownFixes {
    return { generations: this.generations.list, testsOn: (patch) => this.tests.of(patch) };
  }

  /** Content of a document of a fix. */
  async contentOf(uri: vscode.Uri): Promise<string> {
    await this.loaded;
    return this.documents.contentOf(uri);
  }

  /**
   * Runs a command.
   *
   * @param argument a row of the view; for proposing also `{ method, model }` by their names, which
   *   skips the questions
   * @throws HumanError, Cancelled
   */
  async run(id: CommandId, argument: unknown): Promise<void> {
    const title = vscode.l10n.t('Reading the fixes of {0}', this.open.marker.id);
    await afterAWhile(title, () => this.loaded);
    switch (id) {
      case fixCommandIds.propose:
        return this.propose(namesSchema.safeParse(argument).data ?? {});
      case fixCommandIds.preview: {
        const { patch, name } = this.fixIn(argument);
        return this.documents.preview(patch, name);
      }
      case fixCommandIds.runTests:
        return this.tests.runOn(this.fixIn(argument));
      case fixCommandIds.runTestsOnAll:
        return this.tests.runOnAll(this.fixesIn(argument));
      case fixCommandIds.openPlace:
        return isNode(argument) && argument.kind === 'place'
          ? this.openPlace(argument.place)
          : undefined;
      case fixCommandIds.resume: {
        return this.propose(this.generationIn(argument).record);
      }
      case fixCommandIds.remove: {
        const generation = this.generationIn(argument);
        const { title } = methodNamed(generation.record.method);
        return this.generations.askToForget(generation, vscode.l10n.t('Forget Fixes'), title);
      }
    }
  }

  /** @param asked names, or the record of a run to resume, which has settings of its own */
  private async propose(asked: AskedNames | GenerationRecord): Promise<void> {
    refuseUntrusted();
    const before = 'startedAt' in asked ? asked : undefined;
    const numbers = before === undefined ? configuredNumbers() : (before.agentless ?? {});
    const embedding = before === undefined ? configuredEmbedding() : embeddingOfRecord(before);
    const chosen = await chooseRun(asked, this.open, {
      title: vscode.l10n.t('Propose Fixes'),
      methods: repairMethods(agentlessSettings(numbers)),
      models: this.models,
      parts: await afterAWhile(vscode.l10n.t('Estimating the cost'), async () => ({
        ...(await estimateParts(this.open)),
        embedding: embedding && (await this.estimateVectors(embedding, numbers)),
      })),
    });
    if (chosen === undefined) return;
    const { method, model } = chosen;
    const embeds = embedding !== undefined && method.embeds === true;
    const finished = await this.work({
      ...chosen,
      // No repair method is an agent, so the limits do not count.
      limits: generateSettings().agentLimits,
      numbers: method.name === 'agentless' ? numbers : {},
      embedding: embeds ? this.models.embedding(embeddingBeside(embedding, model)) : undefined,
    });
    if (finished !== undefined) void this.tell(finished).catch(this.show);
  }

  /** What an embedding model gets at most. */
  private async estimateVectors(
    embedding: EmbeddingUse,
    numbers: AgentlessNumbers,
  ): Promise<EstimateParts['embedding']> {
    const { base } = await this.open.trees();
    const paths = await this.open.filesOfR();
    return { ...embedding, tokens: await embeddedTokens(base, paths, agentlessSettings(numbers)) };
  }

  private work(run: AskedRun): Promise<FinishedGeneration | undefined> {
    const title = vscode.l10n.t('{0} with {1}', run.method.title, run.model.name);
    const work = async (reporter: Reporter, signal: AbortSignal): Promise<FinishedGeneration> => {
      try {
        return await this.generations.start(run, signal, reporter);
      } catch (error) {
        if (signal.aborted) throw new Cancelled();
        throw error;
      }
    };
    return withNotification(title, this.reporter, work, this.open.marker.id);
  }

  /** Shows the result of a run and offers next steps. */
  private async tell({ generation, entry }: FinishedGeneration): Promise<void> {
    const { title } = methodNamed(generation.record.method);
    if ('failure' in entry) {
      throw new HumanError(
        vscode.l10n.t('{0} has proposed nothing: {1}', title, entry.failure),
        vscode.l10n.t('Its answers are kept: the same command resumes the run'),
      );
    }
    const { choice, cost } = entry;
    const spent = told({
      tokens: cost.inputTokens + cost.outputTokens,
      dollars: cost.dollars ?? 0,
    });
    const [fix] = distinctFixes(generation);
    if (fix === undefined) {
      const text = vscode.l10n.t('{0}: no fix applies to R: {1} ({2})', title, choice.why, spent);
      void vscode.window.showWarningMessage(withoutLinkMarkup(text));
      return;
    }
    const preview = vscode.l10n.t('Preview');
    const runTests = vscode.l10n.t('Run My Tests on It');
    const text = vscode.l10n.t('{0}: {1} ({2})', title, choice.why, spent);
    const answer = await vscode.window.showInformationMessage(
      withoutLinkMarkup(text),
      preview,
      runTests,
    );
    const row = { kind: 'fix', generation, fix } as const;
    if (answer === preview) await this.run(fixCommandIds.preview, row);
    if (answer === runTests) await this.run(fixCommandIds.runTests, row);
  }

  private async openPlace({ path, lines }: FoundPlace): Promise<void> {
    // A model wrote the path: only files of R are opened.
    const { folder } = this.open;
    if (!(await this.open.filesOfR()).includes(path)) {
      throw new HumanError(
        vscode.l10n.t('R has no file {0}', path),
        vscode.l10n.t('The model named it; choose another place'),
      );
    }
    const at = lines === undefined ? undefined : new vscode.Range(lines[0] - 1, 0, lines[1], 0);
    await vscode.window.showTextDocument(vscode.Uri.joinPath(folder.uri, path), {
      preview: true,
      ...(at !== undefined && { selection: at }),
    });
  }

  /** The different fixes of the run of a row, else of all runs. */
  private fixesIn(argument: unknown): NamedPatch[] {
    const generations =
      isNode(argument) && argument.kind === 'fixes' ? [argument.generation] : this.generations.list;
    return generations.flatMap((generation) =>
      distinctFixes(generation).map((fix) => ({
        patch: fix.patch.patch,
        name: nameOf({ generation, fix }),
      })),
    );
  }

  /** The fix of a row, else of the selected row, else the best of the last run. */
  private fixIn(argument: unknown): NamedPatch {
    const row = [argument, this.selected()].find(
      (each): each is Extract<FixNode, { kind: 'fix' }> => isNode(each) && each.kind === 'fix',
    );
    const [generation] = this.generations.list;
    const [best] = generation === undefined ? [] : distinctFixes(generation);
    const found: Fix | undefined = row ?? (generation && best && { generation, fix: best });
    if (found === undefined) {
      throw new HumanError(
        vscode.l10n.t('There is no fix'),
        vscode.l10n.t('Run "SWT-Bench: Propose Fixes…"'),
      );
    }
    return { patch: found.fix.patch.patch, name: nameOf(found) };
  }

  private generationIn(argument: unknown): Generation {
    const rows = [argument, this.selected()];
    const generation = generationOfRow('fixes', rows, this.generations.list);
    if (generation !== undefined) return generation;
    throw new HumanError(
      vscode.l10n.t('No model has proposed a fix for this instance'),
      vscode.l10n.t('Run "SWT-Bench: Propose Fixes…"'),
    );
  }

  private readonly show = (error: unknown): void => showProblem(error, this.reporter);

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

function nameOf({ generation, fix }: Fix): string {
  const place = distinctFixes(generation).indexOf(fix) + 1;
  const { title } = methodNamed(generation.record.method);
  return vscode.l10n.t('Fix {0} of {1}', place, title);
}

/** The method of a record, with the numbers of that time. */
function methodOfRecord({ method: name, agentless }: GenerationRecord): Method {
  const method = methodOf(name, repairMethods(agentlessSettings(agentless)));
  if (method === undefined) throw new Error(`${name} is no method of repair`);
  return method;
}

const isNode = (value: unknown): value is FixNode =>
  typeof value === 'object' && value !== null && 'kind' in value;
