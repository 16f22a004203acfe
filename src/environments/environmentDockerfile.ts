import { posix } from 'node:path';
import { builtFolder, builtPython, environmentFolder, installCommand } from '../engine/docker';
import { wordForShell } from '../engine/programs';
import { pipOfEnvironment, type EnvironmentPlan } from './environmentPlan';
import { toolEnvironment } from './image/containerPlace';
import { asOf, laterDays } from './plan/packageDay';
import { scmName } from './plan/projectNeeds';
import { requirementInputs } from './plan/resolvePackages';

/** A build context: what `docker build` reads, by path. */
export type BuildContext = ReadonlyMap<string, string>;

/** What a Dockerfile lays beside the plan. */
interface DockerfileParts {
  /** Name of the base image. */
  readonly baseImage: string;
  /** Folder of R in the image. */
  readonly folder: string;
  /** Archive of the build context with R and its repository, in that folder. */
  readonly archive: string;
  /** Name of the tag of R's commit; undefined for none. */
  readonly tag: string | undefined;
  /** Programs from PyPI that the image has beside the environment, as pinned requirements. */
  readonly programs: readonly string[];
  /** Today, `YYYY-MM-DD`: no later packages are taken. */
  readonly today: string;
}

/** Programs from PyPI in an image by a Dockerfile. */
export const dockerfilePrograms = `${builtFolder}/programs`;
/** File of such an image with the id of R's commit. */
export const dockerfileCommit = `${builtFolder}/commit`;

/** The release of uv that a Dockerfile installs. */
const uv = 'uv==0.13.9';
const programsOfEnvironment = posix.dirname(builtPython);
const inputs = `${builtFolder}/requirements`;
const uvPath = `${dockerfilePrograms}/bin/uv`;

/**
 * The plan of an environment as a Dockerfile that plain Docker builds, without this program and
 * without anything of this machine. It makes what `image/` makes, with these differences: a build
 * has a network, all of it runs as root, and services that tests expect are left out. Where the
 * packages of the instance's day have no solution, it tries the same later days, and takes the
 * first that has one.
 *
 * @returns the Dockerfile and the files beside it; the archive with R is the caller's
 */
export async function environmentDockerfile(
  plan: EnvironmentPlan,
  parts: DockerfileParts,
): Promise<BuildContext> {
  const { baseImage, folder, archive, tag, programs } = parts;
  const python = `python${plan.python}`;
  const files = new Map<string, string>();
  const write = (name: string, lines: readonly string[]): Promise<string> => {
    files.set(`requirements/${name}`, lines.map((line) => `${line}\n`).join(''));
    return Promise.resolve(`${inputs}/${name}`);
  };
  files.set('requirements/install.sh', await installScript(plan, parts, write));
  const lines = [
    `# R of ${oneLine(plan.title)}, and the environment of its tests.`,
    `FROM ${baseImage}`,
    'USER root',
    ...systemLines(plan.system),
    `RUN ${shell([python, '-m', 'pip', 'install', '--no-cache-dir', '--no-deps', '--only-binary=:all:'])} \\\n  ${shell(
      [
        // Programs do not depend on the Python beside them, which may be too old for their metadata.
        ...['--python-version', '3.12', '--target', dockerfilePrograms],
        ...[uv, ...programs],
      ],
    )}`,
    // Debian's Python lacks a part of venv.
    `RUN ${shell([python, '-m', 'venv', environmentFolder])} \\\n  || ${shell([uvPath, 'venv', '--clear', '--seed', '--python', python, environmentFolder])}`,
    `ADD ${archive} /`,
    `WORKDIR ${folder}`,
    `COPY requirements ${inputs}`,
    `RUN sh ${inputs}/install.sh`,
    `ENV PATH=${programsOfEnvironment}:$PATH`,
    // A login shell, which agents use, sets another PATH.
    `RUN echo 'PATH=${programsOfEnvironment}:$PATH' > /etc/profile.d/swt-bench.sh`,
    ...installLines(plan),
    `RUN ${repositoryScript(folder, tag)}`,
    '',
  ];
  files.set('Dockerfile', lines.join('\n'));
  return files;
}

