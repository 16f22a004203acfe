import type { Spending, Trajectory, TrajectoryStep } from '../trajectory';
import {
  atifCallText,
  ownExtras,
  ownKey,
  type AtifContent,
  type AtifDocument,
  type AtifResult,
  type AtifStep,
  type OwnPart,
  type SubagentRef,
} from './atifShape';

/** A document with those that it refers to, as far as they could be read. */
export interface AtifTree {
  readonly document: AtifDocument;
  /** What continues it in another file. */
  readonly next?: AtifTree;
  /** Trajectories of subagents: by their id where they are embedded, else by their path. */
  readonly subagents: ReadonlyMap<string, AtifTree>;
}

/**
 * A document of ATIF. What this program wrote is read back equal; of other programs, a turn is a step
 * of the agent, and each call of a tool stands before what it returned.
 *
 * @param place the id and the candidate that the file's place says
 */
export const readAtif = (tree: AtifTree, place: AtifPlace): Trajectory =>
  readOwn(tree.document) ?? readForeign(tree, place);

/** What is known of a document by where it lies. */
export interface AtifPlace {
  readonly instance: string;
  /** The patch that the agent left. */
  readonly submission?: string;
}

/** The text of a content. Pictures and sounds are named, and not shown. */
function contentText(content: AtifContent | null | undefined): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  return content
    .map(({ type, text, source }) => {
      if (typeof text === 'string') return text;
      const { path, media_type: media, duration_sec: seconds } = source ?? {};
      const facts = [media, typeof seconds === 'number' ? `${seconds} s` : undefined];
      return `[${[type, path, ...facts].filter((each) => typeof each === 'string').join(', ')}]`;
    })
    .join('\n');
}

/** Tokens and dollars under their names here; what is no number from 0 on is absent. */
function spendingIn(
  inputTokens: number | null | undefined,
  outputTokens: number | null | undefined,
  dollars: number | null | undefined,
): Spending {
  const isKnown = (value: number | null | undefined): value is number =>
    typeof value === 'number' && value >= 0;
  return {
    ...(isKnown(inputTokens) && { inputTokens }),
    ...(isKnown(outputTokens) && { outputTokens }),
    ...(isKnown(dollars) && { dollars }),
  };
}

const spendingOfStep = ({ metrics }: AtifStep): Spending =>
  spendingIn(metrics?.prompt_tokens, metrics?.completion_tokens, metrics?.cost_usd);

const ownIn = (extra: Readonly<Record<string, unknown>> | null | undefined): unknown =>
  extra?.[ownKey];

/** Reads back what {@link writeAtif} wrote; undefined for a document of another program. */
function readOwn({ extra, steps }: AtifDocument): Trajectory | undefined {
  const { data: root } = ownExtras.document.safeParse(ownIn(extra));
  if (root === undefined) return undefined;
  const read: TrajectoryStep[] = [];
  for (const step of steps) {
    const part = ownSteps(step);
    // Somebody has added a step, or changed one.
    if (part === undefined) return undefined;
    read.push(...part);
  }
  const { version: _, program: format, ...rest } = root;
  return { ...rest, format, steps: read };
}

