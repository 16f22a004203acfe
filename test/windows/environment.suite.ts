import { runSuite } from './host/suite';

export const run = (): Promise<void> =>
  runSuite(
    async () => {
      await import('./environment.test');
    },
    { timeout: 300_000 },
  );
