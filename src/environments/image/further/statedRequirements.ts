import { z } from 'zod';
import type { BuildContainer } from '../../../engine/docker';

/**
 * Asks an installed project what it requires with some extras. It uses a library that pip brings,
 * which reads the metadata of all build tools and evaluates markers for this interpreter.
 * https://packaging.python.org/en/latest/specifications/core-metadata/#requires-dist-multiple-use
 */
const question = `
import json, sys, warnings
warnings.simplefilter('ignore')
from pip._vendor import pkg_resources
name, extras = sys.argv[1], sys.argv[2:]
project = pkg_resources.get_distribution(name)
found, seen = [], set()
def ask(extras):
    extras = [each for each in project.extras if each in extras and each not in seen]
    seen.update(extras)
    for each in project.requires(extras):
        # A project may name extras of its own as requirements of others.
        if each.key == project.key:
            ask(each.extras)
            continue
        # It holds for this interpreter and these extras.
        each.marker = None
        if str(each) not in found:
            found.append(str(each))
ask([pkg_resources.safe_extra(each) for each in extras])
print(json.dumps(sorted(found)))
`;

/** A requirement specifier, and nothing that a requirement file could take for an option. */
const specifier = z.string().regex(/^[A-Za-z0-9][^\r\n]{0,1000}$/);
const answer = z.array(specifier.refine((text) => !/\s-/.test(text))).max(2000);

/**
 * The requirements of the project that is installed in editable mode, extras included. Undefined
 * where they cannot be read.
 */
export async function statedRequirements(
  container: BuildContainer,
  {
    python,
    name,
    extras,
  }: { readonly python: string; readonly name: string; readonly extras: readonly string[] },
): Promise<string[] | undefined> {
  const asked = await container.attempt([python, '-c', question, name, ...extras], {
    isForeign: true,
    env: { HOME: '/tmp' },
    doing: `read what ${name} requires`,
  });
  if (asked.code !== 0) return undefined;
  try {
    return answer.parse(JSON.parse(asked.standard.trim().split('\n').at(-1) ?? ''));
  } catch {
    return undefined;
  }
}
