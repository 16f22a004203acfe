/** Calls our tools as agents in this VS Code do, and records every answer. */
import * as vscode from 'vscode';
import { hands, visible } from './host/client';

/** All answers of tools in this window, including errors. */
export const answers: string[] = [];

/**
 * Invokes a tool, and says yes where VS Code asks before.
 *
 * @param name as VS Code knows it
 */
export async function confirmed(
  name: string,
  input: object,
  token?: vscode.CancellationToken,
): Promise<vscode.LanguageModelToolResult> {
  const invoked = vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined }, token);
  let isDone = false;
  const done = (): void => void (isDone = true);
  invoked.then(done, done);
  while (!isDone) {
    if ((await visible.dialog())?.buttons.includes('Yes') === true) {
      const selector = '.monaco-dialog-box .dialog-buttons .monaco-button';
      // It may be gone by then.
      await hands.click({ selector, text: 'Yes', timeout: 5000 }).catch(() => undefined);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return invoked;
}

/** Calls one of our tools. */
export async function call(
  name: string,
  input: object = {},
  token?: vscode.CancellationToken,
): Promise<string> {
  try {
    const { content } = await confirmed(`swt-bench_${name}`, input, token);
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
