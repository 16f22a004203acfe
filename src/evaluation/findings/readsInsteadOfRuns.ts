import type { Finding } from '../../domain/finding';
import type { Observation } from '../../python/observations/observation';
import { findSourceReads } from '../../python/observations/sourceReads';
import type { PythonParser } from '../../python/parser';
import type { EditedFile } from './editedFiles';
import { finding, quotedCode } from './finding';
import { holdsInR, type ReadFileOfR } from './holdsInR';

/**
 * Finds where a candidate's code does not run what it tests: it reads the sources or the
 * repository, or inspects code, versions or the process.
 */
export async function readsInsteadOfRuns(
  python: PythonParser,
  files: readonly EditedFile[],
  readFileOfR: ReadFileOfR,
): Promise<Finding | undefined> {
  const sentences: string[] = [];
  for (const { path, source, spans } of files) {
    if (!path.endsWith('.py')) continue;
    for (const each of findSourceReads(python, source, { path, spans })) {
      if (await holdsInR(each.condition, readFileOfR)) sentences.push(sentenceOf(path, each));
    }
  }
  return finding('reads instead of runs', sentences);
}

/** `tests/test_a.py:5 runs git: subprocess.run(["git", "log"])` */
export const sentenceOf = (path: string, { line, what, text }: Observation): string =>
  `${path}:${line} ${what}: ${quotedCode(text)}`;
