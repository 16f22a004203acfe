import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { modulesOf, usesModules } from '../../../../src/method/agentless/testing/modulesOfR';
import { placeOfTest } from '../../../../src/method/agentless/testing/placeOfTest';
import { reachingTestFiles } from '../../../../src/method/agentless/testing/reachingTestFiles';
import {
  allowedTests,
  readExcluded,
} from '../../../../src/method/agentless/testing/regressionTests';
import {
  answerOf,
  byVotes,
  readScript,
} from '../../../../src/method/agentless/testing/reproductionTests';
import { scriptAsTest } from '../../../../src/method/agentless/testing/scriptAsTest';
import type { ModelView } from '../../../../src/method/modelView';
import type { PythonParser } from '../../../../src/python/parser';
import { loadParser } from '../../python/loadParser';

describe('the stages of Agentless that test', () => {
  let python: PythonParser;
  before(async () => (python = await loadParser()));

  it('read the last whole script of an answer', () => {
    const said = 'print("Issue reproduced")';
    const block = (code: string): string => `\`\`\`python\n${code}\n\`\`\`\n`;
    assert.equal(readScript(`A.\n${block(`${said} # 1`)}B.\n${block(said)}C.`), `${said}\n`);
    assert.equal(readScript(`${block(said)}And:\n${block('pip install x')}`), `${said}\n`);
    assert.equal(readScript(`\`\`\`python\n${said}`), undefined, 'cut off');
    assert.equal(readScript('Issue reproduced'), undefined);
    assert.equal(readScript(block(said).replaceAll('\n', '\r\n')), `${said}\n`);
  });

  it('read what a script says by whole lines', () => {
    const of = (output: string): string => answerOf({ output, problem: undefined });
    assert.equal(of('debug\nIssue reproduced\n'), 'Issue reproduced');
    assert.equal(of('Issue resolved: 3\n'), 'Issue resolved');
    assert.equal(of('Issue reproduced\nIssue resolved\n'), 'Other issues');
    assert.equal(of('  print("Issue reproduced")\nNameError\n'), 'none');
    assert.equal(answerOf({ output: 'Issue resolved\n', problem: 'timed out' }), 'Other issues');
  });

  it('count scripts as a second implementation does', () => {
    let seed = 3;
    const below = (most: number): number => (seed = (seed * 48271) % 2147483647) % most;
    for (let round = 0; round < 200; round += 1) {
      const samples = Array.from({ length: below(9) }, (_, at) => ({
        ...{ sample: at + 1, script: `${below(4)} ${below(9)}` },
      }));
      const normal = (script: string): string => script.split(' ')[0] ?? '';
      const votes = (script: string): number =>
        samples.filter((each) => normal(each.script) === normal(script)).length;
      const wanted = samples
        .filter(
          (one) => samples.find((other) => normal(other.script) === normal(one.script)) === one,
        )
        .map((each) => ({ ...each, votes: votes(each.script) }))
        .sort((one, other) => 100 * (other.votes - one.votes) + one.sample - other.sample);
      assert.deepEqual(byVotes(samples, normal), wanted);
    }
  });

  it('leave out the tests that the model names, and what it was not shown', () => {
    const shown = ['t/a.py::A::test_x', 't/a.py::A::test_y', 't/b.py::test_z'];
    const read = (text: string): string[] => readExcluded(text, shown);
    assert.deepEqual(read('Because.\n<exclude>\n- `t/b.py::test_z`\n</exclude>'), [shown[2]]);
    assert.deepEqual(read('<exclude>\nt/a.py::A\n</exclude>'), shown.slice(0, 2));
    assert.deepEqual(read('<exclude>\nt/b.py::test_z[3]\n</exclude>'), [shown[2]]);
    assert.deepEqual(read('<exclude>\n</exclude>\nt/b.py::test_z is fine'), []);
    assert.deepEqual(read('None: all of t/b.py::test_z may run.'), []);
    const passing = [
      't/b.py::test_z[1]',
      't/b.py::test_z[2]',
      't/a.py::A::test_x',
      't/c.py::test_w',
    ];
    assert.deepEqual(allowedTests(passing, shown, [shown[2] ?? '']), ['t/a.py::A::test_x']);
  });

  describe('a script as a test', () => {
    /** Whether Python runs the test, with what the script finds, and what it fails with. */
    const outcome = (test: string, found: string): string => {
      const source = `FOUND = ${found}\n${test}`;
      const call = test.includes('IssueTest')
        ? 'unittest.main(argv=["x"], exit=False).result.wasSuccessful() or print("FAILED")'
        : /^def test_issue/m.test(test)
          ? 'test_issue_is_resolved()'
          : '';
      try {
        return execFileSync('python3', ['-c', `${source}\n${call}\n`], {
          ...{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
        }).includes('FAILED')
          ? 'fails'
          : 'passes';
      } catch (error) {
        const { stderr } = error as { readonly stderr: string };
        return stderr.includes('AssertionError') ? 'fails' : stderr;
      }
    };
    const scripts = {
      'with a guard, a caught assertion and a text of several lines': `
text = """one
  two
"""
def check():
    try:
        assert len(text) == 10 and FOUND == 1
        print("Issue resolved")
    except Exception:
        print("Issue reproduced")

if __name__ == "__main__":
    # here
    check()
`,
      'that ends by itself, with a choice of answers': `
import sys
said = FOUND
print("found", said)
print("Issue resolved" if said == 1 else "Issue reproduced", flush=True)
sys.exit(0 if said == 1 else 1)
`,
      'with globals and imports of everything': `
from math import *
count = 0
def add():
    global count
    count += FOUND
add()
if sqrt(count) == 1: print('Issue resolved'); print("Issue resolved")
else: print(f"Issue reproduced: {count}")
`,
    };
    for (const [name, script] of Object.entries(scripts)) {
      it(`fails where it does not say that the issue is resolved: ${name}`, () => {
        for (const form of ['pytest', 'unittest', 'script'] as const) {
          const guardless = form === 'script' ? script.replace('"__main__"', '__name__') : script;
          const test = scriptAsTest(python, guardless, form);
          assert.ok(test !== undefined);
          assert.equal(outcome(test, '1'), 'passes', test);
          assert.equal(outcome(test, '2'), 'fails', test);
        }
      });
    }

    it('configures Django only where its runner has not', () => {
      const of = (lines: string, form: 'unittest' | 'script' = 'unittest'): string =>
        scriptAsTest(
          python,
          `${lines}\nprint("Issue resolved")\nprint("Issue reproduced")\n`,
          form,
        ) ?? '';
      const own = 'from django.conf import settings\nsettings.configure(DEBUG=True)';
      assert.match(of(own), /^ +\(settings\.configured or settings\.configure\(DEBUG=True\)\)$/m);
      assert.match(of(own, 'script'), /^settings\.configure\(DEBUG=True\)$/m, 'nobody else does');
      assert.match(
        of('import django.conf\ndjango.conf.settings.configure()'),
        /\(django\.conf\.settings\.configured or django\.conf\.settings\.configure\(\)\)/,
      );
      assert.match(
        of('from app import settings\nsettings.configure()'),
        /^ +settings\.configure\(\)$/m,
      );
    });

    it('is none where the answers are not seen, or it is no Python', () => {
      const of = (script: string): string | undefined => scriptAsTest(python, script, 'pytest');
      assert.equal(of('print("Issue reproduced")\n'), undefined, 'it can never pass');
      assert.equal(of('say("Issue reproduced", "Issue resolved")\n'), undefined);
      assert.equal(of('print("Issue reproduced"\nprint("Issue resolved")\n'), undefined);
    });
  });

  it('find the tests that reach a file, by imports only', async () => {
    const files: Record<string, string> = {
      'shop/__init__.py': 'from .money import Money\nfrom shop.cart import *\n',
      'shop/money.py': 'class Money: pass\ndef parse(): pass\n',
      'shop/cart.py': 'class Cart: pass\n',
      'tests/test_cart.py': 'from shop import Cart\ndef test_a(): Cart()\n',
      'tests/test_money.py': 'import shop.money\ndef test_a(): shop.money.parse()\n',
      'tests/test_more.py':
        'from shop import Money\nimport shop\ndef test_a(): Money(), shop.Money\n',
      'tests/test_words.py': '# Money and parse\nparse = 1\ndef test_a(): parse\n',
      'tests/test_other_name.py': 'from shop.money import Money as M\ndef test_a(): M()\n',
      'tests/helpers.py': 'from shop import Money\n',
    };
    const tree = {
      paths: () => Promise.resolve(Object.keys(files).sort()),
      read: (path: string) => Promise.resolve(files[path]),
    } as unknown as ModelView['tree'];
    const view = { tree, python, repo: 'o/shop' };
    assert.deepEqual(await reachingTestFiles(view, ['shop/money.py']), [
      'tests/test_money.py',
      'tests/test_more.py',
      'tests/test_other_name.py',
    ]);
    assert.deepEqual(await reachingTestFiles(view, ['shop/cart.py']), ['tests/test_cart.py']);
    assert.deepEqual(await reachingTestFiles(view, []), []);
    const script = 'def main():\n    from shop import Cart\n';
    assert.deepEqual(await placeOfTest(view, script), {
      ...{ path: 'tests/test_issue_reproduction.py', style: 'pytest' },
    });
  });
});

describe('whether a script uses R', () => {
  const modules = modulesOf([
    ...['setup.py', 'src/pkg/__init__.py', 'src/pkg/core.py', 'tool.py', 'tests/test_pkg.py'],
    'docs/conf.py',
  ]);
  it('knows the modules at the top of R', () => assert.deepEqual([...modules], ['pkg', 'tool']));
  for (const script of [
    'import os, pkg.core as core\n',
    'from pkg import x\n',
    '    import tool\n',
    'import importlib\nimportlib.import_module("pkg.core")\n',
    'subprocess.run([sys.executable, "-m", "tool"])\n',
    'os.system("python -m tool --help")\n',
  ]) {
    it(`says yes: ${script.trim().split('\n').at(-1)}`, () => {
      assert.ok(usesModules(script, modules));
    });
  }
  it('says no where nothing of R is imported', () => {
    assert.ok(
      !usesModules('import os\nfrom json import loads\nprint("Issue reproduced")\n', modules),
    );
    assert.ok(!usesModules('def pkg():\n    pass\n# import pkg\n', modules));
  });
  it('says yes where R has no module that it knows', () => assert.ok(usesModules('', new Set())));
});
