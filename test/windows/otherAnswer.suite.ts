import { runSuite } from './host/suite';

export const run = (): Promise<void> =>
  runSuite(
    async () => {
      await import('./receivedInChat.test');
    },
    { timeout: 900_000 },
  );
