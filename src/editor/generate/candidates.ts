import * as vscode from 'vscode';
import { HumanError, type Reporter } from '../../domain/work';
import { type LimitProfile, acpMethod } from '../../method/agents';
import type { Method, MethodCandidate } from '../../method/method';
import { methodOf, methods } from '../../method/methods';
import { afterAWhile } from '../shell/progress';
import { candidateAuthority, generatedCommandIds, contextKeys, settingKeys } from '../shell/names';
import { withoutLinkMarkup } from '../shell/plainText';
import { showTrajectories, type AskedTrajectories } from '../trajectory/showTrajectories';
import { type OriginOfCandidate, withoutOracle } from '../trajectory/trajectoryOrigin';
import { entryOfGrade, type ShownCandidates } from './candidateTreeRow';
import { chooseRun, estimateParts, namesIn, type AskedNames } from './chooseRun';
import { type FinishedGeneration, type Generation } from './generations';
import { Knowledge } from './candidateGrades';
import { GeneratedRuns, type GeneratedParts } from './generatedRuns';
import {
  methodOfRecord,
  refinedWhereItCan,
  withOutcomesOnR,
  type GenerationRecord,
} from './records';
import { agentOfSettings, configuredAgents, generateSettings } from './settings';
import { refuseUntrusted } from '../shell/workspaceTrust';
import { applyToWorkspace } from './applyToWorkspace';

type CommandId = (typeof generatedCommandIds)[
  | 'generate'
  | 'preview'
  | 'apply'
  | 'showAnswer'
  | 'evaluate'
  | 'resume'
  | 'remove'];

/** What a caller has chosen; the user is asked for method and model. */
interface AskedCandidates extends AskedNames {
  /** Those of the settings when absent. */
  readonly limits?: LimitProfile;
  /** Times that a sample may be sent back. */
  readonly refine?: number;
}

/** A patch on R and its name. */
interface Named {
  readonly patch: string;
  readonly title: string;
}

/**
 * Everything about the candidates that models write for the open instance: commands, rows and
 * documents. A row shows what a model may know, which is W and the outcome on R. What only the
 * developer may know is in a row below.
 */
export class Candidates extends GeneratedRuns {
  private readonly knowledge: Knowledge;

  constructor(parts: GeneratedParts) {
    const { context, open, reporter } = parts;
    const { version } = context.extension.packageJSON as { readonly version: string };
    const knowledge = new Knowledge(context.workspaceState, open, version, reporter);
    const kind = {
      ...({ kept: 'generate', section: 'tests' } as const),
      ...{ authority: candidateAuthority, contextKey: contextKeys.candidates },
      reading: vscode.l10n.t('Reading the candidates of {0}', open.marker.id),
      none: () =>
        new HumanError(
          vscode.l10n.t('No tests have been generated for this instance'),
          vscode.l10n.t('Run "SWT-Bench: Generate Reproducing Tests…"'),
        ),
      methodOf: (record: GenerationRecord, told: Reporter, chosen?: Method) =>
        withOutcomesOnR(chosen?.asksItself ? chosen : methodOfRecord(record), told),
      busy: () =>
        new HumanError(
          vscode.l10n.t('A model is already writing tests'),
          vscode.l10n.t('Wait for it to finish, or cancel it'),
        ),
    };
    super(parts, kind, knowledge);
    this.knowledge = knowledge;
  }

  /** What the view shows of them, the latest run first. */
  get shown(): ShownCandidates {
    return { generations: this.generations.list, knowledge: this.knowledge };
  }

  /**
   * Runs a command.
   *
   * @param argument a row of the view; for preview and apply also `{ patch, title }`. For
   * generating also `{ method, model }` by their names, which skips the questions.
   * @throws HumanError, Cancelled
   */
  async run(id: CommandId, argument: unknown): Promise<void> {
    await this.ready();
    const { generate, preview, apply, showAnswer, evaluate, resume, remove } = generatedCommandIds;
    switch (id) {
      case generate:
        return this.generate(namesIn(argument));
      case preview: {
        const { patch, title } = this.patchIn(argument);
        return this.documents.preview(patch, title);
      }
      case apply:
        return this.apply(this.patchIn(argument));
      case showAnswer: {
        const { generation, candidate } = this.candidateIn(argument);
        // The conversation of an agent with its own tools is its answer.
        if (candidate.answer === undefined) return this.showTrajectory(argument);
        return this.documents.showAnswer(candidate.answer, nameOf(generation, candidate));
      }
      case evaluate: {
        const { generation, candidate } = this.candidateIn(argument);
        return this.knowledge.show(
          applying(candidate).patch.patch,
          vscode.l10n.t('Running {0} on R and R∘X*', nameOf(generation, candidate)),
        );
      }
      case resume: {
        const { method, model, limits = 'paper', refine = 0 } = this.generationIn(argument).record;
        return this.generate({ method, model, limits, refine });
      }
      case remove: {
        const generation = this.generationIn(argument);
        return this.generations.askToForget(generation, titleOf(generation));
      }
    }
  }

