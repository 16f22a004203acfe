import type { RepairRates } from '../studyReportSchema';
import type { MethodRow } from './methodColumns';
import { type TableColumn, column, formats } from './tableColumn';
import type { Granularity } from '../resolution/correctLocation';

/** The value of a column for methods of code repair alone. */
const ofRepair =
  <Value>(value: (row: RepairRates) => Value | undefined) =>
  (row: MethodRow): Value | undefined =>
    'repair' in row ? value(row.repair) : undefined;

const correct = (of: Granularity): TableColumn<MethodRow> =>
  column({
    id: `repair_correct_${of}`,
    head: `correct ${of}`,
    help: `the patch edits a superset of the ${of}s of X*`,
    format: formats.shareAlone,
    value: ofRepair(({ correctLocation, selected }) => ({
      count: correctLocation[of],
      of: selected,
    })),
  });

/** The table 1 of the Agentless paper, after the name of the method. */
export const repairColumns: readonly TableColumn<MethodRow>[] = [
  column({
    id: 'repair_model',
    head: 'Model',
    help: 'the model that the method asks',
    format: formats.text,
    value: ofRepair(({ madeBy }) => madeBy?.model),
  }),
  column({
    id: 'repair_selected',
    head: 'n',
    help: 'selected instances: the denominator of every share',
    format: { ...formats.count, raw: {} },
    value: ofRepair(({ selected }) => selected),
  }),
  column({
    id: 'repair_resolved',
    head: 'resolved',
    help: 'by the rules of SWE-bench 5',
    format: formats.shareAndCount,
    value: ofRepair(({ resolved, selected }) => ({ count: resolved.length, of: selected })),
  }),
  column({
    id: 'repair_strictly_resolved',
    head: 'strictly',
    help: 'every test that passes on R∘X* passes',
    format: formats.shareAndCount,
    value: ofRepair(({ strictlyResolved, selected }) => ({
      count: strictlyResolved.length,
      of: selected,
    })),
  }),
  column({
    id: 'repair_dollars_mean',
    head: 'mean USD',
    help: 'to generate the patches of an instance',
    format: formats.mean(2),
    value: ofRepair(({ dollars }) => dollars),
  }),
  column({
    id: 'repair_input_tokens_mean',
    head: 'mean tokens in',
    help: 'to generate the patches of an instance',
    format: formats.mean(0),
    value: ofRepair(({ inputTokens }) => inputTokens),
  }),
  column({
    id: 'repair_output_tokens_mean',
    head: 'mean tokens out',
    help: 'to generate the patches of an instance',
    format: formats.mean(0),
    value: ofRepair(({ outputTokens }) => outputTokens),
  }),
  correct('line'),
  correct('function'),
  correct('file'),
  column({
    id: 'repair_empty_patches',
    head: 'empty',
    help: 'instances with an empty patch',
    format: formats.count,
    value: ofRepair(({ emptyPatches }) => emptyPatches),
  }),
  column({
    id: 'repair_errors',
    head: 'errors',
    help: 'instances without a grade',
    format: formats.count,
    value: ofRepair(({ errors }) => errors),
  }),
];
