import type { Spending, Trajectory, TrajectoryStep } from '../trajectory';

const header = /^# aider chat started at (.*)$/;

/** Whether a text is a chat history of aider. */
export const isAiderChat = (text: string): boolean =>
  header.test(text.slice(0, 200).trimStart().split('\n', 1)[0] ?? '');

type Part = { readonly kind: 'asked' | 'observation' | 'answer'; readonly lines: string[] };

/**
 * `.aider.chat.history.md` of aider (`aider/io.py`): what a person asked has `####` before it, what
 * the program printed has `>`, and the rest is the model's.
 *
 * @param name the id that the name of the file says
 */
export function readAiderChat(text: string, name: string): Trajectory {
  let turn = 0;
  const steps = partsOf(text).map(({ kind, lines }): TrajectoryStep => {
    const said = lines.join('\n').trim();
    if (kind === 'answer') turn += 1;
    return {
      ...{ kind, turn, text: said },
      ...(kind === 'asked' && { label: 'user' }),
      // aider prints what an answer cost after it.
      ...(kind === 'observation' && spendingIn(said)),
    };
  });
  const [, model] = /^> (?:Main model|Model): (\S+)/m.exec(text) ?? [];
  return {
    ...{ instance: name, format: 'aider', agent: 'aider' },
    ...(model !== undefined && { model }),
    steps: steps.filter((step) => step.text !== ''),
  };
}

/** The parts in their order. A block of code is the model's, whatever its lines begin with. */
function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let fence: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (header.test(line)) fence = undefined;
    const kind = fence === undefined ? kindOf(line) : 'answer';
    const [mark] = /^(?:`{3,}|~{3,})/.exec(line) ?? [];
    if (kind === 'answer' && mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (line.trimEnd() === fence) fence = undefined;
    }
    if (kind === undefined) continue;
    const last = parts.at(-1);
    const shown = kind === 'answer' ? line : line.replace(/^(?:####|>) ?/, '').trimEnd();
    if (last?.kind === kind) last.lines.push(shown);
    // A blank line belongs to what is before it.
    else if (line.trim() === '') last?.lines.push('');
    else parts.push({ kind, lines: [shown] });
  }
  return parts;
}

function kindOf(line: string): Part['kind'] | undefined {
  if (header.test(line)) return undefined;
  if (/^####(?: |$)/.test(line)) return 'asked';
  return /^>(?: |$)/.test(line) ? 'observation' : 'answer';
}

/** Such as `Tokens: 2.4k sent, 1.2k cache hit, 310 received. Cost: $0.0061 message, $0.01 session.` */
function spendingIn(text: string): Spending {
  let spent: Spending = {};
  for (const [line] of text.matchAll(/^Tokens: .*$/gm)) {
    const of = (what: string): number =>
      tokensIn(new RegExp(`([\\d.,]+[kM]?) ${what}`).exec(line)?.[1]);
    const [, dollars] = /Cost: \$([\d.,]+) message/.exec(line) ?? [];
    spent = {
      inputTokens: (spent.inputTokens ?? 0) + of('sent'),
      outputTokens: (spent.outputTokens ?? 0) + of('received'),
      ...(dollars !== undefined && {
        dollars: (spent.dollars ?? 0) + (Number(dollars.replace(/,/g, '')) || 0),
      }),
    };
  }
  return spent;
}

function tokensIn(text = '0'): number {
  const factor = text.endsWith('k') ? 1000 : text.endsWith('M') ? 1e6 : 1;
  return Math.round(Number(text.replace(/[kM,]/g, '')) * factor) || 0;
}
