import { HumanError, messageOf } from '../../domain/work';
import { inspectSamples, patchOfSample } from '../../files/inspectLog';

type Row = { readonly row: number } & ({ readonly value: object } | { readonly error: string });

/**
 * The samples of a log of inspect_ai as rows of a predictions file. The number of an epoch is that of
 * the sample.
 *
 * @param where names the log in messages
 * @throws HumanError when it is damaged
 */
export async function inspectRows(log: Buffer, where: string): Promise<Row[]> {
  const rows: Row[] = [];
  try {
    for await (const { model, value } of inspectSamples(log)) {
      rows.push({ row: rows.length + 1, ...rowOf(model, value) });
    }
    return rows;
  } catch (error) {
    const why = `cannot be read as an inspect_ai log (${messageOf(error)})`;
    throw new HumanError(`The ${where} ${why}`, 'Copy it again');
  }
}

const longestFailure = 200;

function rowOf(model: string | undefined, sample: Readonly<Record<string, unknown>>) {
  const { id, epoch, total_time: seconds, model_usage: usages, error } = sample;
  const patch = patchOfSample(sample);
  if (patch === undefined) {
    const { message } = (error ?? {}) as Readonly<Record<string, unknown>>;
    const [why = ''] = typeof message === 'string' ? message.split('\n', 1) : [];
    const failed = why === '' ? '' : `, since it failed (${why.slice(0, longestFailure)})`;
    return { error: `sample ${String(id)}: no score has its model_patch${failed}` };
  }
  const all = Object.values(usages ?? {}) as Readonly<Record<string, unknown>>[];
  const sum = (name: string): number =>
    all.reduce((before, usage) => before + (Number(usage[name]) || 0), 0);
  const usage = { input_tokens: sum('input_tokens'), output_tokens: sum('output_tokens') };
  return {
    value: {
      ...{ instance_id: String(id), model_name_or_path: model, model_patch: patch, seconds },
      ...(typeof epoch === 'number' && epoch > 1 && { sample: epoch }),
      ...(all.length > 0 && { usage }),
    },
  };
}
