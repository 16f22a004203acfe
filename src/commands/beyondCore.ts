import { engines } from '../engine/engines';
import { environments } from '../environments/environments';
import { furtherFormats } from '../patch/patchFormats';
import type { CommandContext } from './context';
import type { ProgramContext } from './registerCommand';

const folders = async () => (await import('../dataset/predictionFolders')).predictionFolders;

/** What this program has beyond the core. */
export const beyondCore: Omit<ProgramContext, keyof CommandContext> = {
  engines,
  environments,
  formats: furtherFormats,
  satellites: {
    testOnMutants: async (...of) => (await import('../mutation/testMutants')).testOnMutants(...of),
    evaluateRepairs: async (...of) => (await import('./evaluateRepairs')).evaluateRepairs(...of),
    predictionFolders: {
      read: async (...of) => (await folders()).read(...of),
      digest: async (...of) => (await folders()).digest(...of),
    },
    withTrajectoryFindings: async (...of) =>
      (await import('../trajectory/withTrajectoryFindings')).withTrajectoryFindings(...of),
  },
};
