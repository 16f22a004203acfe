import { z } from 'zod';
import { bytesOf } from '../../patch/bytes';
import { throwIfAborted } from '../../domain/work';
import { quotedForShell } from '../../engine/programs';
import type { ShellWork } from './agent';

/**
 * Prints the errors of two files as JSON. With flake8 these are the codes that SWE-agent's `edit` asks for.
 * Images need not have flake8: then the interpreter's own compiler says what is no Python.
 */
const program = `
import ast, importlib.util, json, subprocess, sys
codes = "F821,F822,F831,E111,E112,E113,E999,E902"
def errors(path):
    if importlib.util.find_spec("flake8") is not None:
        form = "%(row)d %(code)s %(text)s"
        words = [sys.executable, "-m", "flake8", "--isolated", "--select=" + codes, "--format=" + form, path]
        said = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        rows = [line.split(" ", 1) for line in said.decode("utf-8", "replace").splitlines()]
        return [[int(row), text] for row, text in rows]
    try:
        with open(path, "rb") as file:
            compile(file.read(), "edited.py", "exec", ast.PyCF_ONLY_AST, True)
    except SyntaxError as error:
        return [[error.lineno or 0, "E999 %s: %s" % (type(error).__name__, error.msg)]]
    except (ValueError, RecursionError, MemoryError) as error:
        return [[0, "E902 %s" % error]]
    return []
print(json.dumps([errors(path) for path in sys.argv[1:]]))
`;

const answer = z.tuple([
  z.array(z.tuple([z.number(), z.string()])),
  z.array(z.tuple([z.number(), z.string()])),
]);

/**
 * Errors of an edited Python file that it did not have before, such as `line 7: E999 SyntaxError: …`.
 * None where the check itself cannot be run: an edit is not refused for that.
 */
export async function newErrorsOf(
  before: string,
  after: string,
  { workspace, task, signal }: ShellWork,
): Promise<string[]> {
  // Beside the repository, where the agent's files are its own affair; the shell knows its home.
  const made = await workspace.run({
    ...limits(task, signal),
    command: 'mkdir -p ~/.edit; echo ~/.edit',
  });
  const folder = made.output.trim();
  if (made.exitCode !== 0 || !folder.startsWith('/')) return [];
  const files = { before, after, check: program };
  for (const [name, text] of Object.entries(files)) {
    await workspace.write(`${folder}/${name}.py`, bytesOf(text));
  }
  const paths = ['check', 'before', 'after'].map((name) => quotedForShell(`${folder}/${name}.py`));
  const ran = await workspace.run({
    ...limits(task, signal),
    command: `python -I ${paths.join(' ')}`,
  });
  throwIfAborted(signal);
  const parsed = ((): z.infer<typeof answer> | undefined => {
    try {
      return answer.parse(JSON.parse(ran.output));
    } catch {
      return undefined;
    }
  })();
  if (parsed === undefined) return [];
  const [old, now] = parsed;
  // Lines move by an edit: an error that stands elsewhere now is no new one.
  const known = old.map(([, text]) => text);
  return now.flatMap(([line, text]) => {
    const index = known.indexOf(text);
    if (index < 0) return [`line ${line}: ${text}`];
    known.splice(index, 1);
    return [];
  });
}

const limits = (task: ShellWork['task'], signal: AbortSignal | undefined) => ({
  timeoutSeconds: task.limits.commandSeconds,
  keptBytes: 1_000_000,
  signal,
});
