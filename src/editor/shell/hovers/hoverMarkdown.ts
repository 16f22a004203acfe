import * as vscode from 'vscode';
import type { HoverPart } from './hoverPart';
import { appendPlainText } from '../plainText';

/** Appends a part of a hover to Markdown. */
export function appendPart(markdown: vscode.MarkdownString, part: HoverPart): void {
  if ('plain' in part) appendPlainText(markdown, part.plain);
  else if ('code' in part) markdown.appendCodeblock(part.code, 'text');
  else markdown.appendMarkdown(part.between === 'sections' ? '\n\n---\n\n' : '\n\n');
}

/** Draws a hover. */
export function hoverMarkdown(parts: readonly HoverPart[]): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString();
  for (const part of parts) appendPart(markdown, part);
  return markdown;
}
