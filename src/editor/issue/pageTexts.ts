import * as vscode from 'vscode';
import type { PageTexts } from './issuePage';

/** Texts of the issue page itself, in the language of the window. */
export function pageTexts(): PageTexts {
  return {
    plainText: vscode.l10n.t('Plain text'),
    instance: vscode.l10n.t('Instance'),
    repository: vscode.l10n.t('Repository'),
    version: vscode.l10n.t('Version'),
    created: vscode.l10n.t('Created'),
    length: vscode.l10n.t('Length'),
    requirements: vscode.l10n.t('Requirements'),
    asOf: (requirements, day) => vscode.l10n.t('{0}, as of {1}', requirements, day),
    ofProject: vscode.l10n.t('those of the project'),
    openInstance: vscode.l10n.t('Open Instance'),
    makeEnvironment: vscode.l10n.t('Make Environment'),
    baseCommit: (commit) => vscode.l10n.t('Base commit {0}', commit),
    words: (count) =>
      count === 1
        ? vscode.l10n.t('1 word')
        : vscode.l10n.t('{0} words', count.toLocaleString(vscode.env.language)),
    pullRequest: (number) => vscode.l10n.t('Pull request #{0} on GitHub', number),
    isHidden: vscode.l10n.t('Golden patch, golden tests and later hints are hidden.'),
    reveal: vscode.l10n.t('Reveal…'),
    hints: vscode.l10n.t('Hints'),
    hintsAreLater: vscode.l10n.t('written after the issue'),
    goldenTests: vscode.l10n.t('Golden tests (T*)'),
    goldenPatch: vscode.l10n.t('Golden patch (X*)'),
    none: (title) => vscode.l10n.t('{0}: none', title),
  };
}
