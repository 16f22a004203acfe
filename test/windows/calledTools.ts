/** Calls our tools as agents in this VS Code do, and records every answer. */
import * as vscode from 'vscode';

/** All answers of tools in this window, including errors. */
export const answers: string[] = [];

/** Calls one of our tools. Where VS Code asks first, it confirms by itself in tests. */
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
