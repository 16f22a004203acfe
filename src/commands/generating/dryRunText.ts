import { layOut, plural } from '../../domain/text';
import type { InstanceEstimate, CountedRequest } from '../../method/generating';
import { dollarsOf, type Price } from '../../method/models';

/** What the requests of a run, or of one of its stages, are and cost. */
interface EstimatedCost {
  readonly requests: number;
  /** Requests whose answers the trace has, which are not among `requests`. */
  readonly answered: number;
  /** Whether the numbers are bounds, since some requests depend on answers. */
  readonly isAtMost: boolean;
  /** Of all requests, and of what is embedded. */
  readonly inputTokens: number;
  /** Those of the input that an embedding model turns into vectors. */
  readonly embeddedTokens: number;
  readonly mostOutputTokens: number;
  /** Undefined where a price is not known. */
  readonly dollars: { readonly input: number; readonly mostOutput: number } | undefined;
}

/** What a run would ask and cost. */
export interface DryRun extends EstimatedCost {
  readonly instances: number;
  /** In the order of the method. */
  readonly stages: readonly (EstimatedCost & { readonly stage: string })[];
  readonly failed: readonly { readonly instance: string; readonly failure: string }[];
  /** Dollars at which the run is stopped. */
  readonly budget: number;
}

/** Prices, and the most tokens of one answer. */
interface Pricing {
  readonly maxOutputTokens: number;
  readonly price?: Price | undefined;
  /** Dollars for a million tokens. */
  readonly embeddingPrice?: number | undefined;
  /** Dollars at which the run is stopped, and each instance. */
  readonly budget?: number | undefined;
  readonly instanceBudget?: number | undefined;
}

/** Dollars at which a run of some instances is stopped. */
export const boundOf = (
  instances: number,
  { budget = Infinity, instanceBudget = Infinity }: Pick<Pricing, 'budget' | 'instanceBudget'>,
): number => Math.min(budget, instances === 0 ? 0 : instances * instanceBudget);

/** Sums up what instances would ask. */
export function dryRunOf(estimates: readonly InstanceEstimate[], pricing: Pricing): DryRun {
  const all = estimates.flatMap((each) => ('requests' in each ? each.requests : []));
  const stages = [...new Set(all.map(({ stage }) => stage))];
  return {
    instances: estimates.length,
    ...costOf(all, pricing),
    stages: stages.map((stage) => ({
      stage,
      ...costOf(
        all.filter((each) => each.stage === stage),
        pricing,
      ),
    })),
    failed: estimates.flatMap((each) => ('failure' in each ? [each] : [])),
    budget: boundOf(estimates.length, pricing),
  };
}

function costOf(
  all: readonly CountedRequest[],
  { maxOutputTokens, price, embeddingPrice }: Pricing,
): EstimatedCost {
  const asked = all.filter(({ isAnswered }) => !isAnswered);
  const tokensOf = (some: readonly CountedRequest[]): number =>
    some.reduce((sum, each) => sum + each.inputTokens, 0);
  const requests = asked.filter(({ isEmbedding }) => isEmbedding !== true);
  const embeddedTokens = tokensOf(asked.filter(({ isEmbedding }) => isEmbedding === true));
  const inputTokens = tokensOf(requests);
  const mostOutputTokens = requests.length * maxOutputTokens;
  const isPriced = price !== undefined && (embeddedTokens === 0 || embeddingPrice !== undefined);
  return {
    requests: requests.length,
    answered: all.filter(({ isEmbedding }) => isEmbedding !== true).length - requests.length,
    isAtMost: asked.some((each) => each.isAtMost === true),
    inputTokens: inputTokens + embeddedTokens,
    ...{ embeddedTokens, mostOutputTokens },
    dollars: isPriced
      ? {
          input:
            dollarsOf(price, { inputTokens, outputTokens: 0 }) +
            (embeddedTokens * (embeddingPrice ?? 0)) / 1e6,
          mostOutput: dollarsOf(price, { inputTokens: 0, outputTokens: mostOutputTokens }),
        }
      : undefined,
  };
}

/** The document of a dry run, for `--json`. */
export const dryRunDocument = (run: DryRun): object => ({
  instances: run.instances,
  ...costDocument(run, run.budget),
  stages: run.stages.map(({ stage, ...cost }) => ({ stage, ...costDocument(cost) })),
  failed: run.failed.map(({ instance, failure }) => ({ instance_id: instance, error: failure })),
});

const costDocument = (of: EstimatedCost, budget = Infinity): object => ({
  requests: of.requests,
  answered: of.answered,
  ...(of.isAtMost && { at_most: true }),
  input_tokens: of.inputTokens,
  ...(of.embeddedTokens > 0 && { embedded_tokens: of.embeddedTokens }),
  output_tokens_at_most: of.mostOutputTokens,
  ...(of.dollars !== undefined && {
    dollars: {
      input: Math.min(of.dollars.input, budget),
      at_most: Math.min(of.dollars.input + of.dollars.mostOutput, budget),
    },
  }),
});

/** The lines of a dry run for the user, with the stages of a method that has several. */
export function dryRunText(run: DryRun): string {
  const { requests, answered, isAtMost, inputTokens, mostOutputTokens, dollars } = run;
  const most = isAtMost ? 'at most ' : '';
  const asked = inputTokens - run.embeddedTokens;
  const each = requests === 0 ? '' : ` (${Math.round(asked / requests)} per request)`;
  const lines = [
    `${plural(run.instances, 'instance')}, ${most}${plural(requests, 'request')}` +
      (answered > 0 ? `; the trace has ${plural(answered, 'further answer')}` : ''),
    `input: ${most}${inputTokens} tokens${each}`,
    `output: at most ${mostOutputTokens} tokens`,
  ];
  if (dollars !== undefined) {
    const { input, mostOutput } = dollars;
    const all = input + mostOutput;
    lines.push(
      `cost: ${most}$${input.toFixed(2)} for input, at most $${all.toFixed(2)} with output` +
        (all > run.budget ? `; the budget ends the run at $${run.budget.toFixed(2)}` : ''),
    );
  } else if (run.stages.some((stage) => stage.dollars !== undefined)) {
    lines.push('cost: unknown without --embedding-price');
  }
  if (run.stages.length > 1) lines.push('', stageTable(run));
  return `${lines.join('\n')}\n`;
}

function stageTable({ stages }: DryRun): string {
  const rows = stages.map(
    ({ stage, requests, isAtMost, inputTokens, mostOutputTokens, dollars }) => [
      stage,
      // Vectors are asked for in as few requests as fit.
      requests === 0 && inputTokens > 0 ? 'vectors' : `${isAtMost ? '≤ ' : ''}${requests}`,
      `${isAtMost ? '≤ ' : ''}${inputTokens}`,
      `≤ ${mostOutputTokens}`,
      dollars === undefined ? '–' : `≤ $${(dollars.input + dollars.mostOutput).toFixed(2)}`,
    ],
  );
  return layOut([['stage', 'requests', 'input tokens', 'output tokens', 'cost'], ...rows]);
}

/** The bound of a run of an agent, whose requests depend on its answers. */
export function agentBoundText(
  instances: number,
  limits: { readonly calls: number; readonly dollars: number },
  isPriced: boolean,
  budget: number,
): string {
  const calls = `at most ${limits.calls} requests for each of ${plural(instances, 'instance')}`;
  return isPriced
    ? `${calls}\ncost: at most about $${limits.dollars.toFixed(2)} each, $${Math.min(limits.dollars * instances, budget).toFixed(2)} for all\n`
    : `${calls}\ncost: unknown without --price\n`;
}
