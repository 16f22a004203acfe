import {
  temperatureOf,
  type Method,
  type MethodCandidate,
  type MethodOptions,
  type MethodResult,
} from '../method';
import type { Steps } from '../steps/steps';
import { readTests } from '../steps/readPatch';
import { keyOf } from '../trace';
import type { AgentKind, AgentOf, FilesAgent, LimitProfile, ShellAgent, TextAgent } from './agent';
import { AgentRun, type AgentEnd, type AgentEnding, type AgentRunParts } from './agentRun';
import { askWithHistory, recallAct, type OnPatch } from './askWithHistory';
import type { FilesOnR } from './filesOnR';
import type { WorkspaceOnR } from './workspaceOnR';

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
      const using = {
        limits,
        temperature: temperatureOf(method, options),
        onPatch: candidateSoFar(onCandidate),
      };
      const end =
        agent.needs === 'shell'
          ? await actInShell(steps, agent, using)
          : await actOnFiles(steps, agent, using);
      return agentResult(agent, end, steps, onCandidate);
    },
  };
  return method;
}

interface Using {
  readonly limits: LimitProfile;
  readonly temperature: number | undefined;
  readonly onPatch: OnPatch;
}

async function actOnFiles(steps: Steps, agent: FilesAgent, using: Using): Promise<AgentEnd> {
  const { storage, signal, instance } = steps.parts;
  const { id, repo, issue } = instance;
  const task = { repo, issue, limits: agent.limits[using.limits] };
  const open = async (): Promise<FilesOnR> =>
    (await steps.view()).openFiles({ storage, instance: id });
  const place = keyOf('files', await steps.tree());
  const key = keyOf('begin', agent.name, agent.version, task, place);
  const { state } = await steps.recall('begin', key, async () => ({
    agent: agent.name,
    state: await agent.begin({ workspace: await open(), task, signal }),
  }));
  return act(steps, agent, using, { task, first: state, place, open, losesOnRestart: false });
}

async function actInShell(steps: Steps, agent: ShellAgent, using: Using): Promise<AgentEnd> {
  const { instance, engine, signal, reporter } = steps.parts;
  const { repo, issue } = instance;
  let opened: WorkspaceOnR | undefined;
  const open = async (): Promise<WorkspaceOnR> => {
    const first = opened;
    opened = undefined;
    return first ?? (await steps.view()).openWorkspace({ signal, reporter });
  };
  const place = keyOf('workspace', await steps.tree(), engine);
  try {
    const { folder } = await steps.recall('workspace', place, async () => {
      opened = await open();
      return { folder: opened.folder };
    });
    const task = { repo, issue, folder, limits: agent.limits[using.limits] };
    return await act(steps, agent, using, {
      ...{ task, place, open, losesOnRestart: true },
      first: { cwd: folder },
    });
  } finally {
    await opened?.dispose();
  }
}

/** Lets an agent work until it submits or reaches a limit. @param place digest of where it works */
function act<Kind extends AgentKind>(
  steps: Steps,
  agent: AgentOf<Kind>,
  { temperature, onPatch }: Using,
  {
    place,
    ...work
  }: Pick<AgentRunParts<Kind>, 'task' | 'first' | 'open' | 'losesOnRestart'> & {
    readonly place: string;
  },
): Promise<AgentEnd> {
  const { name, version, topP } = agent;
  const { model, signal } = steps.parts;
  const whose = keyOf(name, version, work.task, place, model, temperature);
  return new AgentRun<Kind>({
    ...{ agent, ...work, signal },
    ask: (system, all, call, answerSchema) =>
      askWithHistory(
        steps,
        { system, messages: all, ...(answerSchema !== undefined && { answerSchema }) },
        (messages) => [whose, call, system, messages],
        { method: name, temperature, topP },
      ),
    act: (answer, before, make) =>
      recallAct(
        steps,
        keyOf('act', whose, before?.key, answer.key),
        { agent: name, answer, before },
        { make, onPatch },
      ),
    reporter: { progress: (text) => steps.progress(text) },
  }).toEnd();
}

/** Reports the difference to R during a run, so that a stopped run keeps it. */
export const candidateSoFar = (onCandidate: MethodOptions['onCandidate']): OnPatch =>
  onCandidate && ((answer, patch) => onCandidate({ sample: 1, answer, patch }));

type Ended = Pick<TextAgent, 'title' | 'submitsAtEnd'>;

/** The result of an agent's run: what differs from R at its end, where the agent submits that. */
export async function agentResult(
  agent: Ended,
  end: AgentEnd,
  steps: Steps,
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
    patch: await readTests(steps, patch, answer),
  };
  onCandidate?.(candidate);
  return { candidates: [candidate], chosen: candidate, why };
}

const words: Readonly<Record<AgentEnding, (end: AgentEnd) => string>> = {
  submitted: ({ calls }) => `submitted after ${calls} calls`,
  stopped: ({ calls }) => `the model finished after ${calls} calls`,
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
