import type { V1Pod } from '@kubernetes/client-node';
import type { Loss } from '../sandbox/agent';

/**
 * What a pod says about itself, as far as the engine acts on it. `waiting` has no fault: it may
 * last as long as the limit for waiting allows.
 */
export type PodState =
  | {
      readonly is: 'running';
      readonly node: string;
      readonly imageId: string;
      readonly hostAddress: string;
    }
  | { readonly is: 'waiting'; readonly for: Wait; readonly why: string }
  | { readonly is: 'refused'; readonly why: string }
  | {
      readonly is: 'gone';
      readonly loss: Loss;
      /** Whether the node is lost, as opposed to the pod alone. */
      readonly withNode?: boolean;
    };

/** What a pod waits for; `program` means that it takes the program of an agent now. */
type Wait = 'room' | 'image' | 'start' | 'program';

/** Reasons of a container that waits although no waiting helps. */
const hopeless = ['InvalidImageName', 'ErrImageNeverPull', 'CreateContainerConfigError'];

/** What pullers say when an image is not there or not allowed, as opposed to a network in trouble. */
const noImage = /not found|manifest unknown|denied|unauthorized|authorization failed|forbidden/i;

/**
 * Reads the status of a pod with one container, and perhaps one before it that takes a program.
 * https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/
 *
 * @param pod undefined when there is no such pod any more
 */
export function podState(pod: V1Pod | undefined): PodState {
  if (pod === undefined) return gone('its pod was removed');
  const { status, spec, metadata } = pod;
  const container = status?.containerStatuses?.[0];
  const ended = container?.state?.terminated ?? container?.lastState?.terminated;
  if (ended?.reason === 'OOMKilled') return { is: 'gone', loss: { ending: 'out of memory' } };
  const disruption = status?.conditions?.find(
    ({ type, status: holds }) => type === 'DisruptionTarget' && holds === 'True',
  );
  const on = spec?.nodeName === undefined ? '' : ` of node ${spec.nodeName}`;
  if (disruption !== undefined || status?.reason === 'Evicted') {
    const { reason = status?.reason, message = status?.message } = disruption ?? {};
    return gone(`its pod${on} was evicted (${[reason, message].filter(Boolean).join(': ')})`);
  }
  if (metadata?.deletionTimestamp !== undefined) return gone(`its pod${on} is being removed`);
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') {
    const words = [status.reason, status.message, ended?.reason].filter(Boolean).join(': ');
    return gone(`its pod${on} ended${words === '' ? '' : ` (${words})`}`);
  }
  if (status?.phase === 'Unknown') {
    return { ...gone(`the node${on.slice(8)} of its pod is lost`), withNode: true };
  }
  if (ended !== undefined) {
    return gone(`the container of its pod${on} ended with status ${ended.exitCode}`);
  }
  if (container?.state?.running !== undefined) {
    const { hostIP = '' } = status ?? {};
    return {
      is: 'running',
      node: spec?.nodeName ?? '',
      imageId: container.imageID,
      hostAddress: hostIP,
    };
  }
  return waiting(pod);
}

const gone = (why: string): PodState & { is: 'gone' } => ({ is: 'gone', loss: { why } });

function waiting({ status, spec }: V1Pod): PodState {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (spec?.nodeName === undefined) {
    return { is: 'waiting', for: 'room', why: roomWords(scheduled?.message ?? '') };
  }
  const first = status?.initContainerStatuses?.[0];
  if (first?.state?.running !== undefined) return { is: 'waiting', for: 'program', why: '' };
  const isFirst = first?.state?.waiting !== undefined;
  const container = isFirst ? first : status?.containerStatuses?.[0];
  const { reason = '', message = '' } = container?.state?.waiting ?? {};
  if (hopeless.includes(reason)) return { is: 'refused', why: `${reason}: ${message}` };
  if (/ImagePull|ErrImage/.test(reason)) {
    return noImage.test(message)
      ? { is: 'refused', why: message.slice(0, 300) }
      : { is: 'waiting', for: 'image', why: `${reason}: ${message.slice(0, 300)}` };
  }
  if (/Error$/.test(reason)) return { is: 'refused', why: `${reason}: ${message.slice(0, 300)}` };
  const isPulling = ['ContainerCreating', 'PodInitializing', ''].includes(reason);
  return { is: 'waiting', for: isPulling ? 'image' : 'start', why: reason };
}

/**
 * The scheduler's words without its counting: `0/2 nodes are available: 2 Insufficient memory.
 * preemption: …`.
 */
const roomWords = (message: string): string =>
  message
    .replace(/^\d+\/\d+ nodes are available: /, '')
    .replace(/\.? preemption:.*$/s, '')
    .replace(/no new claims to deallocate,?/, '')
    .trim();

/**
 * What waits for what: `3 pulling, 2 pending: no node has 4 GiB`.
 *
 * @param memoryMb memory of each pod, in MiB
 */
export function waitingWords(states: readonly PodState[], memoryMb: number): string {
  const waiting = states.flatMap((each) => (each.is === 'waiting' ? [each] : []));
  const pulling = waiting.filter((each) => each.for === 'image');
  const starting = waiting.filter((each) => each.for === 'start');
  const taking = waiting.filter((each) => each.for === 'program');
  const pending = waiting.filter((each) => each.for === 'room');
  const troubles = [...new Set(pulling.map(({ why }) => why).filter((why) => /:/.test(why)))];
  const reasons = new Set(
    pending.map(({ why }) =>
      /Insufficient memory/.test(why)
        ? `no node has ${Number((memoryMb / 1024).toFixed(2))} GiB`
        : why,
    ),
  );
  const because = (list: readonly string[]): string =>
    list.length === 0 ? '' : `: ${list.join('; ')}`;
  return [
    ...(pulling.length === 0 ? [] : [`${pulling.length} pulling${because(troubles)}`]),
    ...(starting.length === 0 ? [] : [`${starting.length} starting`]),
    ...(taking.length === 0 ? [] : [`${taking.length} receiving the agent`]),
    ...(pending.length === 0
      ? []
      : [`${pending.length} pending${because([...reasons].filter((each) => each !== ''))}`]),
  ].join(', ');
}
