/** Calls of our tools as agents of this VS Code make them; everything that they answer is kept. */
import * as vscode from 'vscode';

/** All that tools have answered in this window, errors included. */
export const answers: string[] = [];

/** Calls one of our tools. Where VS Code asks first it says yes by itself in tests. */
export async function call(
  name: string,
  input: object = {},
  token?: vscode.CancellationToken,
): Promise<string> {
  try {
    const { content } = await vscode.lm.invokeTool(
      `swt-bench_${name}`,
      { input, toolInvocationToken: undefined },
      token,
    );
    const text = content
      .map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : ''))
      .join('');
    answers.push(text);
    return text;
  } catch (error) {
    answers.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    throw error;
  }
}
