import * as vscode from 'vscode';
import type { OpenInstance } from '../instance/openInstance';
import type { ShownVerdict } from './verdictSentences';

/** The last verdict of an instance; undefined before the first. */
export function shownVerdict(open: OpenInstance, current: boolean): ShownVerdict | undefined {
  const { last: evaluated, environment, revealed, wasRevealed } = open;
  if (evaluated === undefined) return undefined;
  const { language } = vscode.env;
  return { evaluated, current, environment, revealed, wasRevealed, language };
}
