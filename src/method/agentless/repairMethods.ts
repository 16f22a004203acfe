import type { Method } from '../method';
import { retrievalBaseline } from './retrievalBaseline';

/** The methods that write code patches. Add a new one here. */
export const repairMethods: readonly Method[] = [retrievalBaseline];
