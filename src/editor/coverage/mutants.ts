import * as vscode from 'vscode';
import { HumanError, type Reporter } from '../../domain/work';
import type { OpenInstance } from '../instance/openInstance';
import { internalCommandIds, scheme } from '../shell/names';
import { withNotification } from '../shell/progress';
import { currentVerdict } from '../verdict/currentVerdict';
import {
  mutantSentences,
  faultInWords,
  mutantRows,
  type MutantRow,
  shownMutants,
} from './mutantTexts';
import { withFault } from '../../mutation/mutant';
import type { TestedMutant, Mutant } from '../../mutation/mutantSchema';
import type { LatestVerdict, Revealing, InstanceSource } from '../instance/instanceRoles';
import { sideUri } from '../shell/documents';
import { z } from 'zod';
import { unsafePath } from '../../patch/unsafePath';

/**
 * Shows the mutants that the candidate was last tried on, and lets the user try it again; tries it
 * where it was not.
 *
 * @throws HumanError as {@link tryMutants}
 */
export async function checkWithMutants(open: OpenInstance, reporter: Reporter): Promise<void> {
  const isTried = shownMutants(open) !== undefined && (await open.isCurrent());
  if (!isTried) return tryMutants(open, reporter);
  if ((await showMutants(open)) === 'again') await tryMutants(open, reporter);
}

/**
 * Runs the candidate of the workspace on mutants of X*, and tells how many it kills. Asks before it
 * reveals the golden patch, which the mutants are made of. Runs the candidate first if the last
 * verdict is not about the current workspace.
 *
 * @throws HumanError when there is no candidate, it cannot run, or no mutants can be made
 */
async function tryMutants(open: OpenInstance, reporter: Reporter): Promise<void> {
  const title = vscode.l10n.t('Check Tests with Mutants');
  if (!(await open.reveal(title))) return;
  const evaluated = await currentVerdict(open, reporter, {
    title: vscode.l10n.t('Running the tests before the mutants'),
    complete: false,
  });
  if (evaluated === undefined) return;
  const found = await withNotification(
    vscode.l10n.t('Running the tests on mutants of the fix'),
    reporter,
    (shown, signal) => open.runs.onMutants(evaluated, { reporter: shown, signal }),
  );
  if (found === undefined) return;
  if ('failure' in found) {
    throw new HumanError(
      vscode.l10n.t('Could not create mutants: {0}', found.failure),
      vscode.l10n.t('Run "SWT-Bench: Validate Instances…" on the instance'),
    );
  }
  const told = mutantSentences(found, evaluated.result.strict.failToPass).join(' ');
  const show = vscode.l10n.t('Show Mutants…');
  // Not awaited: the command ends when the mutants have run.
  void vscode.window.showInformationMessage(told, show).then((chosen) => {
    if (chosen === show) void vscode.commands.executeCommand(internalCommandIds.showMutants);
  });
}

/**
 * Lists the mutants that the candidate was tried on, those that live first. A chosen one opens as a
 * diff with R∘X*. Asks before it reveals them.
 *
 * @returns `again` where the user wants them to run again
 * @throws HumanError when the last verdict has no mutants
 */
export async function showMutants(open: Revealing & LatestVerdict): Promise<'again' | undefined> {
  if (!(await open.reveal(vscode.l10n.t('Show Mutants')))) return undefined;
  const mutants = shownMutants(open);
  if (mutants === undefined) {
    throw new HumanError(
      vscode.l10n.t('The tests have not been checked with mutants since their last run'),
      vscode.l10n.t('Run "SWT-Bench: Check Tests with Mutants…"'),
    );
  }
  const again = { label: `$(refresh) ${vscode.l10n.t('Run Again')}`, again: true } as const;
  const chosen = await vscode.window.showQuickPick([...mutantRows(mutants).map(itemOf), again], {
    title: vscode.l10n.t('Mutants of the Fix'),
    placeHolder: vscode.l10n.t('Select a mutant to see it as a diff'),
    matchOnDescription: true,
  });
  if (chosen !== undefined && 'again' in chosen) return 'again';
  if (chosen !== undefined && 'mutant' in chosen) await showDiff(chosen.mutant);
  return undefined;
}

const itemOf = (row: MutantRow) =>
  'heading' in row ? { label: row.heading, kind: vscode.QuickPickItemKind.Separator } : row;

async function showDiff(mutant: TestedMutant): Promise<void> {
  const { path, line, column } = mutant;
  const at = new vscode.Position(line - 1, column - 1);
  await vscode.commands.executeCommand(
    'vscode.diff',
    sideUri('fixed', path),
    mutantUri(mutant),
    vscode.l10n.t('{0}:{1} {2} (R∘X* ↔ mutant)', path, line, faultInWords(mutant)),
    { selection: new vscode.Range(at, at) } satisfies vscode.TextDocumentShowOptions,
  );
}

/** Authority of read-only files of R∘X* with a mutant. */
const mutantAuthority = 'mutant';

const fault = z.object({
  line: z.number().int().positive(),
  column: z.number().int().positive(),
  before: z.string(),
  after: z.string(),
});

/** Address of a file of R∘X* with a mutant. It holds the whole fault, so that it stays valid. */
const mutantUri = ({ path, line, column, before, after }: Mutant): vscode.Uri =>
  vscode.Uri.from({
    scheme,
    authority: mutantAuthority,
    path: `/${path}`,
    query: JSON.stringify({ line, column, before, after }),
  });

/** Whether a document shows a mutant. */
export const isMutantDocument = ({ scheme: of, authority }: vscode.Uri): boolean =>
  of === scheme && authority === mutantAuthority;

/** Content of such a document. It is empty until the golden patch is revealed, whoever asks. */
export async function mutantDocumentText(
  open: InstanceSource & Revealing,
  uri: vscode.Uri,
): Promise<string> {
  if (!open.revealed) {
    return vscode.l10n.t(
      'The fix is hidden. Run "SWT-Bench: Check Tests with Mutants…" to reveal its mutants.',
    );
  }
  const path = uri.path.slice(1);
  const asked = faultOf(uri.query);
  // Any extension may ask, with any path.
  if (asked === undefined || unsafePath(path) !== undefined) return '';
  return withFault(await open.fileOfSide('fixed', path), asked) ?? '';
}

function faultOf(query: string): z.infer<typeof fault> | undefined {
  try {
    return fault.safeParse(JSON.parse(query)).data;
  } catch {
    return undefined;
  }
}
