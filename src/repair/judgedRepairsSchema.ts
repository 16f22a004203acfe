import { z } from 'zod';
import { version as productVersion } from '../../package.json';
import { repairRates, judgedRepairSchema } from '../study/resolution';
import type { InstanceFacts } from '../study/entry';
import { repairRatesSchema } from '../study/studyReportSchema';
import { judgedVersion } from '../results/judged';
import type { JudgedBatch } from './judgeRequest';

const count = z.number().int().nonnegative();

/** The document that `evaluate --kind repair --json` prints, and that `result.json` contains. */
export const judgedRepairsSchema = z.object({
  version: z.literal(judgedVersion),
  product: z.string().describe('Version of the program'),
  run_id: z.string(),
  engine: z.string(),
  selected: z.array(z.string()).describe('Ids of all selected instances'),
  results: z.array(judgedRepairSchema).describe('In the order of the predictions'),
  rates: z.array(repairRatesSchema).describe('One row for each model'),
  reused: count.describe('Patches that an earlier command had finished'),
  problems: z.array(z.string()).describe('What could not be read'),
});

export type JudgedDocument = z.infer<typeof judgedRepairsSchema>;

/** Builds the document. */
export function judgedDocument(
  { judged, reused }: Pick<JudgedBatch, 'judged' | 'reused'>,
  of: {
    readonly instances: readonly InstanceFacts[];
    readonly run: string;
    /** Its description. */
    readonly engine: string;
    readonly problems: readonly string[];
  },
): JudgedDocument {
  const { instances } = of;
  const document = {
    version: judgedVersion,
    product: productVersion,
    run_id: of.run,
    engine: of.engine,
    selected: instances.map(({ id }) => id),
    results: judged,
    rates: repairRates([{ label: of.run, instances, judged }]),
    reused,
    problems: of.problems,
  };
  // In its written form: without undefined values.
  return JSON.parse(JSON.stringify(document)) as JudgedDocument;
}
