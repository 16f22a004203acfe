import { nameOf } from '../../domain/testId';
import * as vscode from 'vscode';
import { sideName, sides, type Side, type TestTransition } from '../../domain/outcome';
import { HumanError } from '../../domain/work';
import { outcomeInWords } from './transitionTexts';
import { goldenRedactionOf, type GoldenRedaction } from './goldenRedaction';
import { outputAuthority, scheme, verdictAuthority } from '../shell/names';
import type { InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';

/**
 * Shows what the last run printed on R beside what it printed on R∘X*. The text is unchanged, so
 * times and addresses differ too. Only lines of the golden patch are removed while it is hidden.
 *
 * @param test id of a test function, whose failures come first; undefined for the output of the run
 * alone
 * @throws HumanError when nothing has run yet
 */
export async function showOutputs(
  open: LatestVerdict & InstanceSource & Revealing,
  test: string | undefined,
): Promise<void> {
  const shown = await goldenRedactionOf(open);
  if (sides.every((side) => contentOf(open, side, test, shown) === undefined)) {
    throw new HumanError(
      test === undefined
        ? vscode.l10n.t('No test output yet')
        : vscode.l10n.t('No output of {0} yet', nameOf(test)),
      vscode.l10n.t('Run "SWT-Bench: Run Tests on R and R∘X*" first'),
    );
  }
  const title = vscode.l10n.t(
    '{0}: output on R ↔ R∘X*',
    test === undefined ? open.marker.id : nameOf(test),
  );
  await vscode.commands.executeCommand(
    'vscode.diff',
    uriOf('base', test),
    uriOf('fixed', test),
    title,
    { preview: true } satisfies vscode.TextDocumentShowOptions,
  );
}

/** Content of a document of `showOutputs`; it follows the last run. */
export async function outputText(
  open: LatestVerdict & InstanceSource & Revealing,
  uri: vscode.Uri,
): Promise<string> {
  const side = sides.find((each) => uri.path.startsWith(`/${each}/`));
  if (side === undefined) return '';
  const test = uri.query === '' ? undefined : uri.query;
  return (
    contentOf(open, side, test, await goldenRedactionOf(open)) ??
    `${vscode.l10n.t('{0} has not run yet.', sideName[side])}\n`
  );
}

/** Open documents that must follow the last run and each reveal. */
export function openOutputs(): vscode.Uri[] {
  return vscode.workspace.textDocuments
    .map((document) => document.uri)
    .filter(({ scheme: of }) => of === scheme)
    .filter(({ authority }) => authority === outputAuthority || authority === verdictAuthority);
}

function uriOf(side: Side, test: string | undefined): vscode.Uri {
  const name = test === undefined ? 'output' : nameOf(test);
  return vscode.Uri.from({
    scheme,
    authority: outputAuthority,
    path: `/${side}/${name}.log`,
    query: test ?? '',
  });
}

function contentOf(
  open: LatestVerdict,
  side: Side,
  test: string | undefined,
  shown: GoldenRedaction,
): string | undefined {
  const cases = test === undefined ? [] : open.casesOf(test).cases;
  const { soFar, last } = open;
  const printed = (soFar?.first.runs ?? last?.result.runs)?.[side]?.log;
  const log = printed === undefined ? undefined : shown.text(side, printed);
  if (cases.length === 0 && (log === undefined || test !== undefined)) return undefined;
  const parts = cases.map((each) => caseOn(side, shown.both(each)));
  if (log !== undefined) {
    parts.push(
      cases.length === 0 ? log : `${vscode.l10n.t('── output of the whole run ──')}\n\n${log}`,
    );
  }
  return `${parts.map((part) => part.trimEnd()).join('\n\n')}\n`;
}

function caseOn(side: Side, each: TestTransition): string {
  const result = each[side];
  const { exception, message, details } = result;
  const failure = details ?? [exception, message].filter((part) => part !== undefined).join(': ');
  return [each.test, outcomeInWords(side, result), ...(failure === '' ? [] : ['', failure])].join(
    '\n',
  );
}
