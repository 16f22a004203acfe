import { z } from 'zod';
import type { Spending, TrajectoryStep } from '../trajectory';
import { callText, messageContent, messageText } from './messageText';

const text = z.string().optional().catch(undefined);
const content = messageContent.optional().catch(undefined);

/** An event of OpenHands since 1.0 (`openhands.sdk.event` of the software agent SDK). */
export const newEventSchema = z.looseObject({
  kind: z.string(),
  source: text,
  timestamp: text,
  /** Of `ActionEvent`. */
  thought: content,
  reasoning_content: z.string().nullish().catch(undefined),
  action: z.looseObject({ kind: text }).nullish().catch(undefined),
  tool_name: text,
  tool_call: z
    .looseObject({ name: text, arguments: z.unknown().optional() })
    .optional()
    .catch(undefined),
  llm_response_id: text,
  /** Of `ObservationEvent`; older ones have `output`. */
  observation: z.looseObject({ content, output: text }).nullish().catch(undefined),
  error: text,
  rejection_reason: text,
  /** Of `MessageEvent`. */
  llm_message: z.looseObject({ role: text, content }).optional().catch(undefined),
  system_prompt: z.looseObject({ text }).optional().catch(undefined),
});
export type NewEvent = z.infer<typeof newEventSchema>;

/**
 * The steps of events in their order. Events about the state of the program are left out.
 *
 * @param spent what each response cost, by its id
 */
export function stepsOfNewEvents(
  events: readonly NewEvent[],
  spent: ReadonlyMap<string, Spending>,
): TrajectoryStep[] {
  let turn = 0;
  let response: string | undefined;
  let since: number | undefined;
  return events.flatMap((event): TrajectoryStep[] => {
    const at = event.timestamp === undefined ? NaN : new Date(event.timestamp).getTime();
    const seconds = Number.isNaN(at) || since === undefined ? undefined : (at - since) / 1000;
    if (!Number.isNaN(at)) since = at;
    const common = {
      ...(!Number.isNaN(at) && event.timestamp !== undefined && { at: event.timestamp }),
      ...(seconds !== undefined && seconds >= 0 && { seconds }),
    };
    switch (event.kind) {
      case 'SystemPromptEvent':
        return [asked('system', event.system_prompt?.text ?? '', { turn, ...common })];
      case 'MessageEvent': {
        const said = messageText(event.llm_message?.content);
        const isAgent = event.source === 'agent' || event.llm_message?.role === 'assistant';
        if (!isAgent) return [asked('user', said, { turn, ...common })];
        turn += 1;
        const cost = spent.get(event.llm_response_id ?? '');
        return [{ kind: 'answer', turn, text: said, ...common, ...cost }];
      }
      case 'ActionEvent': {
        // Several calls of one response are one turn, and its cost counts once.
        const id = event.llm_response_id;
        const isSame = id !== undefined && id === response;
        response = id;
        if (!isSame) turn += 1;
        return actionSteps(event, {
          ...{ turn, ...common },
          ...(isSame ? {} : spent.get(id ?? '')),
        });
      }
      case 'ObservationEvent':
      case 'AgentErrorEvent':
      case 'UserRejectObservation':
        return [
          { kind: 'observation', turn, ...labelled(event.tool_name), text: seen(event), ...common },
        ];
      default:
        return [];
    }
  });
}

const asked = (
  label: string,
  text: string,
  common: Omit<TrajectoryStep, 'kind' | 'text' | 'label'>,
): TrajectoryStep => ({ kind: 'asked', label, text, ...common });

const labelled = (label: string | undefined) => (label === undefined ? {} : { label });

function actionSteps(
  event: NewEvent,
  common: Omit<TrajectoryStep, 'kind' | 'text'>,
): TrajectoryStep[] {
  const name = event.tool_name ?? event.tool_call?.name ?? '';
  const thought = [event.reasoning_content ?? '', messageText(event.thought)]
    .filter((each) => each.trim() !== '')
    .join('\n\n');
  const { kind: _, ...given } = event.action ?? {};
  const hasAction = event.action !== null && event.action !== undefined;
  const done = callText(name, hasAction ? withoutDefaults(given) : event.tool_call?.arguments);
  if (name === 'think')
    return [{ kind: 'thought', text: done.replace(/^think\n(?:thought: )?/, ''), ...common }];
  return [
    { kind: 'thought', text: thought, ...common },
    { kind: 'action', turn: common.turn, ...labelled(name === '' ? undefined : name), text: done },
  ];
}

/** Leaves out flags that are not set. */
const withoutDefaults = (given: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== false));

const seen = ({ observation, error, rejection_reason: rejected }: NewEvent): string =>
  error ?? rejected ?? (messageText(observation?.content) || (observation?.output ?? ''));
