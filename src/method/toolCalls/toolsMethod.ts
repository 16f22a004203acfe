import type { LimitProfile } from '../agents/agent';
import { agentResult, candidateSoFar } from '../agents/agentMethod';
import { temperatureOf, type Method } from '../method';
import type { AgentEnd } from '../agents/agentRun';
import { askWithHistory, recallAct, type OnPatch } from '../agents/askWithHistory';
import type { Steps } from '../steps/steps';
import { keyOf } from '../trace';
import { toolPromptVersion } from './toolPrompts';
import { ToolRun, type ToolLimits } from './toolRun';

/**
 * Limits of the SWT-Bench paper for its agents, and larger ones. The editor's own agent has no paper of
 * its own.
 */
const limitsOf: Readonly<Record<LimitProfile, ToolLimits>> = {
  paper: { calls: 20, dollars: 3, contextTokens: 128_000 },
  modern: { calls: 100, dollars: 3, contextTokens: 400_000 },
};

/** The editor's own agent: a model that calls the tools on R, as agents in VS Code and over MCP do. */
export const toolsMethod: Method = {
  name: 'tools',
  title: 'Tools',
  description: 'a model that calls tools to search R, apply tests, and run them on R',
  runs: 'R',
  samples: 1,
  temperature: 0,
  limits: limitsOf,
  needsTools: true,
  async produce(steps, options) {
    const { limits = 'paper', onCandidate } = options;
    const temperature = temperatureOf(toolsMethod, options);
    const end = await callTools(steps, limitsOf[limits], temperature, candidateSoFar(onCandidate));
    return agentResult({ title: toolsMethod.title, submitsAtEnd: true }, end, steps, onCandidate);
  },
};

/** Lets a model call the tools on R until it ends or reaches a limit. */
async function callTools(
  steps: Steps,
  limits: ToolLimits,
  temperature: number | undefined,
  onPatch: OnPatch,
): Promise<AgentEnd> {
  const { instance, model, engine, timeoutSeconds, signal } = steps.parts;
  const { repo, issue } = instance;
  const place = [await steps.tree(), engine, timeoutSeconds];
  const whose = keyOf('tools', toolPromptVersion, repo, issue, limits, place, model, temperature);
  return new ToolRun({
    ...{ repo, issue, limits, timeoutSeconds, signal },
    ask: ({ system, tools, messages: all }, call) =>
      askWithHistory(
        steps,
        { system, tools, messages: all },
        (messages) => [whose, call, { system, messages, tools }],
        { method: 'tools', temperature },
      ),
    act: (answer, number, before, make) =>
      recallAct(
        steps,
        keyOf('act', whose, before?.key, answer.key, number),
        { agent: 'tools', answer, before },
        { make, onPatch },
      ),
    view: () => steps.view(),
    reporter: {
      log: (line) => steps.tell(line),
      progress: (text) => steps.progress(text),
    },
  }).toEnd();
}
