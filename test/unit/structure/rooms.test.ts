import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const root = join(__dirname, '..', '..', '..', 'src');
const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));

/** The files that each file imports, including imports of types. */
const imports = new Map(
  files.map((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const targets = [...text.matchAll(/(?:from|import\()\s*'(\.[^']*)'/g)].map(
      ([, to = '']) => `${join(dirname(file), to).replaceAll('\\', '/')}.ts`,
    );
    return [file, targets.filter((target) => files.includes(target))] as const;
  }),
);

/** A circle of imports that contains a file; undefined where there is none. */
function circleOf(start: string): readonly string[] | undefined {
  const cameFrom = new Map<string, string>();
  const waiting = [start];
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    for (const target of imports.get(file) ?? []) {
      if (target === start) {
        const circle = [file];
        for (let at = cameFrom.get(file); at !== undefined; at = cameFrom.get(at)) circle.push(at);
        return circle.reverse();
      }
      if (cameFrom.has(target)) continue;
      cameFrom.set(target, file);
      waiting.push(target);
    }
  }
  return undefined;
}

describe('the rooms of src', () => {
  it('have no circle of imports, of types either', () => {
    const circles = files.flatMap((file) => {
      const circle = circleOf(file);
      return circle === undefined ? [] : [circle.join(' → ')];
    });
    assert.deepEqual(circles, []);
  });

  it('have at most some 20 files beside each other', () => {
    const counts = new Map<string, number>();
    for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    const crowded = [...counts].filter(([, count]) => count > 24);
    assert.deepEqual(crowded, []);
  });
});
