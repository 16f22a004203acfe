import { existsSync, readFileSync, readdirSync, rmSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { makeGitTree, type GitTree } from './gitTree';

/** The files of the tree on which {@link patchesOfGit} were made. */
export const filesOfTree: Readonly<Record<string, string>> = {
  'src/a.py': Array.from({ length: 30 }, (_, i) => `line ${i + 1}\n`).join(''),
  'src/crlf.py': Array.from({ length: 9 }, (_, i) => `crlf ${i + 1}\r\n`).join(''),
  'tests/test_b.py':
    'import a\n\n\ndef test_one():\n    assert a.one() == 1\n\n\ndef test_two():\n    pass\n',
  'tests/gone.py': 'gone 1\ngone 2\n',
  'tests/moved.py': Array.from({ length: 12 }, (_, i) => `moved ${i + 1}\n`).join(''),
  'with space.txt': 'one\ntwo\nthree',
  'a.py': 'root\n',
};

const after: Readonly<Record<string, string | undefined>> = {
  'src/a.py': (filesOfTree['src/a.py'] ?? '')
    .replace('line 3\n', 'LINE 3\n')
    .replace('line 20\n', 'line 20\nnew\n\nmore\n'),
  'src/crlf.py': (filesOfTree['src/crlf.py'] ?? '').replace('crlf 4\r\n', 'CRLF 4\r\n'),
  'tests/test_b.py': `${filesOfTree['tests/test_b.py']}\n\ndef test_new():\n    assert a.two() == 2\n`,
  'tests/gone.py': undefined,
  'tests/moved.py': undefined,
  'tests/kept.py': `${filesOfTree['tests/moved.py']}tail\n`,
  'tests/added.py': 'def test_added():\n    assert True\n',
  'tests/data.bin': '\u0000\u0001binary',
  'with space.txt': 'one\n2\nthree\n',
};

/** What git makes of a patch on the tree: why it refuses, or every file afterwards. */
interface Effect {
  readonly refused?: string;
  readonly files: Readonly<Record<string, string>>;
}

/** A tree to which patches are applied one after the other, each to the same files. */
export class MutantTree {
  readonly tree: GitTree = makeGitTree();

  constructor() {
    this.tree.write(filesOfTree);
    this.tree.git('add', '-A');
    this.tree.git('commit', '-qm', 'R');
  }

  /** The diffs of git of a change of each kind, one by one and together. */
  patches(): readonly string[] {
    const { tree } = this;
    tree.write(after);
    tree.git('add', '-A');
    const whole = tree.git('diff', '--cached', '--binary', '-M');
    tree.git('reset', '-q', '--hard');
    const parts = whole.split(/(?=^diff --git )/m);
    return [...parts, whole];
  }

  effectOf(patch: string): Effect {
    const refused = this.tree.apply(patch);
    const files = this.read();
    this.restore(files);
    return refused === undefined ? { files } : { refused, files };
  }

  private read(folder = ''): Record<string, string> {
    const found: Record<string, string> = {};
    for (const name of readdirSync(join(this.tree.root, folder))) {
      const path = folder === '' ? name : `${folder}/${name}`;
      const whole = join(this.tree.root, path);
      if (path === '.git') continue;
      if (lstatSync(whole).isDirectory()) Object.assign(found, this.read(path));
      else found[path] = readFileSync(whole, 'latin1');
    }
    return found;
  }

  private restore(found: Readonly<Record<string, string>>): void {
    for (const path of Object.keys(found)) {
      if (filesOfTree[path] === undefined) rmSync(join(this.tree.root, path));
    }
    for (const [path, text] of Object.entries(filesOfTree)) {
      if (found[path] !== text || !existsSync(join(this.tree.root, path)))
        this.tree.write({ [path]: text });
    }
  }

  remove(): void {
    this.tree.remove();
  }
}

/** A source of numbers below a bound, such as a seeded one. */
type Draw = (below: number) => number;

const swaps: readonly (readonly [RegExp, string])[] = [
  [/^(--- |\+\+\+ )[ab]\//, '$1'],
  [/^(--- |\+\+\+ ).*\//, '$1'],
  [/^diff --git a\/(\S+) b\//, 'diff --git $1 '],
  [/^@@ -(\d+)/, '@@ -1$1'],
  [/^@@ -(\d+),(\d+)/, '@@ -$1,1$2'],
  [/\+(\d+),(\d+) @@/, '+$1,$2$2 @@'],
  [/^ /, ''],
  [/^ /, '+'],
  [/^\+/, '-'],
  [/^\+/, ' '],
  [/^-/, ' '],
  [/$/, '\r'],
  [/$/, ' '],
  [/^(--- |\+\+\+ )(.*)/, '$1/dev/null'],
  [/^index .*/, ''],
  [/^(new|deleted) file mode (\d+)/, '$1 file mode 100755'],
  [/\bpy\b/, 'pyx'],
];

/** A patch with a few damages, such as people, models and mail programs make. */
export function mutate(patch: string, draw: Draw): string {
  const lines = patch.split('\n');
  const times = 1 + draw(2);
  for (let time = 0; time < times; time += 1) {
    const at = draw(lines.length);
    const line = lines[at] ?? '';
    const other = draw(lines.length);
    const kind = draw(10);
    if (kind === 0) lines.splice(at, 1);
    else if (kind === 1) lines.splice(other, 0, line);
    else if (kind === 2) [lines[at], lines[other]] = [lines[other] ?? '', line];
    else if (kind === 3) lines.length = Math.max(1, at);
    else if (kind === 4)
      lines.splice(
        at,
        0,
        ['', 'prose', '\\ No newline at end of file', '-- ', '```'][draw(5)] ?? '',
      );
    else {
      const [pattern, text] = swaps[draw(swaps.length)] ?? [/$/, ''];
      const start = lines.findIndex((each, i) => i >= at && pattern.test(each));
      const found = start < 0 ? lines.findIndex((each) => pattern.test(each)) : start;
      if (found >= 0) lines[found] = (lines[found] ?? '').replace(pattern, text);
    }
  }
  return lines.join('\n');
}
