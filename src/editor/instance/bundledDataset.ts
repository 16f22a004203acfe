import { join } from 'node:path';

export const bundledDataset = (extension: string): string =>
  join(extension, 'media', 'sample', 'instance.jsonl');

export const bundledSource = (extension: string): string =>
  join(extension, 'media', 'sample', 'repository');
