import { dirname } from 'node:path';
import { HumanError, messageOf, systemCode } from '../domain/work';

/** What the system says of a place, as a clause. */
export const causesOfPlace: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist, and cannot be created',
  ENOTDIR: 'part of the path is a file',
  EEXIST: 'it is a file',
  EISDIR: 'it is a folder',
  EACCES: 'you have no permission',
  EPERM: 'you have no permission',
  EROFS: 'it is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your quota is used up',
  ELOOP: 'its links form a loop',
  ENAMETOOLONG: 'its name is too long',
  EIO: 'the disk reports an error',
};

/** Causes that no defect of this program has, wherever they arise. */
const always: ReadonlySet<string> = new Set(['EACCES', 'EROFS', 'ENOSPC', 'EDQUOT', 'EIO']);

/** What the system ran out of, and how to give it more. */
const shortages: Readonly<Record<string, readonly [what: string, next: string]>> = {
  EMFILE: [
    'This process cannot open more files',
    'Raise the limit (`ulimit -n 4096`), or evaluate fewer instances at the same time',
  ],
  ENFILE: ['The system cannot open more files', 'Close other programs, or raise the limit'],
  EAGAIN: [
    'The system cannot start more processes',
    'Close other programs, or raise the process limit (`ulimit -u`)',
  ],
  ENOMEM: ['The system is out of memory', 'Close other programs, or use fewer workers'],
};

/**
 * The error for the user where the system refused something for a reason that is outside of this
 * program: descriptors, processes or memory are used up, or a place cannot be written. Undefined
 * for any other error.
 */
export function systemFault(error: unknown): HumanError | undefined {
  if (error instanceof HumanError) return undefined;
  const code = /too many open files/i.test(messageOf(error)) ? 'EMFILE' : systemCode(error);
  const { path, dest, syscall } = (error ?? {}) as Partial<
    Record<'path' | 'dest' | 'syscall', unknown>
  >;
  const [what, next] = shortages[code ?? ''] ?? [];
  if (what !== undefined && (code !== 'EAGAIN' || isOfStart(syscall))) {
    return new HumanError(what, next);
  }
  const place = [dest, path].find((each) => typeof each === 'string');
  if (code === undefined || place === undefined || isOfStart(syscall)) return undefined;
  if (code === 'ENOENT' && syscall === 'mkdtemp') {
    return new HumanError(
      `The temporary folder ${dirname(place)} does not exist`,
      'Set TMPDIR to a writable folder',
    );
  }
  // Node's `mkdir` calls a folder missing that it cannot make on a read-only disk.
  if (code === 'ENOENT' && syscall === 'mkdir') {
    return new HumanError(
      `Can't create the folder ${place}: the location is read-only or does not allow folders`,
      'Choose another location',
    );
  }
  return always.has(code)
    ? new HumanError(
        `Can't use ${place}: ${causesOfPlace[code]}`,
        code === 'ENOSPC' || code === 'EDQUOT'
          ? 'Free some space, or choose another location'
          : 'Make it writable, or choose another location',
      )
    : undefined;
}

const isOfStart = (syscall: unknown): boolean =>
  typeof syscall === 'string' && syscall.startsWith('spawn');
