import * as vscode from 'vscode';
import type { Reporter } from '../../domain/work';
import type { InstanceForModels } from '../tools/instanceForModels';
import { chatParticipantId } from '../shell/names';

/**
 * Offers `@swt` in the chat.
 *
 * @param opened resolves when it is known whether an instance is open
 */
export function offerChatParticipant(
  opened: () => Promise<InstanceForModels | undefined>,
  reporter: Reporter,
): vscode.Disposable {
  const participant = vscode.chat.createChatParticipant(
    chatParticipantId,
    async (request, context, stream, token) => {
      const open = await opened();
      const { answerChat } = await import('../shell/parts');
      return answerChat({ request, context, stream, token }, open, reporter);
    },
  );
  participant.iconPath = new vscode.ThemeIcon('beaker');
  participant.followupProvider = {
    provideFollowups: async (result) => (await import('../shell/parts')).followupsOf(result),
  };
  return participant;
}
