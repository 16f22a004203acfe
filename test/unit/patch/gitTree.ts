import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * A folder that git treats as a separate work tree, without any setting of the person who runs the
 * tests.
 */
export interface GitTree {
  readonly root: string;
  git(...args: string[]): string;
  /** Writes files, or removes those whose content is undefined. */
  write(files: Readonly<Record<string, string | undefined>>): void;
  read(path: string): string | undefined;
  /** The error of `git apply`; undefined when it succeeds. Leaves the changes in the folder. */
  apply(patch: string): string | undefined;
  remove(): void;
}

export function makeGitTree(): GitTree {
  const root = mkdtempSync(join(tmpdir(), 'patch-test-'));
  const env = {
    PATH: process.env['PATH'],
    HOME: root,
    GIT_CONFIG_NOSYSTEM: '1',
    LC_ALL: 'C.UTF-8',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.org',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.org',
  };
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, env, encoding: 'utf8', maxBuffer: 1 << 28 });
  git('init', '-q');
  return {
    root,
    git,
    write(files) {
      for (const [path, content] of Object.entries(files)) {
        const full = join(root, path);
        if (content === undefined) rmSync(full, { force: true });
        else {
          mkdirSync(dirname(full), { recursive: true });
          writeFileSync(full, content);
        }
      }
    },
    read(path) {
      const full = join(root, path);
      return existsSync(full) ? readFileSync(full, 'utf8') : undefined;
    },
    apply(patch) {
      const done = spawnSync('git', ['apply', '--whitespace=nowarn', '-'], {
        cwd: root,
        env,
        input: patch,
        encoding: 'utf8',
      });
      return done.status === 0 ? undefined : done.stderr;
    },
    remove() {
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** The lines of a text without their ends, and without an empty last one. */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
