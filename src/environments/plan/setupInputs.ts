import { posix } from 'node:path';
import { readTreeFile, type TreeEntry } from '../../repository/treeFiles';

/** Files that may state a project's requirements, or a version that these depend on. */
const telling =
  /^[^/]+$|^((src|lib)\/)?[^/]+\/__init__\.py$|(^|\/)__(?!init__|main__)\w+__\.py$|(^|\/)(setup[^/]*\.(py|cfg)|pyproject\.toml|[^/]*(requirements|dependenc|version|release)[^/]*|[^/]*\.in|requirements\/[^/]*)$/i;
/** Folders in which files of these names state neither. */
const silentFolders = /(^|\/)(tests?|docs?|doc|examples|benchmarks|\.github)\//;
/**
 * Files of the top folder that are written for people, for git, or for services that run tests.
 * A set-up program may fail without them, so only their names count.
 */
const silentFiles =
  /^(\.[^/]*|(readme|authors|contribut|credits|thanks|chang|history|news|licen[cs]e|copying|code_of_conduct|codeowners|citation|security|[a-z_]*template)[^/]*|(azure-pipelines|appveyor|codecov)\.ya?ml)$/i;

/** The set-up program and its modules. */
const programs = /^setup[^/]*\.py$/;
/** Sections of setup.cfg and pyproject.toml that are for other programs than build tools. */
const otherSections =
  /^(tool\.["']?)?(tool:.*|flake8|black|isort|mypy|pytest|coverage|ruff|pycodestyle|pydocstyle|pep8|pylint|pyright|towncrier|tox|testenv|codespell|bandit|doc8|check-manifest|devpi|extract_messages|update_catalog|compile_catalog)(["'.:-]|$)/i;

/** Whether a file is in a folder of tests, documentation or examples. */
export const isSilentFolder = (path: string): boolean => silentFolders.test(path);

/**
 * What a set-up program reads of a tree, as far as that shows without running it: the program and
 * its configuration, and those of the usual files that these mention. Two trees with equal inputs
 * have the same requirements and the same metadata.
 *
 * @param tree a pristine tree
 * @param entries its files
 * @returns path and what counts of the content, sorted
 */
export async function setupInputs(
  tree: string,
  entries: ReadonlyMap<string, TreeEntry>,
): Promise<[path: string, counts: string][]> {
  const inputs = new Map<string, string>();
  for (const path of entries.keys()) {
    const isProgram = programs.test(path);
    if (!isProgram && path !== 'setup.cfg' && path !== 'pyproject.toml') continue;
    const file = await readTreeFile(tree, path);
    const text = file?.content.toString('utf8') ?? '';
    inputs.set(path, isProgram ? withoutRemarks(text) : buildSections(text));
  }
  const said = [...inputs.values()].join('\n');
  for (const [path, { id }] of entries) {
    if (inputs.has(path) || silentFolders.test(path)) continue;
    const isMeant = telling.test(path) ? isMentioned(path, said) : said.includes(path);
    if (isMeant) inputs.set(path, silentFiles.test(path) ? '' : id);
  }
  return [...inputs].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Whether set-up programs or their configuration mention a file, or import it. */
function isMentioned(path: string, said: string): boolean {
  const name = posix.basename(path);
  if (name !== '__init__.py') {
    const [stem = name] = name.split('.').filter(Boolean);
    return said.includes(stem) || said.includes(`${posix.basename(posix.dirname(path))}/`);
  }
  const names = posix.basename(posix.dirname(path)).replace(/\W/g, String.raw`\$&`);
  const imported = new RegExp(
    String.raw`^\s*(import|from)\s+${names}\b|\battr\b.*\b${names}\b`,
    'm',
  );
  if (said.includes('__init__') || imported.test(said)) return true;
  // Some build tools read the version of the package that the project is named after.
  return /^dynamic\b/m.test(said) && new RegExp(String.raw`\b${names}\b`, 'i').test(said);
}

/** The lines of a file in INI or TOML that build tools read. */
function buildSections(text: string): string {
  let counts = true;
  const lines = withoutRemarks(text)
    .split('\n')
    .filter((line) => {
      const section = /^\[+\s*([^\]]+?)\s*\]+\s*(#.*)?$/.exec(line)?.[1];
      if (section !== undefined) counts = !otherSections.test(section);
      return counts;
    });
  return lines.join('\n');
}

/** Text without empty lines, and without lines that are only a remark. */
const withoutRemarks = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !line.trimStart().startsWith('#'))
    .join('\n');
