import { runSuite } from './host/suite';

export const run = (): Promise<void> =>
  runSuite(
    async () => {
      await import('./customDiff.test');
      await import('./customDiffCommands.test');
    },
    { timeout: 900_000 },
  );
