import { resolve, sep } from 'node:path';

/** Whether an absolute path lies below a folder, with `..` resolved. */
export function isWithin(path: string, folder: string): boolean {
  const whole = resolve(folder);
  return resolve(path).startsWith(whole.endsWith(sep) ? whole : whole + sep);
}
