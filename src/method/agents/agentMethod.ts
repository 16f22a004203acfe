import {
  temperatureOf,
  type Method,
  type MethodCandidate,
  type MethodOptions,
  type MethodResult,
} from '../method';
import type { Steps } from '../steps';
import type { TextAgent } from './agent';
import type { AgentEnd, AgentEnding } from './agentRun';

/** The method that lets an agent work on an instance, and takes what differs from R at its end. */
export function agentMethod(agent: TextAgent): Method {
  const method: Method = {
    name: agent.name,
    title: agent.title,
    description: agent.description,
    runs: agent.needs === 'shell' ? 'workspace' : 'nothing',
    samples: 1,
    temperature: agent.temperature,
    limits: agent.limits,
    async produce(steps, options) {
      const { limits = 'paper', onCandidate } = options;
      const temperature = temperatureOf(method, options);
      const onPatch = candidateSoFar(onCandidate);
      const end = await steps.act(agent, { limits, temperature, onPatch });
      return agentResult(agent, end, steps, onCandidate);
    },
  };
  return method;
}

/** Tells of what differs from R during a run, so that a run that is stopped keeps it. */
export const candidateSoFar = (
  onCandidate: MethodOptions['onCandidate'],
): Parameters<Steps['act']>[1]['onPatch'] =>
  onCandidate === undefined
    ? undefined
    : (answer, patch) => onCandidate({ sample: 1, answer, patch });

type Ended = Pick<TextAgent, 'title' | 'submitsAtEnd'>;

/** The result of an agent's run: what differs from R at its end, where the agent submits that. */
export async function agentResult(
  agent: Ended,
  end: AgentEnd,
  steps: Pick<Steps, 'convert'>,
  onCandidate: MethodOptions['onCandidate'],
): Promise<MethodResult> {
  const { ending, answer, patch } = end;
  // A window that is too small is no choice of the agent, so what it has counts.
  const isSubmitted = ['submitted', 'stopped', 'context'].includes(ending) || agent.submitsAtEnd;
  const why = whyOf(agent, end, isSubmitted);
  if (!isSubmitted || patch === '' || answer === undefined) {
    return { candidates: [], chosen: undefined, why };
  }
  const candidate: MethodCandidate = {
    sample: 1,
    answer,
    patch: await steps.convert(patch, answer),
  };
  onCandidate?.(candidate);
  return { candidates: [candidate], chosen: candidate, why };
}

const words: Readonly<Record<AgentEnding, (end: AgentEnd) => string>> = {
  submitted: ({ calls }) => `submitted after ${calls} calls`,
  stopped: ({ calls }) => `the model ended after ${calls} calls`,
  'given up': ({ calls }) => `ended by the last of its tries after ${calls} calls`,
  calls: ({ calls }) => `ended by the limit of ${calls} calls`,
  cost: ({ calls }) => `ended by its limit of dollars after ${calls} calls`,
  context: ({ calls }) => `ended by the length of its history after ${calls} calls`,
  format: ({ calls }) => `ended by answers that hold nothing to do after ${calls} calls`,
};

function whyOf(agent: Ended, end: AgentEnd, isSubmitted: boolean): string {
  const what =
    end.patch === ''
      ? ', with no change'
      : isSubmitted
        ? ''
        : `; ${agent.title} submits nothing then`;
  const left = end.leftOut.map(([path, why]) => `; ${path} is left out: ${why}`);
  return `${words[end.ending](end)}${what}${left.join('')}`;
}
