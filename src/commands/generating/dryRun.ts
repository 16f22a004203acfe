import { jsonText } from '../../domain/text';
import type { Method } from '../../method/method';
import { estimateRun } from '../../method/generating';
import { budgetOf, type ChatModel } from '../../method/models';
import { openTrace } from '../../method/trace';
import { EXIT, terminalReporter } from '../context';
import { generationWidth } from '../options/generationWidth';
import {
  agentBoundText,
  boundOf,
  dryRunDocument,
  dryRunOf,
  dryRunText,
  type DryRun,
} from './dryRunText';
import { liveParts, requestOf, type GenerationParts } from './generationParts';

type DryRunParts = Omit<GenerationParts, 'width'> & { readonly out: string };

/**
 * `--dry-run` of `swt-bench generate` and `repair`: what a run would ask and cost. It is exact for
 * prompts of R and the issue, and a bound for what depends on answers. It needs no key, and writes neither predictions nor trace.
 *
 * @returns the exit status
 * @throws HumanError, Cancelled
 */
export async function dryRun(parts: DryRunParts): Promise<number> {
  const { options, context, method, instances } = parts;
  const { price, json } = options;
  const of = { method: method.name, model: options.model };
  if (method.limits !== undefined) {
    const limits = limitsOf(method.limits, options);
    const count = instances.length;
    if (json === true) context.data(jsonText({ ...of, instances: count, at_most_each: limits }));
    else
      context.stdout(agentBoundText(count, limits, price !== undefined, boundOf(count, options)));
    return EXIT.done;
  }
  const found = await estimated(parts);
  for (const { instance, failure } of found.failed) {
    context.stderr(`swt-bench: ${instance}: ${failure}\n`);
  }
  if (json === true) context.data(jsonText({ ...of, ...dryRunDocument(found) }));
  else context.stdout(dryRunText(found));
  return found.failed.length > 0 ? EXIT.negative : EXIT.done;
}

/** The limits of an agent on one instance. */
function limitsOf(
  limits: NonNullable<Method['limits']>,
  { limits: profile, instanceBudget }: GenerationParts['options'],
): { readonly calls: number; readonly dollars: number } {
  const { calls, dollars } = limits[profile];
  return { calls, dollars: Math.min(dollars, instanceBudget ?? dollars) };
}

async function estimated(parts: DryRunParts): Promise<DryRun> {
  const { options, context, out } = parts;
  const reporter = terminalReporter(context);
  const told = (line: string): void => reporter.log(line);
  const trace = await openTrace(`${out}.trace.jsonl`, { readOnly: true, mayBeMissing: true, told });
  const model: ChatModel = {
    name: options.model,
    complete: () => Promise.reject(new Error('a dry run sends no requests')),
  };
  const width = generationWidth(options, { runs: 'nothing' }, {});
  const engine = () => Promise.reject(new Error('a dry run executes nothing'));
  const live = await liveParts({ ...parts, width }, { model }, engine);
  const request = { ...requestOf({ ...parts, width }), live, trace, reporter };
  const all = await estimateRun({ ...request, budget: budgetOf({}) });
  reporter.clear();
  return dryRunOf(all, options);
}
