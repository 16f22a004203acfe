import * as vscode from 'vscode';
import type { InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { isSetToContainers } from '../shell/settingNames/isSetToContainers';
import type { ShownVerdict } from './verdictSentences';

/** The last verdict of an instance; undefined before the first. */
export function shownVerdict(
  open: Pick<InstanceSource, 'folder'> & Revealing & LatestVerdict,
  current: boolean,
): ShownVerdict | undefined {
  const { last: evaluated, environment, revealed, wasRevealed } = open;
  if (evaluated === undefined) return undefined;
  const { language } = vscode.env;
  const inContainers = isSetToContainers(open.folder.uri);
  return { evaluated, current, environment, inContainers, revealed, wasRevealed, language };
}