function ownSteps(step: AtifStep): TrajectoryStep[] | undefined {
  const { data } = ownExtras.step.safeParse(ownIn(step.extra));
  if (data === undefined) return undefined;
  const { turn, message } = data;
  const { timestamp } = step;
  const said: TrajectoryStep[] =
    message === undefined
      ? []
      : [
          {
            ...{ turn, text: contentText(step.message), ...spendingOfStep(step) },
            ...(typeof timestamp === 'string' && { at: timestamp }),
            ...withoutText(message),
            kind: message.kind,
          },
        ];
  const results = (step.observation?.results ?? []).map((result) => ({
    id: result.source_call_id ?? undefined,
    part: partIn(result.extra),
    text: contentText(result.content),
  }));
  const calls = (step.tool_calls ?? []).map((call) => ({ call, part: partIn(call.extra) }));
  if ([...results, ...calls].some(({ part }) => part === undefined)) return undefined;
  const seen = (id: string | undefined): TrajectoryStep[] =>
    results
      .filter((each) => each.id === id)
      .map(({ part = {}, text }) => ({ kind: 'observation', turn, text, ...withoutText(part) }));
  return [
    ...said,
    ...calls.flatMap(({ call, part = {} }): TrajectoryStep[] => {
      const { function_name: name, arguments: given } = call;
      const command = part.isText === true ? given['command'] : undefined;
      return [
        {
          ...{ kind: 'action', turn, ...withoutText(part) },
          text: part.text ?? (typeof command === 'string' ? command : atifCallText(name, given)),
          ...(part.isText !== true && { call: { name, arguments: given } }),
        },
        ...seen(call.tool_call_id),
      ];
    }),
    ...seen(undefined),
  ];
}

const partIn = (extra: Readonly<Record<string, unknown>> | null | undefined): OwnPart | undefined =>
  ownExtras.part.safeParse(ownIn(extra)).data;

const withoutText = ({ text: _, isText: _isText, ...rest }: OwnPart) => rest;

function readForeign(tree: AtifTree, place: AtifPlace): Trajectory {
  const { document } = tree;
  const reader = new ForeignReader();
  reader.add(tree);
  const { agent } = document;
  const model =
    agent.model_name ?? document.steps.map((step) => step.model_name ?? '').find(Boolean);
  const stated = statedBy(tree);
  return {
    ...place,
    format: 'atif',
    ...(agent.name !== '' && { agent: agent.name }),
    ...(typeof model === 'string' && { model }),
    steps: reader.steps,
    ...(Object.keys(stated).length > 0 && { stated }),
  };
}

/** What the whole cost. The metrics of a continuation include those of what it continues. */
function statedBy(tree: AtifTree): Spending {
  let most: Spending = {};
  for (let at: AtifTree | undefined = tree; at !== undefined; at = at.next) {
    const { final_metrics: stated } = at.document;
    const here = spendingIn(
      stated?.total_prompt_tokens,
      stated?.total_completion_tokens,
      stated?.total_cost_usd,
    );
    const larger = (field: keyof Spending): number | undefined =>
      Math.max(most[field] ?? -1, here[field] ?? -1);
    most = spendingIn(larger('inputTokens'), larger('outputTokens'), larger('dollars'));
  }
  return most;
}

/** Whether a step's model is that of the agent, which may say the provider before it. */
const isSameModel = (model: string, ofAgent: string): boolean =>
  model === ofAgent || ofAgent.endsWith(`/${model}`);

/** Whose steps are read: of the agent itself, or of a subagent. */
interface Place {
  /** Name of the subagent, before the labels of its steps. */
  readonly owner?: string;
  /** Where ids of embedded trajectories are looked up, the nearest first. */
  readonly among: readonly AtifTree[];
}

class ForeignReader {
  readonly steps: TrajectoryStep[] = [];
  private turn = 0;
  /** A reference may lead back to a trajectory that refers to it. */
  private readonly shown = new Set<AtifTree>();

  add(tree: AtifTree, place: Place = { among: [] }): void {
    this.shown.add(tree);
    const here = { ...place, among: [tree, ...place.among] };
    const { notes } = tree.document;
    if (typeof notes === 'string' && notes.trim() !== '') {
      this.push(here, { kind: 'stage', label: 'notes', text: notes });
    }
    for (const step of tree.document.steps) this.addStep(step, tree, here);
    for (const [id, subagent] of tree.subagents) {
      if (!this.shown.has(subagent)) this.addSubagent(id, subagent, here);
    }
    for (let at = tree.next; at !== undefined; at = at.next) {
      this.shown.add(at);
      const continued = { ...here, among: [at, ...here.among] };
      for (const step of at.document.steps) {
        // What is copied for context stands in the file before.
        if (step.is_copied_context !== true) this.addStep(step, at, continued);
      }
    }
  }

