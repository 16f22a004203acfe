import type * as vscode from 'vscode';

/** `vscode.l10n` of a window without a translation: original texts with filled placeholders. */
export const english: typeof vscode.l10n = {
  bundle: undefined,
  uri: undefined,
  t(message: unknown, ...values: unknown[]): string {
    if (typeof message !== 'string') throw new TypeError('only texts are translated here');
    return message.replace(/\{(\d+)\}/g, (_, index: string) => String(values[Number(index)]));
  },
};
