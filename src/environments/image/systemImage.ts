import { access } from 'node:fs/promises';
import { join } from 'node:path';
import {
  imageLabels,
  inContainer,
  labelLines,
  type BuildContainer,
  type BuildPlace,
  inspectImage,
} from '../../engine/docker';
import { tarOf } from '../../engine/sandbox';
import { writeWholeFile } from '../../files/wholeFile';
import { planVersion, type EnvironmentPlan } from '../environmentPlan';
import type { BuildNetwork } from '../packages/buildNetwork';
import { scratch } from './containerPlace';
import { environmentRepository, plainStart } from './imageNames';
import { identityDigest, noteUse } from './imageRecords';

export interface SystemImage {
  readonly id: string;
  /** The packages that were installed on the base image. */
  readonly packages: readonly string[];
  readonly path: string;
}

/**
 * The base image with the Debian packages that it lacks. All environments that need the same
 * packages share it.
 *
 * @param base id of the base image
 */
export async function systemImage(
  base: string,
  { python, system }: EnvironmentPlan,
  { storage, network }: { readonly storage: string; readonly network: BuildNetwork },
  place: BuildPlace,
): Promise<SystemImage> {
  const { connection } = place;
  const key = identityDigest(planVersion, 'system', base, python, system);
  const all = [...system.packages, ...Object.values(system.programs).flat(), ...system.locales];
  const tag = `system-${key}`;
  const name = `${environmentRepository}:${tag}`;
  const present = await inspectImage(connection, name);
  if (present !== undefined) {
    await noteUse(storage, { name, id: present.id, kind: 'environment', bytes: present.bytes });
    return { id: present.id, packages: all, path: present.path };
  }
  const { path = '' } = (await inspectImage(connection, base)) ?? {};
  const enough = { id: base, packages: [], path };
  if (await isEnough(storage, key)) return enough;
  return inContainer(place, { image: base, purpose: {}, runs: 'system' }, async (container) => {
    if (!(await install(container, { python, system }, network, place))) {
      // Never fails: without the record, the image is asked again.
      await writeWholeFile(enoughPath(storage, key), '').catch(() => undefined);
      return enough;
    }
    const id = await container.commit(environmentRepository, tag, [
      ...labelLines(imageLabels('environment', { recipe: key })),
      ...plainStart,
    ]);
    await noteUse(storage, { name, id, kind: 'environment' });
    return { id, packages: all, path };
  });
}

const enoughPath = (storage: string, key: string): string => join(storage, 'images', 'enough', key);

/**
 * Whether a container of this base image was found to lack nothing. An image never changes, so it
 * is not asked again.
 */
const isEnough = (storage: string, key: string): Promise<boolean> =>
  access(enoughPath(storage, key)).then(
    () => true,
    () => false,
  );

/** Installs what a container lacks. Returns false where it lacks nothing. */
async function install(
  container: BuildContainer,
  { python, system }: Pick<EnvironmentPlan, 'python' | 'system'>,
  network: BuildNetwork,
  { work, log }: BuildPlace,
): Promise<boolean> {
  const missing: string[] = [];
  const interpreters = interpretersOf(python);
  for (const one of system.packages) {
    if (!(await isThere(container, one, interpreters))) missing.push(one);
  }
  if ((await container.attempt(['git', '--version'])).code !== 0) missing.push('git');
  const more = await missingExtras(container, system);
  if (missing.length === 0 && more.length === 0) return false;
  const named = [...missing, ...more.flatMap((each) => each.packages)].join(', ');
  work.reporter.progress(`Installing Debian packages: ${named}`);
  const env = { ...network.env, DEBIAN_FRONTEND: 'noninteractive' };
  const doing = `install the Debian packages ${named}`;
  if (network.files.length > 0) await container.put(await tarOf(network.files));
  const command = ['apt-get', '-q', 'install', '-y', '--no-install-recommends'];
  const updated = await container.attempt(['apt-get', '-q', 'update'], { env });
  if (missing.length > 0) {
    if (updated.code !== 0) throw container.failed(updated, doing);
    await container.run([...command, ...missing], doing, { env });
  }
  for (const { packages, then } of more) {
    const ended = await container.attempt([...command, ...packages], { env });
    if (ended.code === 0 && then !== undefined) await container.attempt(then);
    else if (ended.code !== 0)
      log.line(`continuing without ${packages.join(', ')}, which tests may need`);
  }
  await container.attempt(['sh', '-c', nameCompilers]);
  await container.run(
    ['sh', '-c', `rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin ${scratch}`],
    'remove build files',
  );
  return true;
}

/** Debian packages that tests may need, and the environment does not. */
interface Extra {
  readonly packages: readonly string[];
  /** Command that is run once they are installed. */
  readonly then?: readonly string[];
}

/** What the recipe would like to have beyond what the environment cannot be built without. */
async function missingExtras(
  container: BuildContainer,
  { programs, locales }: EnvironmentPlan['system'],
): Promise<Extra[]> {
  const found: Extra[] = [];
  for (const [program, packages] of Object.entries(programs)) {
    if (packages.length === 0) continue;
    const asked = await container.attempt(['sh', '-c', 'command -v "$1"', 'sh', program]);
    if (asked.code !== 0) found.push({ packages });
  }
  if (locales.length === 0) return found;
  const { standard } = await container.attempt(['locale', '-a']);
  const present = new Set(standard.toLowerCase().replaceAll('-', '').split('\n'));
  const absent = locales.filter((name) => !present.has(name.toLowerCase().replaceAll('-', '')));
  if (absent.length > 0) {
    const script = 'for name in "$@"; do localedef -i "${name%.*}" -f UTF-8 "$name"; done';
    found.push({ packages: ['locales'], then: ['sh', '-c', script, 'sh', ...absent] });
  }
  return found;
}

/** Debian's ccache has the names of all compilers but the two that some build systems use first. */
const nameCompilers =
  'cd /usr/lib/ccache && for name in cc c++; do [ -e "$name" ] || ln -s ../../bin/ccache "$name"; done';

/** Names of the interpreter of a base image, the most specific one first. */
export const interpretersOf = (version: string): string[] => [
  ...[`python${version}`, 'python', 'python3'],
];

/** @param interpreters names of the Python that is compiled for */
async function isThere(
  container: BuildContainer,
  debianPackage: string,
  interpreters: readonly string[],
): Promise<boolean> {
  if (debianPackage === 'build-essential') {
    return (await container.attempt(['cc', '--version'])).code === 0;
  }
  if (debianPackage === 'python3-dev') {
    // An interpreter that is not Debian's has its headers beside it, and no package.
    const script = `for name in "$@"; do command -v "$name" >/dev/null && exec "$name" -c '${hasHeaders}'; done; exit 1`;
    return (await container.attempt(['sh', '-c', script, 'sh', ...interpreters])).code === 0;
  }
  const asked = await container.attempt(['dpkg-query', '-W', '-f', '${Status}', debianPackage]);
  return asked.code === 0 && asked.standard.includes('install ok installed');
}

const hasHeaders = `import os, sys, sysconfig; sys.exit(not os.path.isfile(os.path.join(sysconfig.get_paths()["include"], "Python.h")))`;
