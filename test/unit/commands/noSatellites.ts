import type { CommandContext } from '../../../src/commands/context';

const none = (): Promise<never> => Promise.reject(new Error('only `evaluate` asks for it'));

/** For commands that need nothing beyond the core. */
export const noSatellites: CommandContext['satellites'] = {
  evaluateRepairs: none,
  withTrajectoryFindings: none,
};
