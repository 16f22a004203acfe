import * as vscode from 'vscode';

/** Most earlier turns that a model receives, and most characters of each. */
const mostTurns = 8;
const mostCharacters = 6000;

/** Earlier requests to this participant and its answers, as bounded messages for the model. */
export function turnsBefore(
  history: vscode.ChatContext['history'],
): vscode.LanguageModelChatMessage[] {
  return history.slice(-mostTurns).flatMap((turn) => {
    if (turn instanceof vscode.ChatRequestTurn) {
      const command = turn.command === undefined ? '' : `/${turn.command} `;
      const text = `${command}${turn.prompt}`.trim();
      return text === '' ? [] : [vscode.LanguageModelChatMessage.User(bounded(text))];
    }
    const text = turn.response
      .map((part) => (part instanceof vscode.ChatResponseMarkdownPart ? part.value.value : ''))
      .join('')
      .trim();
    return text === '' ? [] : [vscode.LanguageModelChatMessage.Assistant(bounded(text))];
  });
}

/** The end of an answer says more than its beginning. */
const bounded = (text: string): string =>
  text.length <= mostCharacters
    ? text
    : `[${text.length - mostCharacters} characters before]\n${text.slice(-mostCharacters)}`;
