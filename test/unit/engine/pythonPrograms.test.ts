import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '..', '..', '..', 'src');
const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));

/** Prints what is wrong with files of Python: they are for 3.6 and later, and import what they use. */
const check = `
import ast, sys
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        tree = ast.parse(text, path, feature_version=(3, 6))
    except SyntaxError as error:
        print("%s:%s: %s" % (path, error.lineno, error.msg))
        continue
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for each in node.names:
                name = (each.asname or each.name).split(".")[0]
                if name not in used and name != "*":
                    print("%s:%s: %s is not used" % (path, node.lineno, name))
`;

describe('programs in Python', () => {
  it('are written for 3.6 and later, and import what they use', () => {
    const programs = files.filter((path) => path.endsWith('.py'));
    assert.ok(programs.length > 20);
    assert.equal(execFileSync('python3', ['-c', check, ...programs]).toString(), '');
  });

  it('of the engine stand in files of their own', () => {
    const written = files.filter(
      (path) =>
        path.startsWith(join(root, 'engine')) &&
        path.endsWith('.ts') &&
        /`[^`]*^(?:import|from) [\w., ]+$/m.test(readFileSync(path, 'utf8')),
    );
    assert.deepEqual(written, []);
  });
});
