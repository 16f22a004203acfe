import {
  spawn,
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  type SpawnOptions,
  type SpawnOptionsWithoutStdio,
} from 'node:child_process';
import { systemFault } from './systemFault';

/**
 * Starts a program as `spawn` does. Where descriptors are used up, Node returns a child without
 * streams, and reports the error to listeners that its caller cannot have added yet.
 *
 * @throws HumanError that names what is used up; what `spawn` throws
 */
export function startProgram(
  program: string,
  args: readonly string[],
  options: SpawnOptionsWithoutStdio,
): ChildProcessWithoutNullStreams;
export function startProgram(
  program: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess;
export function startProgram(
  program: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const child = spawn(program, args, options);
  if (child.pid === undefined && child.stdio === undefined) {
    child.once('error', () => undefined);
    throw systemFault(Object.assign(new Error(), { code: 'EMFILE' })) ?? new Error();
  }
  return child;
}
