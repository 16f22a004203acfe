import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentKind, AgentOf } from '../../../../src/method/agents/agent';
import {
  AgentRun,
  type AgentEnd,
  type AgentRunParts,
  type MadeAct,
} from '../../../../src/method/agents/agentRun';
import type { ChatMessage } from '../../../../src/method/models/chatModel';
import type { ActStep, StepOf } from '../../../../src/method/trace';

interface PlayedRequest {
  readonly system: string;
  readonly messages: readonly ChatMessage[];
}

export interface Played {
  readonly end: AgentEnd;
  readonly requests: readonly PlayedRequest[];
  readonly acts: readonly MadeAct[];
}

/** Plays an agent with a script in the place of the model; each answer costs so much. */
export async function playAgent<Kind extends AgentKind>(
  agent: AgentOf<Kind>,
  script: readonly string[],
  {
    dollars = 0,
    ...parts
  }: Pick<AgentRunParts<Kind>, 'task' | 'first' | 'open' | 'losesOnRestart'> & {
    readonly dollars?: number | undefined;
  },
): Promise<Played> {
  const requests: PlayedRequest[] = [];
  const acts: MadeAct[] = [];
  const end = await new AgentRun<Kind>({
    ...{ agent, ...parts },
    ask: (system, messages) => {
      requests.push({ system, messages: [...messages] });
      const text = script[requests.length - 1] ?? '';
      return Promise.resolve({ text, dollars, key: String(requests.length) } as StepOf<'answer'>);
    },
    act: async (answer, before, make) => {
      const made = await make();
      acts.push({ ...made, seconds: 0 });
      return { ...made, key: `${before?.key ?? ''}/${answer.key}` } as unknown as ActStep;
    },
    reporter: { progress: () => undefined },
  }).toEnd();
  return { end, requests, acts };
}

/** A whole request, as a person would read it. UPDATE_GOLDEN=1 writes it anew. */
export function assertGolden(name: string, request: PlayedRequest | undefined): void {
  const text = [
    `--- system\n${request?.system ?? ''}`,
    ...(request?.messages ?? []).map(({ role, content }) => `--- ${role}\n${content}`),
  ].join('\n');
  const path = join(__dirname, 'golden', `${name}.txt`);
  if (process.env['UPDATE_GOLDEN'] === '1' || !existsSync(path)) writeFileSync(path, `${text}\n`);
  assert.equal(`${text}\n`, readFileSync(path, 'utf8'));
}
