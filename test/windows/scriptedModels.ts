/**
 * The tests' side of models/extension.cjs: language models in this VS Code that answer as they are told,
 * and record everything that they are sent.
 */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { waitFor } from './host/client';

/** What a model answers; a text alone is `{ text }`. Text comes first, then calls, then an error. */
export type ScriptedAnswer =
  | string
  | {
      readonly text?: string;
      /** Calls of tools by the names that the request offers. */
      readonly calls?: readonly { readonly name: string; readonly input?: object }[];
      /** Ends the answer by an error: a LanguageModelError with a code, else any other. */
      readonly error?: {
        readonly code?: 'Blocked' | 'NotFound' | 'NoPermissions';
        readonly message: string;
      };
      /** Does not end before it is cancelled. */
      readonly hangs?: boolean;
    };

export type ScriptedPart =
  | { readonly type: 'text' | 'other'; readonly text: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: object }
  | { readonly type: 'result'; readonly id: string; readonly text: string };

/** A request as the model got it. */
export interface ScriptedRequest {
  readonly model: string;
  readonly messages: readonly {
    readonly role: 'user' | 'assistant';
    readonly parts: readonly ScriptedPart[];
  }[];
  readonly tools: readonly vscode.LanguageModelChatTool[];
  /** All texts of the messages, calls and results of tools included. */
  readonly text: string;
  /** Whether it was cancelled before its answer had ended. */
  readonly cancelled: boolean;
}

export interface ScriptedModels {
  /** What was sent since `clear`, in order. */
  readonly requests: readonly ScriptedRequest[];
  /** The same since the window was opened: what has ever reached a model. */
  readonly everything: readonly ScriptedRequest[];
  /** Adds answers: each request takes the next one. A function makes its answer of the request. */
  script(
    ...answers: readonly (ScriptedAnswer | ((request: ScriptedRequest) => ScriptedAnswer))[]
  ): void;
  /** What is answered when no answer is left; without it such a request fails. */
  always(answer: ScriptedAnswer | ((request: ScriptedRequest) => ScriptedAnswer)): void;
  /** How many answers were not taken yet. */
  left(): number;
  /** Forgets answers and requests. */
  clear(): void;
}

/** The models of the test extension, which is loaded by the suite `models`. */
export async function scriptedModels(): Promise<ScriptedModels> {
  const extension = vscode.extensions.getExtension<ScriptedModels>(
    'swt-bench-test.scripted-models',
  );
  assert.ok(extension, 'the extension with scripted models is loaded');
  return extension.activate();
}

/**
 * One of the models as our extension sees it: `scripted` calls tools, `scripted-without-tools` does not,
 * `scripted-small` takes 6,000 tokens.
 */
export function scriptedModel(
  id: 'scripted' | 'scripted-without-tools' | 'scripted-small' = 'scripted',
): Promise<vscode.LanguageModelChat> {
  return waitFor(`the model ${id}`, async () => {
    const found = await vscode.lm.selectChatModels({ vendor: 'swt-test', id });
    return found[0];
  });
}