/** Debian packages, without a visit to the mirror where there is nothing to install. */
function systemLines({ packages, programs, locales }: EnvironmentPlan['system']): string[] {
  const install = 'apt-get install -y --no-install-recommends';
  const wanted = [
    ...Object.values(programs).filter((names) => names.length > 0),
    ...(locales.length > 0 ? [['locales']] : []),
  ];
  const steps = [
    'apt-get update',
    `${install} ${shell(['git', 'ca-certificates', ...packages])}`,
    // Tests may need these, the environment does not.
    ...wanted.map((names) => `{ ${install} ${shell(names)} || true; }`),
    ...locales.map(
      (name) => `{ localedef -i ${shell([name.split('.')[0] ?? name])} -f UTF-8 ${name} || true; }`,
    ),
    'rm -rf /var/lib/apt/lists/*',
  ];
  const all = steps.join(' \\\n  && ');
  const isEnough = packages.length === 0 && wanted.length === 0;
  return [`RUN ${isEnough ? `git --version || { ${all}; }` : all}`];
}

/**
 * The script that installs the packages: one command of uv, with the days that are tried. What R
 * and its recipe ask for is the same as for an image.
 */
async function installScript(
  { title, day, packages: needs, installation }: EnvironmentPlan,
  { folder, today }: DockerfileParts,
  write: (name: string, lines: readonly string[]) => Promise<string>,
): Promise<string> {
  const place = { write, ofTree: (path: string) => posix.join(folder, path) };
  const { constraints, options, files } = await requirementInputs(needs, place);
  const install = [
    ...[uvPath, 'pip', 'install', '--python', builtPython, '--constraint', constraints],
    ...['--build-constraint', constraints, ...options, ...files.flatMap((file) => ['-r', file])],
  ];
  const days = day === undefined ? [undefined] : [day, ...laterDays(day, today)];
  const attempts = days.map((each) => `attempt ${shell(asOf(each, needs.requirements))}`.trimEnd());
  const { UV_LINK_MODE, UV_NO_CONFIG, UV_NO_PROGRESS, UV_PYTHON_DOWNLOADS } = toolEnvironment;
  const variables = {
    ...{ UV_LINK_MODE, UV_NO_CONFIG, UV_NO_PROGRESS, UV_PYTHON_DOWNLOADS, UV_NO_CACHE: '1' },
    [`SETUPTOOLS_SCM_PRETEND_VERSION_FOR_${scmName(needs.name)}`]: installation.version,
  };
  return [
    '#!/bin/sh',
    `# Installs what ${oneLine(title)} and its tests need${day === undefined ? '' : `, as of ${day} or the first later day that has a solution`}.`,
    ...Object.entries(variables).map(([name, value]) => `export ${name}=${wordForShell(value)}`),
    'attempt() {',
    `  ${shell(install)} "$@"`,
    '}',
    `${attempts.join(' ||\n')} || exit 1`,
    // As in images: a pip for editable installations with and without a setup.py.
    `${shell([uvPath, 'pip', 'install', '--python', builtPython, '--no-deps', pipOfEnvironment])}`,
    '',
  ].join('\n');
}

/** Does what the recipe says before the installation, and installs R where the recipe says so. */
function installLines({
  installation: { install, preInstall, version },
}: EnvironmentPlan): string[] {
  const words = [...preInstall, ...(install === 'editable' ? [installCommand(builtPython)] : [])];
  const scm = `SETUPTOOLS_SCM_PRETEND_VERSION=${wordForShell(version)}`;
  return words.map((each) => `RUN ${scm} ${shell(each)}`);
}

/**
 * Restores files of R that the recipe edited, tags R's commit, and leaves what the installation wrote
 * into the tree out of every difference to it. An agent may commit, so a file keeps the id.
 */
const repositoryScript = (folder: string, tag: string | undefined): string =>
  [
    `git config --system --add safe.directory ${folder}`,
    'git reset --quiet --hard',
    ...(tag === undefined ? [] : [`git tag ${wordForShell(tag)}`]),
    'mkdir -p .git/info',
    "git ls-files --others --exclude-standard | sed 's|^|/|' >> .git/info/exclude",
    `git rev-parse HEAD > ${dockerfileCommit}`,
  ].join(' \\\n  && ');

const shell = (words: readonly string[]): string => words.map(wordForShell).join(' ');

/** A comment ends with its line. */
const oneLine = (text: string): string => text.replace(/\s+/g, ' ');
