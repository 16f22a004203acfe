/** A fenced block of an answer. */
interface FencedBlock {
  /** The word behind the fence, such as `bash`; empty without one. */
  readonly language: string;
  readonly text: string;
  /** Offset of the fence in the answer. */
  readonly start: number;
}

/**
 * The outermost fenced blocks of an answer. A fence with a language inside a block opens a nested block,
 * which belongs to the text of the outer one. A block without a closing fence is left out.
 */
export function fencedBlocks(answer: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { language: string; start: number; textStart: number; nested: number } | undefined;
  for (const match of answer.matchAll(/^[ \t]*```([^\n`]*)$/gm)) {
    const language = (match[1] ?? '').trim();
    if (open === undefined) {
      const textStart = match.index + match[0].length + 1;
      open = { language, start: match.index, textStart, nested: 0 };
    } else if (language !== '') open.nested += 1;
    else if (open.nested > 0) open.nested -= 1;
    else {
      const text = answer.slice(open.textStart, Math.max(open.textStart, match.index - 1));
      blocks.push({ language: open.language, text, start: open.start });
      open = undefined;
    }
  }
  return blocks;
}
