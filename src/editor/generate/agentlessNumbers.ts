import { agentlessNumbers, numberBounds, type AgentlessNumber } from '../../method/agentless';

/** Numbers of Agentless that differ from those of the paper. */
export type AgentlessNumbers = Readonly<Partial<Record<AgentlessNumber, number>>>;

/**
 * The numbers that the value of a setting changes, in the order of their table.
 *
 * @returns also the fault of each entry that is no such number, or has no such value
 */
export function readAgentlessNumbers(value: unknown): {
  readonly numbers: AgentlessNumbers;
  readonly problems: readonly string[];
} {
  if (value === undefined || value === null) return { numbers: {}, problems: [] };
  if (typeof value !== 'object' || Array.isArray(value)) {
    return { numbers: {}, problems: ['it is no object'] };
  }
  const given = new Map<string, unknown>(Object.entries(value));
  const problems: string[] = [];
  const numbers: Partial<Record<AgentlessNumber, number>> = {};
  for (const name of Object.keys(agentlessNumbers) as AgentlessNumber[]) {
    const number = given.get(name);
    given.delete(name);
    if (number === undefined || number === agentlessNumbers[name].default) continue;
    if (isWithin(name, number)) numbers[name] = number;
    else problems.push(`${name} is ${JSON.stringify(number)} and not ${wordsOfBounds(name)}`);
  }
  for (const name of given.keys()) problems.push(`${name} is not known`);
  return { numbers, problems };
}

/** Whether a value is one that the number may have. */
function isWithin(name: AgentlessNumber, value: unknown): value is number {
  const { minimum, isWhole, ...rest } = numberBounds[agentlessNumbers[name].kind];
  const maximum = 'maximum' in rest ? rest.maximum : Number.MAX_SAFE_INTEGER;
  return (
    typeof value === 'number' &&
    value >= minimum &&
    value <= maximum &&
    (!isWhole || Number.isSafeInteger(value))
  );
}

function wordsOfBounds(name: AgentlessNumber): string {
  const { minimum, isWhole, ...rest } = numberBounds[agentlessNumbers[name].kind];
  const to = 'maximum' in rest ? ` to ${rest.maximum}` : '';
  return `a ${isWhole ? 'whole ' : ''}number from ${minimum}${to}`;
}
