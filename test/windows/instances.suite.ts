import { runSuite } from './host/suite';

export const run = (): Promise<void> =>
  runSuite(
    async () => {
      await import('./instances.test');
      await import('./inContainer.test');
    },
    { timeout: 900_000 },
  );
