import { temperatureOf, type Method, type MethodCandidate } from '../method';
import type { TextAgent } from './agent';
import type { AgentEnd, AgentEnding } from './agentRun';

/** The method that lets an agent work on an instance, and takes what differs from R at its end. */
export function agentMethod(agent: TextAgent): Method {
  const method: Method = {
    name: agent.name,
    title: agent.title,
    description: agent.description,
    runs: 'workspace',
    samples: 1,
    temperature: agent.temperature,
    async produce(steps, options) {
      const { limits = 'paper', onCandidate } = options;
      const temperature = temperatureOf(method, options);
      const end = await steps.act(agent, { limits: agent.limits[limits], temperature });
      const isSubmitted = end.ending === 'submitted' || agent.submitsAtEnd;
      if (!isSubmitted || end.patch === '' || end.answer === undefined) {
        return { candidates: [], chosen: undefined, why: whyOf(agent, end, isSubmitted) };
      }
      const candidate: MethodCandidate = {
        sample: 1,
        answer: end.answer,
        patch: await steps.convert(end.patch),
      };
      onCandidate?.(candidate);
      return { candidates: [candidate], chosen: candidate, why: whyOf(agent, end, isSubmitted) };
    },
  };
  return method;
}

const words: Readonly<Record<AgentEnding, (end: AgentEnd) => string>> = {
  submitted: ({ calls }) => `submitted after ${calls} calls`,
  calls: ({ calls }) => `ended by the limit of ${calls} calls`,
  cost: ({ calls }) => `ended by its limit of dollars after ${calls} calls`,
  context: ({ calls }) => `ended by the length of its history after ${calls} calls`,
  format: ({ calls }) => `ended by answers without a command after ${calls} calls`,
};

function whyOf(agent: TextAgent, end: AgentEnd, isSubmitted: boolean): string {
  const what =
    end.patch === ''
      ? ', with no change'
      : isSubmitted
        ? ''
        : `; ${agent.title} submits nothing then`;
  const left = end.leftOut.map(([path, why]) => `; ${path} is left out: ${why}`);
  return `${words[end.ending](end)}${what}${left.join('')}`;
}
