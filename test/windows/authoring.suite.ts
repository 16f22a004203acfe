import { runSuite } from './host/suite';

export const run = (): Promise<void> =>
  runSuite(
    async () => {
      await import('./authoring/inline');
      await import('./authoring/runs');
      await import('./authoring/coverage');
      await import('./authoring/mutants');
      await import('./authoring/verdict');
    },
    { timeout: 900_000 },
  );
