import { runSuite } from './host/suite';

export const run = (): Promise<void> =>
  runSuite(
    async () => {
      await import('./untrusted.test');
    },
    { timeout: 180_000 },
  );
