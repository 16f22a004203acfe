/** What a model thought before it answered. Untrusted. */
export interface Reasoning {
  readonly text: string;
  /** What the provider wants back with it, such as a signature. */
  readonly metadata?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
  /** The model wrote it into its answer, between tags. Providers do not want it back. */
  readonly isFromText?: true | undefined;
}

const names = 'think|thinking|thought|reasoning';
const opening = new RegExp(`^[ \\t]*(?:<(?:${names})>|\\[THINK\\])`, 'im');
const closing = new RegExp(`(?:</(?:${names})>|\\[/THINK\\])`, 'i');
/** Where a server strips the opening tag, the closing one is alone. */
const closingAlone = new RegExp(`^[ \\t]*(?:</(?:${names})>|\\[/THINK\\])[ \\t]*$`, 'im');

/**
 * Takes what is between tags of thinking out of a text. A tag counts at the beginning of a line
 * only, so that code that mentions one stays. What is not closed goes to the end.
 */
export function withoutThinking(text: string): {
  readonly text: string;
  readonly reasoning: readonly Reasoning[];
} {
  const thoughts: string[] = [];
  let answer = '';
  let rest = text;
  const alone = closingAlone.exec(rest);
  const first = opening.exec(rest);
  if (alone !== null && (first === null || alone.index < first.index)) {
    thoughts.push(rest.slice(0, alone.index));
    rest = rest.slice(alone.index + alone[0].length);
  }
  for (;;) {
    const open = opening.exec(rest);
    if (open === null) break;
    answer += rest.slice(0, open.index);
    rest = rest.slice(open.index + open[0].length);
    const close = closing.exec(rest);
    thoughts.push(close === null ? rest : rest.slice(0, close.index));
    rest = close === null ? '' : rest.slice(close.index + close[0].length);
  }
  if (thoughts.length === 0) return { text, reasoning: [] };
  return {
    text: `${answer}${rest}`.replace(/^\s+/, ''),
    reasoning: thoughts
      .filter((each) => each.trim() !== '')
      .map((each) => ({ text: each.trim(), isFromText: true as const })),
  };
}

/** Calls of tools in the syntax of a model, which its server should have read. */
const writtenCall =
  /<tool_call>|<\|tool_call|\[TOOL_CALLS\]|<function[=_]\w+|<tools?>\s*\{|<invoke name=|```tool_(?:call|code)\b|<\|python_tag\|>|^\s*(?:```json\s*)?\{\s*"(?:name|tool|function)"\s*:\s*"[\w.-]+"\s*,\s*"(?:arguments|parameters|input)"\s*:/;

/** Whether a text has calls that a server without a parser for them left as they are. */
export const writesCallsAsText = (text: string): boolean => writtenCall.test(text);
