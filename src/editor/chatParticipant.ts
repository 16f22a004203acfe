import * as vscode from 'vscode';
import type { Reporter } from '../domain/reporter';
import type { InstanceForModels } from './forModels';
import { chatParticipantId } from './names';

/**
 * Offers `@swt` in the chat.
 *
 * @param opened resolves when it is known whether an instance is open
 */
export function offerChat(
  opened: () => Promise<InstanceForModels | undefined>,
  reporter: Reporter,
): vscode.Disposable {
  const participant = vscode.chat.createChatParticipant(
    chatParticipantId,
    async (request, context, stream, token) => {
      const open = await opened();
      const { answerChat } = await import('./parts');
      return answerChat({ request, context, stream, token }, open, reporter);
    },
  );
  participant.iconPath = new vscode.ThemeIcon('beaker');
  participant.followupProvider = {
    provideFollowups: async (result) => (await import('./parts')).followupsOf(result),
  };
  return participant;
}
