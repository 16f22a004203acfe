import type { ExportFormat } from './exportedTask';
import { harbor } from './harborTask';
import { inspect } from './inspectTask';

/** The formats that instances are exported in. A new one is a file and its entry here. */
export const exportFormats: readonly ExportFormat[] = [harbor, inspect];
