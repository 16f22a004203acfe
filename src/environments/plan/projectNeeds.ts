import { posix } from 'node:path';
import { readTreeFile } from '../../repository/treeFiles';
import type { Recipe } from '../recipes';
import { runnerOf } from '../../engine/runners';

/**
 * A name in the form in which the index compares names:
 * https://packaging.python.org/en/latest/specifications/name-normalization/
 */
export const plainName = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-');

/** Plain name of the package that a line of a requirement file is about. */
export const packageOf = (requirement: string): string =>
  plainName(/^[\w.-]+/.exec(requirement)?.[0] ?? requirement);

/** Name of a project as it ends variables of setuptools-scm. */
export const scmName = (name: string): string => plainName(name).toUpperCase().replaceAll('-', '_');

/** The requirements of a tree and its recipe on the environment, for a resolver. */
export interface ProjectNeeds {
  /** Requirement specifiers of the recipe and of requirement files, one a line. */
  readonly requirements: readonly string[];
  readonly constraints: readonly string[];
  /** What building the project needs. */
  readonly build: readonly string[];
  /** Extras of the project itself. */
  readonly extras: readonly string[];
  /** Lines that replace whatever anything else requires of the same package. */
  readonly overrides: readonly string[];
  /**
   * File of the tree that states the project's own requirements; undefined when the tree is no
   * project, or the recipe states them.
   */
  readonly project: string | undefined;
  /**
   * Hosts in requirements that are addresses (`pkg @ git+https://HOST/…`), as far as they can be
   * read.
   */
  readonly hosts: readonly string[];
  /** Name of the project as far as it can be read without running it. */
  readonly name: string;
}

