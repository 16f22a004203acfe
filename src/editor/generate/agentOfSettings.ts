import * as vscode from 'vscode';
import { acpAgent } from '../../method/acp/acpMethod';
import type { AcpAgent } from '../../method/acp/acpRun';
import { settingKeys } from '../shell/names';
import type { ConfiguredAgent } from './agentSettings';

/** The agent of an entry of the settings. */
export const agentOfSettings = ({
  name,
  program,
  seconds,
  ...definition
}: ConfiguredAgent): AcpAgent =>
  acpAgent(name, definition, {
    ...{ program, seconds },
    advice: vscode.l10n.t(
      'Set "program" of the agent to the folder with it and its runtime, in {0}',
      settingKeys.agents,
    ),
  });
