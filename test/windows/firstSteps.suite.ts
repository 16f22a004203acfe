import { runSuite } from './host/suite';

export const run = (): Promise<void> =>
  runSuite(
    async () => {
      await import('./authoring/firstSteps');
    },
    { timeout: 900_000 },
  );
