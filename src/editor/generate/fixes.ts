import * as vscode from 'vscode';
import { HumanError } from '../../domain/work';
import { agentlessSettings } from '../../method/agentless';
import { repairMethods, methodNamed, methodOf } from '../../method/methods';
import type { Method } from '../../method/method';
import { embeddingBeside, type EmbeddingUse } from '../../method/models';
import { chooseRun, estimateParts, namesIn, type AskedNames } from './chooseRun';
import { type EstimateParts, embeddedTokens } from './estimatedCost';
import type { FinishedGeneration } from './generations';
import { GeneratedRuns, type GeneratedParts } from './generatedRuns';
import { rowOfKind } from './generatedTreeRow';
import { embeddingOfRecord, type GenerationRecord } from './records';
import {
  configuredEmbedding,
  configuredNumbers,
  generateSettings,
  type AgentlessNumbers,
} from './settings';
import { refuseUntrusted } from '../shell/workspaceTrust';
import { contextKeys, fixAuthority, generatedCommandIds } from '../shell/names';
import { afterAWhile } from '../shell/progress';
import { withoutLinkMarkup } from '../shell/plainText';
import { distinctFixes, type FixNode, type ShownFixes, type FoundPlace } from './fixTreeRow';
import { TestsOnFixes, type NamedPatch } from './testsOnFixes';

type CommandId = (typeof generatedCommandIds)[
  | 'propose'
  | 'preview'
  | 'runTests'
  | 'openPlace'
  | 'resume'
  | 'remove'];
type Fix = Omit<Extract<FixNode, { kind: 'fix' }>, 'kind'>;

/**
 * Code patches that models propose for the open instance: commands, rows and documents. An author
 * without X* runs the tests on R with one of them. Nothing here knows X* or T*.
 */
export class Fixes extends GeneratedRuns {
  private readonly tests: TestsOnFixes;

  constructor(parts: GeneratedParts) {
    const { open, reporter } = parts;
    const tests = new TestsOnFixes(open, reporter);
    const kind = {
      ...({ kept: 'repair', section: 'fixes' } as const),
      ...{ authority: fixAuthority, contextKey: contextKeys.fixes },
      reading: vscode.l10n.t('Reading the fixes of {0}', open.marker.id),
      none: () =>
        new HumanError(
          vscode.l10n.t('No fix has been proposed for this instance'),
          vscode.l10n.t('Run "SWT-Bench: Propose Fixes…"'),
        ),
      methodOf: methodOfRecord,
      busy: () =>
        new HumanError(
          vscode.l10n.t('A model is already proposing fixes'),
          vscode.l10n.t('Wait for it to finish, or cancel it'),
        ),
    };
    super(parts, kind, tests);
    this.tests = tests;
  }

  /** What the view shows of them, the latest run first. */
  get shown(): ShownFixes {
    return { generations: this.generations.list, testsOn: (patch) => this.tests.of(patch) };
  }

  /**
   * Runs a command.
   *
   * @param argument a row of the view; for proposing also `{ method, model }` by their names, which
   *   skips the questions
   * @throws HumanError, Cancelled
   */
  async run(id: CommandId, argument: unknown): Promise<void> {
    await this.ready();
    switch (id) {
      case generatedCommandIds.propose:
        return this.propose(namesIn(argument));
      case generatedCommandIds.preview: {
        const { patch, name } = this.fixIn(argument);
        return this.documents.preview(patch, name);
      }
      case generatedCommandIds.runTests:
        return rowOfKind([argument], 'fix') === undefined
          ? this.tests.runOnAll(this.fixesIn(argument))
          : this.tests.runOn(this.fixIn(argument));
      case generatedCommandIds.openPlace:
        return this.openPlace(rowOfKind([argument], 'place')?.place);
      case generatedCommandIds.resume:
        return this.propose(this.generationIn(argument).record);
      case generatedCommandIds.remove: {
        const generation = this.generationIn(argument);
        const { title } = methodNamed(generation.record.method);
        return this.generations.askToForget(generation, title);
      }
    }
  }

