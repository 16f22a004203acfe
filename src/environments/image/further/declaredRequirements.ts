import { pythonText } from '../../../engine/pythonProgram';
import { z } from 'zod';
import type { BuildContainer } from '../../../engine/docker';

/** A requirement specifier, and nothing that a requirement file could take for an option. */
const specifier = z.string().regex(/^[A-Za-z0-9][^\r\n]{0,1000}$/);
const answer = z.array(specifier.refine((text) => !/\s-/.test(text))).max(2000);

/**
 * The requirements of the project that is installed in editable mode, extras included. Undefined
 * where they cannot be read.
 */
export async function declaredRequirements(
  container: BuildContainer,
  {
    python,
    name,
    extras,
  }: { readonly python: string; readonly name: string; readonly extras: readonly string[] },
): Promise<string[] | undefined> {
  const asked = await container.attempt(
    [python, '-c', pythonText('declared_requirements.py'), name, ...extras],
    {
      isForeign: true,
      env: { HOME: '/tmp' },
      doing: `read what ${name} requires`,
    },
  );
  if (asked.code !== 0) return undefined;
  try {
    return answer.parse(JSON.parse(asked.standard.trim().split('\n').at(-1) ?? ''));
  } catch {
    return undefined;
  }
}
