import * as vscode from 'vscode';
import { z } from 'zod';
import { Cancelled, HumanError } from '../../domain/humanError';
import type { Reporter } from '../../domain/reporter';
import { repairMethods } from '../../method/agentless/repairMethods';
import type { Method } from '../../method/method';
import { methodNamed, methodOf } from '../../method/methods';
import { told } from '../../method/models/budget';
import { tokenCounter } from '../../method/tokens';
import { CandidateDocuments } from '../generate/documents';
import { ChoosableModels, type ChosenModel } from '../generate/choosableModels';
import { costInWords, estimatedCost, type EstimateParts } from '../generate/estimatedCost';
import { Generations, type FinishedGeneration, type Generation } from '../generate/generations';
import { generateSettings } from '../generate/settings';
import { refuseUntrusted } from '../generate/trust';
import { patchDigest } from '../instance/edits';
import type { OpenInstance } from '../instance/openInstance';
import { saveEdits } from '../instance/saveEdits';
import { contextKeys, fixAuthority, fixCommandIds, viewIds } from '../shell/names';
import { showProblem } from '../shell/problems';
import { withNotification } from '../shell/withNotification';
import { withoutLinkMarkup } from '../shell/withoutLinkMarkup';
import { askForTestsOfModels } from '../tools/testsOfModels';
import { FixTree } from './fixTree';
import { distinctFixes, type FixNode, type TestsOnFix } from './fixTreeRow';
import type { FoundPlace } from './placesOfStage';

type CommandId = (typeof fixCommandIds)[keyof typeof fixCommandIds];
type Fix = Omit<Extract<FixNode, { kind: 'fix' }>, 'kind'>;

const namesSchema = z.object({ method: z.string().optional(), model: z.string().optional() });

/**
 * Code patches that models propose for the open instance: commands, view and documents. An author
 * without X* runs the tests on R with one of them. Nothing here knows X* or T*.
 */
export class Fixes implements vscode.Disposable {
  private readonly generations: Generations;
  private readonly documents: CandidateDocuments;
  private readonly models: ChoosableModels;
  private readonly view: vscode.TreeView<FixNode>;
  private readonly subscriptions: vscode.Disposable[];
  private readonly loaded: Promise<void>;
  private readonly ran = new vscode.EventEmitter<void>();
  /** What the author's tests did on each fix, by digests of the fix and of the author's changes. */
  private readonly results = new Map<string, TestsOnFix>();
  /** Digest of the author's changes that ran last. */
  private mine = '';

