import { homedir } from 'node:os';
import { join } from 'node:path';

/** A path as a user writes it, with `~` and `~/` for the home folder. */
export const expandHome = (path: string): string =>
  path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path;
