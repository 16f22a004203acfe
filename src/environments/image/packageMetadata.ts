import { pythonText } from '../../engine/pythonProgram';
import { z } from 'zod';
import { environmentFolder, type BuildContainer } from '../../engine/docker';
import { packageOf } from '../plan/projectNeeds';

const line = z.string().max(1000);

/**
 * What a version of a package states in its metadata.
 * https://packaging.python.org/en/latest/specifications/core-metadata/
 */
export const packageMetadata = z.object({
  name: line,
  version: line,
  /** Requirement specifiers. */
  requires: z.array(line).max(2000),
  /** Versions of Python; null where it states none. */
  python: line.nullable(),
  extras: z.array(line).max(1000),
});
export type PackageMetadata = z.infer<typeof packageMetadata>;

/**
 * Reads the metadata of the packages of an environment from their files.
 *
 * @param python an interpreter that foreign code could not write to
 * @param lock packages that are asked for, as lines of a requirement file
 * @returns none where it cannot be read
 */
export async function installedMetadata(
  container: BuildContainer,
  python: string,
  lock: readonly string[],
): Promise<PackageMetadata[]> {
  const asked = await container.attempt(
    [python, '-I', '-S', '-c', pythonText('read_metadata.py'), environmentFolder],
    {
      isForeign: true,
      env: { LC_ALL: 'C.UTF-8' },
      doing: 'read the metadata of the packages',
    },
  );
  if (asked.code !== 0) return [];
  try {
    const said: unknown = JSON.parse(asked.standard.trim().split('\n').at(-1) ?? '');
    const wanted = new Set(lock.map(pinOf));
    return z
      .array(packageMetadata)
      .parse(said)
      .filter(({ name, version }) => wanted.has(pinOf(`${name}==${version}`)));
  } catch {
    return [];
  }
}

/** Package and version of a line such as `Name==1.0 ; marker`. */
const pinOf = (requirement: string): string =>
  `${packageOf(requirement)} ${/==\s*([^\s;]+)/.exec(requirement)?.[1] ?? ''}`;

/**
 * Settings of uv that give it the metadata of packages, so that it runs no set-up program for it.
 * A package with a line beyond today's rules is left out, since uv would refuse all of them.
 * https://docs.astral.sh/uv/reference/settings/#dependency-metadata
 */
export function metadataSettings(packages: readonly PackageMetadata[]): string {
  return packages
    .map((each) => ({ ...each, requires: each.requires.map(singleSpaced) }))
    .filter(
      ({ name, version, requires, python, extras }) =>
        [name, version, ...requires].every((each) => /^[ -~]+$/.test(each)) &&
        requires.every((each) => requirement.test(each)) &&
        extras.every((each) => /^\w([\w.-]*\w)?$/.test(each)) &&
        (python === null || ranges.test(singleSpaced(python))),
    )
    .map(({ name, version, requires, python, extras }) =>
      [
        '[[dependency-metadata]]',
        `name = ${JSON.stringify(name)}`,
        `version = ${JSON.stringify(version)}`,
        ...(python === null ? [] : [`requires-python = ${JSON.stringify(python)}`]),
        `requires-dist = ${JSON.stringify(requires)}`,
        `provides-extra = ${JSON.stringify(extras)}`,
        '',
      ].join('\n'),
    )
    .join('\n');
}

/** Long runs of spaces would take a regular expression long. */
const singleSpaced = (text: string): string => text.replace(/\s+/g, ' ').trim();

const number = String.raw`v?\d[\w.!+-]*`;
const range = String.raw`\s*((==|!=)\s*${number}(\.\*)?|(===|~=|<=?|>=?)\s*${number})\s*`;
const ranges = new RegExp(`^(${range}(,${range})*,?\\s*)?$`);
const requirement = new RegExp(
  String.raw`^[A-Za-z0-9][\w.-]*\s*(\[[\w\s,.-]*\])?\s*(${range}(,${range})*,?|\((${range}(,${range})*,?)?\))?\s*(;[\w\s.'"<>=!~()+*-]+)?$`,
);
