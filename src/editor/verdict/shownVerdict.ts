import * as vscode from 'vscode';
import type { LatestVerdict, Revealing } from '../instance/instanceRoles';
import type { ShownVerdict } from './verdictSentences';

/** The last verdict of an instance; undefined before the first. */
export function shownVerdict(
  open: Revealing & LatestVerdict,
  current: boolean,
): ShownVerdict | undefined {
  const { last: evaluated, environment, revealed, wasRevealed } = open;
  if (evaluated === undefined) return undefined;
  const { language } = vscode.env;
  return { evaluated, current, environment, revealed, wasRevealed, language };
}