  /** Shows the steps of the candidate of a row, else of the selected one. @throws HumanError */
  async showTrajectory(argument: unknown): Promise<void> {
    await this.ready();
    const { generation, candidate } = this.candidateIn(argument);
    const of = { generation: generation.id, sample: candidate.sample };
    return showTrajectories(await this.trajectoriesFrom({ view: 'candidates', ...of }), {
      extensionUri: this.parts.context.extensionUri,
      reporter: this.parts.reporter,
    });
  }

  /**
   * All steps of the instance's trace, with the verdict of a candidate. What R∘X* tells is shown only
   * where its row shows it.
   */
  async trajectoriesFrom(origin: OriginOfCandidate): Promise<AskedTrajectories> {
    await this.ready();
    const { id } = this.parts.open.marker;
    const { sample } = origin;
    const of = this.generations.list.find((each) => each.id === origin.generation);
    const patch = of?.candidates.get(sample)?.patch.patch;
    const isShown = patch !== undefined && this.knowledge.isShown(patch);
    const grade = isShown ? this.knowledge.gradeOf(patch) : undefined;
    const hidden = vscode.l10n.t('With the fix (hidden from models): shown in the Generated view.');
    const entry =
      of && grade && entryOfGrade(grade, { instance: id, model: of.record.model, sample });
    const run = vscode.l10n.t('Candidates');
    return {
      origin,
      path: this.generations.tracePath,
      instance: id,
      shownOf: async (trajectory) => ({
        // The trace has the verdicts of other candidates, too.
        trajectory: this.parts.open.revealed ? trajectory : withoutOracle(trajectory, hidden),
        ...(entry !== undefined && { verdict: { run, entry } }),
        ...(!isShown && { withoutVerdict: hidden }),
      }),
    };
  }

  private async generate(names: AskedCandidates): Promise<void> {
    refuseUntrusted();
    const limits = names.limits ?? generateSettings().agentLimits;
    const refine = names.refine ?? generateSettings().refine;
    const { agents, withoutProgram, problems } = configuredAgents();
    for (const each of problems) this.parts.reporter.log(`${settingKeys.agents}: ${each}`);
    const offered = [
      ...methods.map((method) => refinedWhereItCan(method, refine)),
      ...agents.map((each) => acpMethod(agentOfSettings(each))),
    ];
    const named = names.method === undefined ? undefined : methodOf(names.method);
    const method = named === undefined ? names.method : refinedWhereItCan(named, refine).name;
    const chosen = await chooseRun({ ...names, method }, this.parts.open, {
      title: vscode.l10n.t('Generate Reproducing Tests'),
      methods: offered,
      models: this.models,
      more: runsInWords,
      further: furtherAgents(withoutProgram, problems),
      parts: await afterAWhile(vscode.l10n.t('Estimating the cost'), () =>
        estimateParts(this.parts.open, limits),
      ),
    });
    if (chosen === undefined) return;
    await this.start({ ...chosen, limits });
  }

  protected override async tell({ generation, entry, asked }: FinishedGeneration): Promise<void> {
    if ('failure' in entry) {
      throw new HumanError(
        vscode.l10n.t('{0} selected no candidate: {1}', titleOf(generation), entry.failure),
        vscode.l10n.t('Its answers are stored. Run the command again to resume'),
      );
    }
    const { choice, cost } = entry;
    const spent = this.spent(cost);
    const { chosen } = choice;
    const of =
      asked === 0
        ? vscode.l10n.t('no requests, all answers were stored')
        : cost.isEstimate
          ? vscode.l10n.t('about {0}', spent)
          : spent;
    if (chosen === undefined) {
      void vscode.window.showWarningMessage(
        withoutLinkMarkup(vscode.l10n.t('{0}: {1} ({2})', titleOf(generation), choice.why, of)),
      );
      return;
    }
    const isSecret = methodOfRecord(generation.record).runs === 'oracle';
    const why = isSecret ? vscode.l10n.t('selected by the oracle') : choice.why;
    const text = withoutLinkMarkup(
      vscode.l10n.t('{0}: candidate {1}, {2} ({3})', titleOf(generation), chosen.sample, why, of),
    );
    const preview = vscode.l10n.t('Preview');
    const apply = vscode.l10n.t('Apply');
    const show = vscode.l10n.t('Show Answer');
    const answer = chosen.patch.applies
      ? await vscode.window.showInformationMessage(text, preview, apply)
      : await vscode.window.showWarningMessage(text, show);
    const row = { kind: 'candidate', generation, candidate: chosen } as const;
    if (answer === preview) await this.run(generatedCommandIds.preview, row);
    if (answer === apply) await this.run(generatedCommandIds.apply, row);
    if (answer === show) await this.run(generatedCommandIds.showAnswer, row);
  }

