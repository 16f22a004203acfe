import { plural } from '../../domain/plural';
import type { Foreseen } from '../../method/generation';
import { dollarsOf, type Price } from '../../method/models/budget';

/** What a run would ask and cost. */
export interface DryRun {
  readonly instances: number;
  readonly requests: number;
  /** Requests whose answers the trace has, which are not among `requests`. */
  readonly answered: number;
  /** Whether the numbers are bounds, since some requests depend on answers. */
  readonly isAtMost: boolean;
  readonly inputTokens: number;
  readonly mostOutputTokens: number;
  /** Undefined where no price is given. */
  readonly dollars: { readonly input: number; readonly mostOutput: number } | undefined;
  readonly failed: readonly { readonly instance: string; readonly failure: string }[];
}

/**
 * Sums up what instances would ask.
 *
 * @param maxOutputTokens of one answer
 */
export function dryRunOf(
  foreseen: readonly Foreseen[],
  maxOutputTokens: number,
  price: Price | undefined,
): DryRun {
  const all = foreseen.flatMap((each) => ('requests' in each ? each.requests : []));
  const asked = all.filter(({ isAnswered }) => !isAnswered);
  const inputTokens = asked.reduce((sum, each) => sum + each.inputTokens, 0);
  const mostOutputTokens = asked.length * maxOutputTokens;
  return {
    instances: foreseen.length,
    requests: asked.length,
    answered: all.length - asked.length,
    isAtMost: asked.some((each) => each.isAtMost === true),
    ...{ inputTokens, mostOutputTokens },
    dollars:
      price === undefined
        ? undefined
        : {
            input: dollarsOf(price, { inputTokens, outputTokens: 0 }),
            mostOutput: dollarsOf(price, { inputTokens: 0, outputTokens: mostOutputTokens }),
          },
    failed: foreseen.flatMap((each) => ('failure' in each ? [each] : [])),
  };
}

/** The document of a dry run, for `--json`. */
export const dryRunDocument = (run: DryRun): object => ({
  instances: run.instances,
  requests: run.requests,
  answered: run.answered,
  ...(run.isAtMost && { at_most: true }),
  input_tokens: run.inputTokens,
  output_tokens_at_most: run.mostOutputTokens,
  ...(run.dollars !== undefined && {
    dollars: { input: run.dollars.input, at_most: run.dollars.input + run.dollars.mostOutput },
  }),
  failed: run.failed.map(({ instance, failure }) => ({ instance_id: instance, error: failure })),
});

/**
 * The lines of a dry run for a person.
 *
 * @param judged requests for LIBRO's judge that an instance can need, which are not counted
 */
export function dryRunText(run: DryRun, judged: number): string {
  const { requests, answered, isAtMost, inputTokens, mostOutputTokens, dollars } = run;
  const most = isAtMost ? 'at most ' : '';
  const each = requests === 0 ? '' : ` (${Math.round(inputTokens / requests)} a request)`;
  const lines = [
    `${plural(run.instances, 'instance')}, ${most}${plural(requests, 'request')}` +
      (answered > 0 ? `; the trace has ${plural(answered, 'further answer')}` : ''),
    `input: ${most}${inputTokens} tokens${each}`,
    `output: at most ${mostOutputTokens} tokens`,
  ];
  if (dollars !== undefined) {
    const { input, mostOutput } = dollars;
    lines.push(
      `cost: ${most}$${input.toFixed(2)} for the input, at most $${(input + mostOutput).toFixed(2)} with the output`,
    );
  }
  if (judged > 0)
    lines.push(`besides, up to ${judged} small requests for the judge of each instance`);
  return `${lines.join('\n')}\n`;
}

/** The bound of a run of an agent, whose requests depend on its answers. */
export function agentBoundText(
  instances: number,
  limits: { readonly calls: number; readonly dollars: number },
  isPriced: boolean,
): string {
  const calls = `at most ${limits.calls} requests for each of ${plural(instances, 'instance')}`;
  return isPriced
    ? `${calls}\ncost: at most about $${limits.dollars.toFixed(2)} for each, $${(limits.dollars * instances).toFixed(2)} for all\n`
    : `${calls}\ncost: not known without --price\n`;
}
