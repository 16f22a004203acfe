import type { Method } from '../method';
import { agentless } from './agentless';
import type { AgentlessSettings } from './agentlessSettings';
import { retrievalBaseline } from './retrievalBaseline';

/** The methods that write code patches. Add a new one here. */
export const repairMethods = (settings?: AgentlessSettings): readonly Method[] => [
  agentless(settings),
  retrievalBaseline,
];
