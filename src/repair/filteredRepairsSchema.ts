import { z } from 'zod';
import { version as productVersion } from '../../package.json';
import { standings } from '../domain/outcome';
import { filterReasons, filterRepairs } from '../study/resolution';
import type { Engine } from '../engine/engine';
import type { FilteredBatch } from './filterRequest';

/** Raised when a key of the document changes its meaning. */
const filteredVersion = 1;

const count = z.number().int().nonnegative();
const share = z.number().min(0).max(1).exactOptional();
const standing = z
  .enum([...standings, 'missing'])
  .describe('`missing`: the test did not appear; `neither`: it was skipped, or failed as expected');

/** The document that `filter-repairs --json` prints, and that `result.json` contains. */
export const filteredRepairsSchema = z.object({
  version: z.literal(filteredVersion),
  product: z.string().describe('Version of the program'),
  run: z.string().describe('Name of the run'),
  tests: z.string().describe('Model of the generated tests; empty where there are none'),
  engine: z.string(),
  repairs: z
    .array(
      z.object({
        instance: z.string(),
        name: z.string().describe('Model of the code patch, with @N for its sample N'),
        reason: z.enum(filterReasons).describe('`kept`, or the first reason why it is not'),
        detail: z
          .string()
          .exactOptional()
          .describe('The test that decided, or what prevented a decision'),
        resolved: z
          .boolean()
          .exactOptional()
          .describe('Whether it resolves the issue; absent where that is not known'),
        tests: z
          .array(z.object({ test: z.string(), base: standing, patched: standing }))
          .exactOptional()
          .describe('The generated tests on R and on R with the patch, where they ran on both'),
      }),
    )
    .describe('In the order of the files'),
  quality: z
    .object({
      known: count.describe('Evaluated patches whose correctness is known'),
      right: count.describe('Of these, patches that resolve their issue'),
      kept: count,
      keptRight: count,
      precision: share.describe('keptRight / kept; absent where none is kept'),
      recall: share.describe('keptRight / right; absent where none is right'),
      precisionBefore: share.describe('right / known: precision without the filter'),
    })
    .describe('How well the tests tell right patches from wrong ones'),
  reused: count.describe('Patches that an earlier command had finished'),
  problems: z.array(z.string()).describe('What could not be read'),
});

export type FilteredDocument = z.infer<typeof filteredRepairsSchema>;

/** Builds the document. */
export function filteredDocument(
  batch: FilteredBatch,
  of: {
    readonly run: string;
    readonly tests: string;
    readonly engine: Engine;
    readonly problems: readonly string[];
  },
): FilteredDocument {
  const { repairs, quality } = filterRepairs(batch.tested);
  const document = {
    version: filteredVersion,
    product: productVersion,
    run: of.run,
    tests: of.tests,
    engine: of.engine.description,
    repairs,
    quality,
    reused: batch.reused,
    problems: of.problems,
  };
  // In its written form: without undefined values.
  return JSON.parse(JSON.stringify(document)) as FilteredDocument;
}
