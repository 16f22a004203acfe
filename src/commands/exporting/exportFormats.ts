import type { ExportFormat } from './exportedTask';
import { harbor } from './harborTask';

/** The formats that instances are exported in. A new one is a file and its entry here. */
export const exportFormats: readonly ExportFormat[] = [harbor];
