/**
 * The tests' side of models/extension.cjs: scripted language models in this VS Code, which record
 * everything that they receive.
 */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { waitFor } from './host/client';

/**
 * The answer of a model; a text alone means `{ text }`. Text comes first, then calls, then an
 * error.
 */
export type ScriptedAnswer =
  | string
  | {
      readonly text?: string;
      /** Calls of tools by the names in the request. */
      readonly calls?: readonly { readonly name: string; readonly input?: object }[];
      /** Ends the answer with an error: a LanguageModelError with a code, else any other. */
      readonly error?: {
        readonly code?: 'Blocked' | 'NotFound' | 'NoPermissions';
        readonly message: string;
      };
      /** The answer does not end before it is cancelled. */
      readonly hangs?: boolean;
    };

export type ScriptedPart =
  | { readonly type: 'text' | 'other'; readonly text: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: object }
  | { readonly type: 'result'; readonly id: string; readonly text: string };

/** A request as the model received it. */
export interface ScriptedRequest {
  readonly model: string;
  readonly messages: readonly {
    readonly role: 'user' | 'assistant';
    readonly parts: readonly ScriptedPart[];
  }[];
  readonly tools: readonly vscode.LanguageModelChatTool[];
  /** All texts of the messages, including calls and results of tools. */
  readonly text: string;
  /** Whether it was cancelled before its answer ended. */
  readonly cancelled: boolean;
}

export interface ScriptedModels {
  /** Requests since `clear`, in order. */
  readonly requests: readonly ScriptedRequest[];
  /** Requests since the window was opened: everything that ever reached a model. */
  readonly everything: readonly ScriptedRequest[];
  /**
   * Adds answers: each request takes the next one. A function computes its answer from the request.
   */
  script(
    ...answers: readonly (ScriptedAnswer | ((request: ScriptedRequest) => ScriptedAnswer))[]
  ): void;
  /** The answer when no other is left; without it such a request fails. */
  always(answer: ScriptedAnswer | ((request: ScriptedRequest) => ScriptedAnswer)): void;
  /** Number of answers that no request has taken yet. */
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
