import { l10n } from 'vscode';
import { runsInContainers } from '../../engine/engines';
import type { ModelToolName } from '../shell/names';

/** What a call does while it runs, for the person who watches. */
export function doingText(name: ModelToolName): string {
  switch (name) {
    case 'read_issue':
      return l10n.t('Reading the issue');
    case 'list_files':
      return l10n.t('Listing files of R');
    case 'search_code':
      return l10n.t('Searching R');
    case 'outline_file':
      return l10n.t('Outlining a file of R');
    case 'read_file':
      return l10n.t('Reading a file of R');
    case 'apply_candidate':
      return l10n.t('Putting tests into the workspace');
    case 'list_candidate_tests':
      return l10n.t('Listing the tests of the candidate');
    case 'run_tests':
      return l10n.t('Running tests on R');
    case 'check_candidate':
      return l10n.t('Checking the candidate on R');
  }
}

/** The title of the confirmation that a tool call asks for. */
export const confirmationTitle = (name: ModelToolName): string =>
  runsTests(name) ? l10n.t('Run tests on R?') : l10n.t('Replace the candidate?');

const runsTests = (name: ModelToolName): boolean =>
  name === 'run_tests' || name === 'check_candidate';

/** The side effects of a call, by which the person decides about it. */
export function effectText(name: ModelToolName, id: string, engine: string): string {
  if (!runsTests(name)) {
    return l10n.t(
      'Replaces your edits in the workspace of {0} with the tests that the model has written, as one edit. Undo restores yours.',
      id,
    );
  }
  return runsInContainers(engine)
    ? l10n.t(
        'Runs tests of {0} on R in a container, including code that the model has written.',
        id,
      )
    : l10n.t(
        'Runs tests of {0} on R, including code that the model has written. They run on this machine without a container, with your permissions.',
        id,
      );
}
