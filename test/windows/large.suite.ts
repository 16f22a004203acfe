import { runSuite } from './host/suite';

export const run = (): Promise<void> =>
  runSuite(
    async () => {
      await import('./authoring/large');
    },
    { timeout: 900_000 },
  );