  /** @param asked names, or the record of a run to resume, which has settings of its own */
  private async propose(asked: AskedNames | GenerationRecord): Promise<void> {
    refuseUntrusted();
    const before = 'startedAt' in asked ? asked : undefined;
    const numbers = before === undefined ? configuredNumbers() : (before.agentless ?? {});
    const embedding = before === undefined ? configuredEmbedding() : embeddingOfRecord(before);
    const chosen = await chooseRun(asked, this.parts.open, {
      title: vscode.l10n.t('Propose Fixes'),
      methods: repairMethods(agentlessSettings(numbers)),
      models: this.models,
      parts: await afterAWhile(vscode.l10n.t('Estimating the cost'), async () => ({
        ...(await estimateParts(this.parts.open)),
        embedding: embedding && (await this.estimateVectors(embedding, numbers)),
      })),
    });
    if (chosen === undefined) return;
    const { method, model } = chosen;
    const embeds = embedding !== undefined && method.embeds === true;
    await this.start({
      ...chosen,
      // No repair method is an agent, so the limits do not count.
      limits: generateSettings().agentLimits,
      numbers: method.name === 'agentless' ? numbers : {},
      embedding: embeds ? this.models.embedding(embeddingBeside(embedding, model)) : undefined,
    });
  }

  /** What an embedding model gets at most. */
  private async estimateVectors(
    embedding: EmbeddingUse,
    numbers: AgentlessNumbers,
  ): Promise<EstimateParts['embedding']> {
    const { base } = await this.parts.open.trees();
    const paths = await this.parts.open.filesOfR();
    return { ...embedding, tokens: await embeddedTokens(base, paths, agentlessSettings(numbers)) };
  }

  protected override async tell({ generation, entry }: FinishedGeneration): Promise<void> {
    const { title } = methodNamed(generation.record.method);
    if ('failure' in entry) {
      throw new HumanError(
        vscode.l10n.t('{0} proposed no fix: {1}', title, entry.failure),
        vscode.l10n.t('Its answers are stored. Run the command again to resume'),
      );
    }
    const { choice, cost } = entry;
    const spent = this.spent(cost);
    const [fix] = distinctFixes(generation);
    if (fix === undefined) {
      const text = vscode.l10n.t('{0}: no fix found: {1} ({2})', title, choice.why, spent);
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
    if (answer === preview) await this.run(generatedCommandIds.preview, row);
    if (answer === runTests) await this.run(generatedCommandIds.runTests, row);
  }

  private async openPlace(place: FoundPlace | undefined): Promise<void> {
    if (place === undefined) return;
    const { path, lines } = place;
    // A model wrote the path: only files of R are opened.
    const { folder } = this.parts.open;
    if (!(await this.parts.open.filesOfR()).includes(path)) {
      throw new HumanError(
        vscode.l10n.t('R has no file {0}', path),
        vscode.l10n.t('The model named it. Choose another place'),
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
    const row = rowOfKind([argument], 'generation');
    const generations = row?.of === 'fixes' ? [row.generation] : this.generations.list;
    return generations.flatMap((generation) =>
      distinctFixes(generation).map((fix) => ({
        patch: fix.patch.patch,
        name: nameOf({ generation, fix }),
      })),
    );
  }

  /** The fix of a row, else of the selected row, else the best of the last run. */
  private fixIn(argument: unknown): NamedPatch {
    const row = this.rowIn(argument, 'fix');
    const [generation] = this.generations.list;
    const [best] = generation === undefined ? [] : distinctFixes(generation);
    const found: Fix | undefined = row ?? (generation && best && { generation, fix: best });
    if (found === undefined) {
      throw new HumanError(
        vscode.l10n.t('No fix yet'),
        vscode.l10n.t('Run "SWT-Bench: Propose Fixes…"'),
      );
    }
    return { patch: found.fix.patch.patch, name: nameOf(found) };
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