/** @param tree R */
export async function projectNeeds(
  tree: string,
  repo: string,
  recipe: Recipe,
): Promise<ProjectNeeds> {
  const [pyproject, setupPy, setupCfg] = await Promise.all(
    ['pyproject.toml', 'setup.py', 'setup.cfg'].map((name) => readText(tree, name)),
  );
  const requirements: string[] = [];
  const constraints = [...recipe.constraints];
  for (const file of recipe.requirementFiles) {
    await readRequirements(tree, file, requirements, constraints, new Set());
  }
  requirements.push(...(recipe.requires ?? []), ...recipe.packages);
  requirements.push(...(runnerOf(recipe.runner).packages ?? []));
  const named = [...requirements, ...constraints, ...recipe.build, pyproject, setupPy, setupCfg];
  const isInstalled = recipe.install === 'editable';
  const found =
    pyproject !== undefined && /^\s*\[project\]/m.test(pyproject)
      ? 'pyproject.toml'
      : setupPy !== undefined
        ? 'setup.py'
        : pyproject !== undefined && buildSystem(pyproject) !== undefined
          ? 'pyproject.toml'
          : undefined;
  return {
    requirements,
    constraints,
    build: isInstalled
      ? [
          ...new Set([
            'setuptools',
            'wheel',
            ...(buildSystem(pyproject ?? '') ?? []),
            ...setupRequires(setupPy ?? '', setupCfg ?? ''),
            ...recipe.build,
          ]),
        ]
      : [...recipe.build],
    extras: recipe.extras,
    hosts: hostsIn(named.join('\n')),
    overrides: recipe.without.map((name) => `${name}; python_version < '0'`),
    project: recipe.requires === undefined ? found : undefined,
    name:
      /^\s*\[project\][^[]*?^\s*name\s*=\s*["']([\w.-]+)["']/ms.exec(pyproject ?? '')?.[1] ??
      /^\s*\[metadata\][^[]*?^name\s*=\s*([\w.-]+)/ms.exec(setupCfg ?? '')?.[1] ??
      /\bname\s*=\s*["']([\w.-]+)["']/.exec(setupPy ?? '')?.[1] ??
      repo.split('/').at(-1) ??
      repo,
  };
}

/** Hosts of direct references, and those that GitHub redirects to. */
function hostsIn(text: string): string[] {
  const address =
    /(?:@\s*|^\s*|\+)https:\/\/(?:[^@/\s"']*@)?([A-Za-z0-9][A-Za-z0-9.-]*)(?=[/\s"']|$)/gm;
  const direct = /@\s*(?:git\+)?https:\/\/|^\s*(?:git\+)?https:\/\/|git\+https:\/\//;
  const hosts = text
    .split('\n')
    .filter((line) => direct.test(line))
    .flatMap((line) => [...line.matchAll(address)].map(([, host = '']) => host.toLowerCase()));
  const more = hosts.includes('github.com')
    ? ['codeload.github.com', 'objects.githubusercontent.com']
    : [];
  return [...new Set([...hosts, ...more])].sort();
}

/**
 * The requirements in `[build-system] requires` of a pyproject.toml; undefined when there are none.
 * https://packaging.python.org/en/latest/specifications/pyproject-toml/#declaring-build-system-dependencies-the-build-system-table
 */
export function buildSystem(pyproject: string): string[] | undefined {
  const section = /^\s*\[build-system\]\s*$(.*?)(?=^\s*\[[^[\]"']+\]\s*$|$(?![^]))/ms.exec(
    pyproject.replace(/\r\n/g, '\n'),
  )?.[1];
  const start = /^\s*requires\s*=\s*\[/m.exec(section ?? '');
  if (section === undefined || start === null) return undefined;
  return quotedAt(section.slice(start.index + start[0].length));
}

/**
 * The requirements that setuptools would fetch before it builds: `setup_requires` of `setup()`, as
 * far as it is a list of texts, and of setup.cfg. They must be there, since R is built without a
 * network.
 * https://setuptools.pypa.io/en/latest/references/keywords.html#keyword-setup-requires
 */
export function setupRequires(setupPy: string, setupCfg: string): string[] {
  const call = /^[^#\n]*\bsetup_requires\s*=\s*[[(]/m.exec(setupPy);
  const options = /^\[options\]\s*$(.*?)(?=^\[|$(?![^]))/ms.exec(setupCfg.replace(/\r\n/g, '\n'));
  // A value continues in the lines below it that are indented.
  const value = /^setup_requires\s*=(.*(?:\n[ \t]+.*)*)/m.exec(options?.[1] ?? '');
  return [
    ...(call === null ? [] : quotedAt(setupPy.slice(call.index + call[0].length))),
    ...(value?.[1] ?? '').split('\n').flatMap((line) => {
      const text = line.replace(/(^|\s)#.*$/, '').trim();
      return text === '' ? [] : [text];
    }),
  ];
}

/** The quoted texts that follow each other at the start, up to anything else. */
function quotedAt(text: string): string[] {
  const found: string[] = [];
  let rest = text;
  for (;;) {
    const next = /^(?:\s|,|#[^\n]*)*(?:"([^"\n]*)"|'([^'\n]*)')/.exec(rest);
    if (next === null) return found;
    found.push(next[1] ?? next[2] ?? '');
    rest = rest.slice(next[0].length);
  }
}

/**
 * Lines of a requirement file, with the lines of the files that it includes. The project itself
 * (`-e .`) is left out, because its own requirements are always added. Options of the index are
 * left out too. Format: https://pip.pypa.io/en/stable/reference/requirements-file-format/
 */
async function readRequirements(
  tree: string,
  file: string,
  requirements: string[],
  constraints: string[],
  seen: Set<string>,
): Promise<void> {
  const path = posix.normalize(file);
  if (seen.has(path) || /^(\.\.)?(\/|$)/.test(path)) return;
  seen.add(path);
  const text = await readText(tree, path);
  if (text === undefined) return;
  for (const raw of text.replace(/\\\r?\n/g, ' ').split(/\r?\n/)) {
    const line = raw.replace(/(^|\s)#.*$/, '').trim();
    if (line === '') continue;
    const option = /^(-r|--requirement|-c|--constraint)(?:\s+|=)(\S+)$/.exec(line);
    if (option !== null) {
      const [, kind = '', named = ''] = option;
      const next = posix.join(posix.dirname(path), named);
      const isConstraint = kind === '-c' || kind === '--constraint';
      await readRequirements(
        tree,
        next,
        isConstraint ? constraints : requirements,
        constraints,
        seen,
      );
    } else if (line.startsWith('-e') || line.startsWith('--editable')) {
      const what = line.replace(/^(-e|--editable)[\s=]*/, '');
      if (!/^\.{0,2}(\/|\[|$)/.test(what)) requirements.push(what);
    } else if (!line.startsWith('-') && !/^\.{1,2}(\/|\[|$)/.test(line)) {
      // A hash allows a single file of a release, but the resolver picks files as of a day.
      requirements.push(line.replace(/\s+--hash=\S+/g, ''));
    }
  }
}

/** Links are not followed, because they may lead out of the tree. */
async function readText(tree: string, path: string): Promise<string | undefined> {
  const file = await readTreeFile(tree, path).catch(() => undefined);
  return file === undefined || file.mode === '120000' ? undefined : file.content.toString('utf8');
}