  constructor(
    context: vscode.ExtensionContext,
    private readonly open: OpenInstance,
    private readonly reporter: Reporter,
  ) {
    const generations = new Generations(context, open, reporter, {
      kept: 'repair',
      shown: (method) => method,
      busy: () =>
        new HumanError(
          vscode.l10n.t('A model is already proposing fixes'),
          vscode.l10n.t('Wait for it, or cancel it'),
        ),
    });
    this.generations = generations;
    this.models = new ChoosableModels(context, reporter);
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
    const tree = new FixTree(
      () => ({
        generations: generations.list,
        testsOn: (patch) => this.results.get(resultKey(patch, this.mine)),
      }),
      generations.onDidChange,
      this.ran.event,
    );
    this.view = vscode.window.createTreeView(viewIds.fixes, { treeDataProvider: tree });
    const follow = (): void => {
      const has = generations.list.length > 0;
      void vscode.commands.executeCommand('setContext', contextKeys.fixes, has);
    };
    this.subscriptions = [
      ...[generations, tree, this.view, this.ran],
      generations.onDidChange(follow),
      // Results are about the author's changes as they ran.
      open.onDidEdit(() => void this.forgetStale().catch(this.shown)),
    ];
    this.loaded = generations
      .load()
      .catch((error: unknown) =>
        reporter.log(error instanceof Error ? error.message : String(error)),
      );
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
   * @throws HumanError
   */
  async run(id: CommandId, argument: unknown): Promise<void> {
    await this.loaded;
    switch (id) {
      case fixCommandIds.propose:
        return this.propose(namesSchema.safeParse(argument).data ?? {});
      case fixCommandIds.preview: {
        const { fix, name } = this.fixIn(argument);
        return this.documents.preview(fix.patch.patch, name);
      }
      case fixCommandIds.runTests:
        return this.runTests(this.fixIn(argument));
      case fixCommandIds.openPlace:
        return isNode(argument) && argument.kind === 'place'
          ? this.openPlace(argument.place)
          : undefined;
      case fixCommandIds.resume: {
        const { method, model } = this.generationIn(argument).record;
        return this.propose({ method, model });
      }
      case fixCommandIds.remove:
        return this.remove(this.generationIn(argument));
    }
  }

  private async propose(names: {
    readonly method?: string | undefined;
    readonly model?: string | undefined;
  }): Promise<void> {
    refuseUntrusted();
    const title = vscode.l10n.t('Propose Fixes');
    const parts = await this.estimateParts();
    const method =
      names.method === undefined
        ? await this.chooseMethod(title, parts)
        : methodOf(names.method, repairMethods());
    if (method === undefined) return;
    const model =
      names.model === undefined
        ? await this.models.choose(
            vscode.l10n.t('{0} with {1}: Which Model?', title, method.title),
            {
              needsTools: false,
              costOf: (priced) => costInWords(vscode.l10n, estimatedCost(method, parts), priced),
            },
          )
        : await this.models.byName(names.model);
    if (model === undefined) return;
    if (method.runs !== 'nothing') await askForTestsOfModels(this.open.folder, 'person');
    const finished = await this.work(method, model);
    if (finished !== undefined) void this.tell(finished).catch(this.shown);
  }

  private async estimateParts(): Promise<EstimateParts> {
    const { issue } = await this.open.instance();
    const count = await tokenCounter();
    const { contextTokens, maxOutputTokens, agentLimits: limits } = generateSettings();
    return { issueTokens: count(issue), contextTokens, maxOutputTokens, limits };
  }

  private async chooseMethod(title: string, parts: EstimateParts): Promise<Method | undefined> {
    const priced = this.models.lastPriced();
    const items = repairMethods().map((method) => ({
      label: method.title,
      description: method.description,
      detail: costInWords(vscode.l10n, estimatedCost(method, parts), priced),
      method,
    }));
    const chosen = await vscode.window.showQuickPick(items, {
      title: vscode.l10n.t('{0}: Which Method?', title),
      matchOnDescription: true,
    });
    return chosen?.method;
  }

  private work(method: Method, model: ChosenModel): Promise<FinishedGeneration | undefined> {
    const title = vscode.l10n.t('{0} with {1}', method.title, model.name);
    return withNotification(title, this.reporter, async (reporter, signal) => {
      try {
        // No repair method is an agent, so the limits do not count.
        const asked = { method, model, limits: generateSettings().agentLimits };
        return await this.generations.start(asked, signal, reporter);
      } catch (error) {
        if (signal.aborted) throw new Cancelled();
        throw error;
      }
    });
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

  /** Runs the author's tests on R with the fix in place of X*. */
  private async runTests({ fix, name }: NamedFix): Promise<void> {
    refuseUntrusted();
    const { patch } = fix.patch;
    await askForTestsOfModels(this.open.folder, 'person');
    await saveEdits(this.open);
    const title = vscode.l10n.t('Running your tests on R with {0}', name);
    const ran = await withNotification(title, this.reporter, (reporter, signal) =>
      this.open.runs.onFix(patch, { reporter, signal }),
    );
    if (ran === undefined) return;
    const { digest, base = {}, standings, failure } = ran;
    this.mine = digest;
    this.results.set(
      resultKey(patch, digest),
      standings === undefined
        ? { problem: failure ?? vscode.l10n.t('no test ran') }
        : {
            tests: Object.keys({ ...base, ...standings }).map((test) => ({
              ...{ test, base: base[test], fixed: standings[test] },
            })),
          },
    );
    this.ran.fire();
    if (standings === undefined) {
      throw new HumanError(
        vscode.l10n.t('Your tests could not run on R with {0}: {1}', name, failure ?? ''),
        vscode.l10n.t('Write a test first, or choose another fix'),
      );
    }
  }

  /** Results of earlier changes of the author are not shown. */
  private async forgetStale(): Promise<void> {
    if (this.mine === '') return;
    const now = patchDigest(await this.open.candidatePatch());
    if (now === this.mine) return;
    this.mine = now;
    this.ran.fire();
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

  private async remove(generation: Generation): Promise<void> {
    const { title } = methodNamed(generation.record.method);
    const forget = vscode.l10n.t('Forget {0}', title);
    const chosen = await vscode.window.showQuickPick(
      [
        {
          label: forget,
          detail: vscode.l10n.t(
            'Its answers are deleted. Getting them again means paying for them again.',
          ),
        },
        { label: vscode.l10n.t('Keep them') },
      ],
      { title: vscode.l10n.t('Forget Fixes') },
    );
    if (chosen?.label === forget) await this.generations.forget(generation);
  }

  /** The fix of a row, else of the selected row, else the best of the last run. */
  private fixIn(argument: unknown): NamedFix {
    const row = [argument, this.view.selection[0]].find(
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
    const place = distinctFixes(found.generation).indexOf(found.fix) + 1;
    const { title } = methodNamed(found.generation.record.method);
    return { ...found, name: vscode.l10n.t('Fix {0} of {1}', place, title) };
  }

  private generationIn(argument: unknown): Generation {
    for (const row of [argument, this.view.selection[0]]) {
      if (isNode(row) && row.kind === 'generation') return row.generation;
    }
    const [generation] = this.generations.list;
    if (generation !== undefined) return generation;
    throw new HumanError(
      vscode.l10n.t('No model has proposed a fix for this instance'),
      vscode.l10n.t('Run "SWT-Bench: Propose Fixes…"'),
    );
  }

  private readonly shown = (error: unknown): void => showProblem(error, this.reporter);

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

interface NamedFix extends Fix {
  readonly name: string;
}

const resultKey = (patch: string, mine: string): string => `${patchDigest(patch)} ${mine}`;

const isNode = (value: unknown): value is FixNode =>
  typeof value === 'object' && value !== null && 'kind' in value;
