import { runSuite } from './host/suite';

export const run = (): Promise<void> =>
  runSuite(
    async () => {
      await import('./scriptedModels.test');
      await import('./generate.test');
      await import('./chat.test');
      await import('./tools.test');
      await import('./mcpServer.test');
      await import('./testsOfModels.test');
      // Last: it checks what the others have sent and received.
      await import('./leaks.test');
    },
    { timeout: 900_000 },
  );
