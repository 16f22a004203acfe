import { agentlessTests } from './agentless/testing/agentlessTests';
import { agentMethod } from './agents/agentMethod';
import { agents } from './agents/agents';
import { assertFlip } from './assertFlip/assertFlip';
import { libro } from './prompted/libro';
import type { Method } from './method';
import { passAt5 } from './prompted/passAt5';
import { surrogate } from './surrogate/surrogate';
import { toolsMethod } from './toolCalls/toolsMethod';
import { zeroShot, zeroShotPlus } from './prompted/zeroShot';
import { agentless } from './agentless/agentless';
import type { AgentlessSettings } from './agentless/agentlessSettings';
import { retrievalBaseline } from './agentless/retrievalBaseline';

/**
 * The methods: those of the paper that ask a model, the choice by surrogate fixes, AssertFlip, agents that
 * exchange text (`agents/agents.ts`), the one that calls tools, and the reproduction tests of
 * Agentless. Add a new one here.
 */
export const methods: readonly Method[] = [
  ...[zeroShot, zeroShotPlus, passAt5, libro, surrogate(), assertFlip],
  ...agents.map(agentMethod),
  toolsMethod,
  agentlessTests,
];

/** The methods that write code patches. Add a new one here. */
export const repairMethods = (settings?: AgentlessSettings): readonly Method[] => [
  agentless(settings),
  retrievalBaseline,
];

/**
 * The method with a name that was already checked, such as one of a saved record.
 *
 * @throws Error when there is none
 */
export function methodNamed(name: string): Method {
  const method = [...methods, ...repairMethods()].find((each) => each.name === name);
  if (method === undefined) throw new Error(`there is no method named ${name}`);
  return method;
}

/** A method by its name in any spelling: `ZeroShotPlus`, `Pass@5`. */
export function methodOf(name: string, among: readonly Method[] = methods): Method | undefined {
  const plain = (text: string): string =>
    text
      .toLowerCase()
      .replace(/@/g, 'at')
      .replace(/[^a-z0-9]/g, '');
  return among.find(
    (method) => plain(method.name) === plain(name) || plain(method.title) === plain(name),
  );
}