  private push(
    { owner }: Place,
    { label, ...step }: Omit<TrajectoryStep, 'turn'>,
    at?: string | null,
  ): void {
    const labels = [owner, label].filter((each) => each !== undefined && each !== '');
    this.steps.push({
      ...step,
      turn: this.turn,
      ...(labels.length > 0 && { label: labels.join(': ') }),
      ...(typeof at === 'string' && { at }),
    });
  }

  private addStep(step: AtifStep, { document }: AtifTree, place: Place): void {
    const { timestamp } = step;
    const results = step.observation?.results ?? [];
    const message = contentText(step.message);
    if (step.source !== 'agent') {
      if (message !== '' || results.length === 0) {
        this.push(place, { kind: 'asked', label: step.source, text: message }, timestamp);
      }
      this.addResults(results, place);
      return;
    }
    const isCopied = step.is_copied_context === true;
    // A dispatch without a model is no answer.
    const isDispatch = step.llm_call_count === 0;
    if (!isCopied && !isDispatch) this.turn += 1;
    const model = step.model_name ?? undefined;
    const common = {
      ...(model !== undefined &&
        !isSameModel(model, document.agent.model_name ?? '') && { label: model }),
      // Copied steps were paid for where they were made.
      ...(isCopied ? { label: 'copied' } : spendingOfStep(step)),
    };
    const calls = step.tool_calls ?? [];
    const thought = step.reasoning_content ?? '';
    // Some programs say the same in both.
    const said = thought.trim() === message.trim() ? [message] : [thought, message];
    const both = said.filter((each) => each.trim() !== '').join('\n\n');
    if (calls.length > 0) {
      if (both !== '' || Object.keys(common).length > 0) {
        this.push(place, { kind: 'thought', text: both, ...common }, timestamp);
      }
    } else if (message !== '' && results.some(({ content }) => contentText(content) !== '')) {
      // What an agent without calls of tools does stands in its message.
      if (thought !== '') this.push(place, { kind: 'thought', text: thought }, timestamp);
      this.push(place, { kind: 'action', text: message, ...common }, timestamp);
    } else {
      const kind = isDispatch ? 'stage' : 'answer';
      this.push(place, { kind, text: both, ...common }, timestamp);
    }
    const ids = new Set<string>();
    for (const { tool_call_id: id, function_name: name, arguments: given } of calls) {
      const text = atifCallText(name, given);
      const call = { name, arguments: given };
      this.push(place, { kind: 'action', label: name, text, call }, timestamp);
      if (!ids.has(id))
        this.addResults(
          results.filter((each) => each.source_call_id === id),
          place,
        );
      ids.add(id);
    }
    this.addResults(
      results.filter((each) => !ids.has(each.source_call_id ?? '')),
      place,
    );
  }

  private addResults(results: readonly AtifResult[], place: Place): void {
    for (const { content, subagent_trajectory_ref: refs } of results) {
      const text = contentText(content);
      const all = refs ?? [];
      if (text !== '' || all.length === 0) this.push(place, { kind: 'observation', text });
      for (const ref of all) this.addReference(ref, place);
    }
  }

  private addReference(ref: SubagentRef, place: Place): void {
    const keys = [ref.trajectory_id, ref.trajectory_path, ref.session_id].filter(
      (each) => typeof each === 'string',
    );
    for (const key of keys) {
      const found = place.among.map(({ subagents }) => subagents.get(key)).find(Boolean);
      if (found === undefined) continue;
      if (!this.shown.has(found)) this.addSubagent(key, found, place);
      return;
    }
    const [name = 'without a name'] = keys;
    this.push(place, {
      kind: 'stage',
      label: 'subagent',
      text: `${name} (its steps are not read)`,
    });
  }

  private addSubagent(key: string, subagent: AtifTree, place: Place): void {
    const { name } = subagent.document.agent;
    const owner = [place.owner, `subagent ${name === '' ? key : name}`].filter(Boolean).join(': ');
    this.add(subagent, { ...place, owner });
  }
}