  private async apply({ patch, title }: Named): Promise<void> {
    const { changed, takenBack } = await afterAWhile(
      vscode.l10n.t('Applying {0}', title),
      (signal) => applyToWorkspace(this.parts.open, patch, signal),
    );
    const [first] = changed;
    if (first === undefined) {
      void vscode.window.showInformationMessage(
        withoutLinkMarkup(vscode.l10n.t('{0} is already in the workspace.', title)),
      );
      return;
    }
    const uri = vscode.Uri.joinPath(this.parts.open.folder.uri, first);
    const show = vscode.l10n.t('Show');
    const text =
      takenBack.length === 0
        ? vscode.l10n.t('Applied {0}: {1}.', title, changed.join(', '))
        : vscode.l10n.t(
            'Applied {0} and replaced your edits in {1}. Undo restores them.',
            title,
            takenBack.join(', '),
          );
    void vscode.window
      .showInformationMessage(withoutLinkMarkup(text), show)
      .then((chosen) => (chosen === show ? vscode.window.showTextDocument(uri) : undefined))
      .then(undefined, this.show);
  }

  private patchIn(argument: unknown): Named {
    if (isObject(argument) && typeof argument['patch'] === 'string') {
      const { patch, title } = argument;
      return { patch, title: typeof title === 'string' ? title : vscode.l10n.t('The candidate') };
    }
    const { generation, candidate } = this.candidateIn(argument);
    return { patch: applying(candidate).patch.patch, title: nameOf(generation, candidate) };
  }

  /** The candidate of a row, else of the selected row, else the last one chosen. */
  private candidateIn(argument: unknown): {
    readonly generation: Generation;
    readonly candidate: MethodCandidate;
  } {
    const row = this.rowIn(argument, 'candidate', 'knowledge');
    if (row !== undefined) return row;
    const [generation] = this.generations.list;
    const sample = generation?.chosen?.sample;
    const candidate = sample === undefined ? undefined : generation?.candidates.get(sample);
    if (generation !== undefined && candidate !== undefined) return { generation, candidate };
    throw new HumanError(
      vscode.l10n.t('No candidate selected'),
      vscode.l10n.t('Select one in the Generated view'),
    );
  }

  protected override progressOf(running: Generation): string | undefined {
    return progressOf(running);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** @throws HumanError when the candidate has no patch that applies */
function applying(candidate: MethodCandidate): MethodCandidate {
  if (candidate.patch.applies) return candidate;
  throw new HumanError(
    vscode.l10n.t('This candidate does not apply to R ({0})', candidate.patch.problem ?? ''),
    vscode.l10n.t('Choose another candidate'),
  );
}

/** What a method runs before it chooses, in addition to the runs on R for the list. */
function runsInWords(method: Method): string {
  switch (method.runs) {
    case 'nothing':
      return vscode.l10n.t('Tests run once, on R, afterwards');
    case 'R':
      return method.needsTools === true
        ? vscode.l10n.t('The model runs its tests on R until they fail as the issue describes')
        : vscode.l10n.t('Runs the candidates on R to select one');
    case 'oracle':
      return vscode.l10n.t('Runs the candidates on R and R∘X* to select one, so it uses the fix');
    case 'workspace':
      return vscode.l10n.t('Runs commands on R in a container. Requires docker');
  }
}

/** The last row of the methods, which leads to the setting of agents. */
const furtherAgents = (withoutProgram: readonly string[], problems: readonly string[]) => ({
  label: vscode.l10n.t('Add an Agent…'),
  description:
    problems.length > 0
      ? vscode.l10n.t('{0} invalid entries: see the log', problems.length)
      : withoutProgram.length > 0
        ? vscode.l10n.t(
            '{0}, or any agent with the Agent Client Protocol',
            withoutProgram.join(', '),
          )
        : vscode.l10n.t('any agent with the Agent Client Protocol'),
  setting: settingKeys.agents,
});

const titleOf = ({ record }: Generation): string => methodOfRecord(record).title;

const nameOf = (generation: Generation, { sample }: MethodCandidate): string =>
  generation.record.samples === 1
    ? vscode.l10n.t('Candidate of {0}', titleOf(generation))
    : vscode.l10n.t('Candidate {0} of {1}', sample, titleOf(generation));

/** Progress of a run: which samples are answered, and which are being written. */
function progressOf(generation: Generation): string | undefined {
  const { candidates, writing, record, acts } = generation;
  // The loop of an agent tells its progress itself.
  if (acts.length > 0 || (candidates.size === 0 && writing.size === 0)) return undefined;
  const parts = [
    record.samples === 1
      ? ''
      : vscode.l10n.t('{0} of {1} answered', candidates.size, record.samples),
    ...[...writing]
      .sort(([a], [b]) => a - b)
      .map(([sample, characters]) =>
        vscode.l10n.t('candidate {0}: {1} characters', sample, characters),
      ),
  ];
  return parts.filter((each) => each !== '').join(' · ');
}
