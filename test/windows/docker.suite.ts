import { runSuite } from './host/suite';

export const run = (): Promise<void> =>
  runSuite(
    async () => {
      await import('./docker.test');
      await import('./acpAgents.test');
    },
    { timeout: 900_000 },
  );
