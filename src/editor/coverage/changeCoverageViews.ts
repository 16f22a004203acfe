import * as vscode from 'vscode';
import type { CoveredLine } from '../../domain/changeCoverage';
import { HumanError } from '../../domain/work';
import { ChangeCoverageGutters } from './changeCoverageGutters';
import { ChangeCoveragePanel } from './changeCoveragePanel';
import { lineOfRow } from './changeCoverageTreeRow';
import { coveredLineAt, type PlaceOnSide } from './documentMarks';
import { showInGoldenDiff } from './goldenDiff';
import { goldenFilesOf } from './goldenFiles';
import { showGoldenReach } from './goldenReach';
import { neighbour } from './diffOrder';
import { coverageCommandIds } from '../shell/names';
import type { FilesOfR, InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { shownCoverage, sideOf } from './shownCoverage';

export type CoverageCommand = (typeof coverageCommandIds)[keyof typeof coverageCommandIds];

/** The views of change coverage, and the commands about a changed line. */
export class ChangeCoverageViews implements vscode.Disposable {
  private readonly gutters: ChangeCoverageGutters;
  private readonly panel: ChangeCoveragePanel;
  private readonly subscriptions: readonly vscode.Disposable[];
  /** The last place of the cursor in R or R∘X*, since a tree view may have the focus now. */
  private at: PlaceOnSide | undefined;
  /**
   * The last place of the cursor. Mapping it to R or R∘X* takes a diff, so that happens on demand.
   */
  private cursor: { readonly document: vscode.TextDocument; readonly line: number } | undefined;

  constructor(
    private readonly open: InstanceSource & Revealing & LatestVerdict & FilesOfR,
    extensionUri: vscode.Uri,
  ) {
    this.gutters = new ChangeCoverageGutters(open, extensionUri);
    this.panel = new ChangeCoveragePanel(open, extensionUri);
    this.subscriptions = [
      this.gutters,
      this.panel,
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, selections }) => {
        const line = selections[0]?.active.line;
        if (line === undefined) return;
        const { document } = textEditor;
        // The place is mapped when its editor is left.
        if (this.cursor?.document !== document) this.at = this.here();
        this.cursor = { document, line: line + 1 };
      }),
    ];
  }

  /**
   * @param about a row of the Change Coverage view; the line at the cursor if absent
   * @throws HumanError when there is no such line
   */
  async run(command: CoverageCommand, about: unknown): Promise<void> {
    switch (command) {
      case coverageCommandIds.showMissedOnly:
        return this.panel.showMissedOnly(true);
      case coverageCommandIds.showAllLines:
        return this.panel.showMissedOnly(false);
      case coverageCommandIds.nextMissed:
        return this.toMissed('next');
      case coverageCommandIds.previousMissed:
        return this.toMissed('previous');
      case coverageCommandIds.openLine:
        return this.show(this.lineOf(about));
      case coverageCommandIds.showGoldenReach:
        return showGoldenReach(this.open, this.lineOf(about));
    }
  }

  private lineOf(about: unknown): CoveredLine {
    const editor = vscode.window.activeTextEditor;
    const line =
      lineOfRow(about) ??
      (editor === undefined
        ? undefined
        : this.gutters.lineAt(editor.document, editor.selection.active.line + 1)) ??
      this.lastLine();
    if (line !== undefined) return line;
    throw new HumanError(
      vscode.l10n.t('No line that the golden patch changes is at the cursor'),
      vscode.l10n.t('Choose a line in the Change Coverage view'),
    );
  }

  /** The changed line where the cursor was last, such as the one that *Next Missed Line* went to. */
  private lastLine(): CoveredLine | undefined {
    const coverage = shownCoverage(this.open);
    const place = this.here();
    return coverage === undefined || place === undefined
      ? undefined
      : coveredLineAt(coverage, place);
  }

  /** The last place of the cursor in R or R∘X*. */
  private here(): PlaceOnSide | undefined {
    const { cursor } = this;
    if (cursor === undefined) return this.at;
    return this.gutters.placeOf(cursor.document, cursor.line) ?? this.at;
  }

  private async toMissed(direction: 'next' | 'previous'): Promise<void> {
    if (!(await this.open.reveal(vscode.l10n.t('Go to Missed Line')))) return;
    const coverage = shownCoverage(this.open);
    if (coverage === undefined) {
      throw new HumanError(
        vscode.l10n.t('It is not known which lines the candidate misses'),
        vscode.l10n.t('Run the candidate on R and R∘X* first'),
      );
    }
    const missed = coverage.lines.filter((line) => line.state === 'missed');
    const files = await goldenFilesOf(this.open);
    const line = neighbour(missed, files, this.here(), direction);
    if (line === undefined) {
      void vscode.window.showInformationMessage(
        vscode.l10n.t(
          'No changed line is missed: {0} of {1} covered',
          coverage.covered,
          coverage.executable,
        ),
      );
      return;
    }
    await this.show(line);
    await this.panel.select(line);
  }

  private async show(line: CoveredLine): Promise<void> {
    const at = { side: sideOf(line), path: line.path, line: line.line };
    await showInGoldenDiff(this.open, at);
    this.at = at;
    this.cursor = undefined;
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}
