import { join } from 'node:path';
import PQueue from 'p-queue';
import { runBatch } from '../../batch/runBatch';
import { workersFor } from '../../batch/workersFor';
import { Cancelled, messageOf, type Reporter } from '../../domain/work';
import type { Instance, Prediction } from '../../domain/instance';
import type { Engine } from '../../engine/engine';
import { runStore } from '../../evaluation/testRun';
import { createPythonParser, type PythonParser } from '../../python/parser';
import { parseSources, type Sources } from '../../repository/source';
import type { ProgramContext } from '../registerCommand';
import { sourcesFor } from '../options/openDatasetOption';
import type { GenerateOptions } from './generationParts';

interface GradingParts {
  readonly options: GenerateOptions;
  readonly context: ProgramContext;
  /** Opens the engine, which the caller disposes of. */
  readonly engine: () => Promise<Engine>;
  readonly reporter: Pick<Reporter, 'log'>;
}

/**
 * Runs the tests of predictions on both sides while others are still made. It keeps the runs, and
 * writes no results: the evaluation that follows reads the whole file and finds its runs done.
 * Nothing of a verdict reaches a model.
 */
export class GradingAlongside {
  private constructor(
    private readonly parts: GradingParts,
    private readonly engine: Engine,
    private readonly python: PythonParser,
    private readonly sources: Sources,
    private readonly queue: PQueue,
  ) {}

  /** @throws HumanError when the engine cannot be opened */
  static async open(parts: GradingParts): Promise<GradingAlongside> {
    const { options, context } = parts;
    const engine = await parts.engine();
    const python = await createPythonParser((file) => join(context.assets, file));
    const workers = workersFor(engine);
    const sources = parseSources(sourcesFor(options, context));
    return new GradingAlongside(
      parts,
      engine,
      python,
      sources,
      new PQueue({ concurrency: workers }),
    );
  }

  /** Grades a prediction as soon as a worker is free. A failure is reported when the prediction is evaluated. */
  add(instance: Instance, prediction: Prediction): void {
    void this.queue.add(() => this.grade(instance, prediction));
  }

  /** Resolves when everything that was added is graded, or the command is interrupted. */
  async finish(): Promise<void> {
    await this.queue.onIdle();
    this.python.dispose();
  }

  private async grade(instance: Instance, prediction: Prediction): Promise<void> {
    const { options, context, reporter } = this.parts;
    const { storage, timeout: timeoutSeconds, mode = 'unit-test' } = options;
    if (context.signal.aborted) return;
    try {
      const { done } = runBatch({
        ...{ instances: [instance], predictions: [prediction] },
        ...{ engine: this.engine, python: this.python, sources: this.sources },
        ...{ store: runStore(storage), storage, workers: 1, timeoutSeconds },
        ...{ format: 'auto', formats: context.formats, mode, fresh: false, signal: context.signal },
        reporter: { log: () => undefined, progress: () => undefined },
      });
      const [entry] = (await done).entries;
      if (entry !== undefined) reporter.log(`${instance.id}: graded: ${entry.explanation}`);
    } catch (error) {
      if (!(error instanceof Cancelled)) reporter.log(`${instance.id}: ${messageOf(error)}`);
    }
  }
}
