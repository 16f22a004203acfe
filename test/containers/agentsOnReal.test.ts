import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cli, type Evaluation } from '../commandLine/cli';
import { fakeModels, type Reply } from '../commandLine/fakeModels';
import { killedAtEachStep, withoutInputTokens } from '../commandLine/killedAtEachStep';
import { lineEdit, namedIn, newFileDiff } from '../commandLine/recordedSession';
import { sourceRelease } from '../environments';
import { containersOf } from './dockerForTests';
import { onRelease, storageOfSuite } from './realData';

/** A real instance, and a test that reproduces its issue. */
interface Case {
  readonly id: string;
  readonly release: readonly [string, string];
  /** The test file that a scripted model writes. */
  readonly path: string;
  readonly content: string;
  /** Runs it on R. The release of SymPy has no bin/test. */
  readonly command: string;
  /** What the model sees in that run. */
  readonly seen: RegExp;
  /** A call of AutoCodeRover's index, and a file of R. */
  readonly search: string;
  readonly code: string;
}

const turn = (command: string, language = ''): string =>
  `I go on with this.\n\`\`\`${language}\n${command}\n\`\`\``;

const ofTensorProduct = `from sympy.physics.quantum import TensorProduct
from sympy.physics.quantum.operator import Operator


def test_expand_of_factors_with_scalars():
    U, V = Operator('U'), Operator('V')
    product = TensorProduct(2*U - V, U + V)
    expected = (2*TensorProduct(U, U) + 2*TensorProduct(U, V)
                - TensorProduct(V, U) - TensorProduct(V, V))
    assert product.expand(tensorproduct=True) == expected
`;

const ofConfig = `import json

import flask


def test_file_is_opened_as_bytes(tmp_path):
    path = tmp_path / "bytes.json"
    path.write_bytes(b'{"KEY": "value"}')
    app = flask.Flask(__name__)
    app.config.from_file(str(path), load=lambda f: json.loads(f.read().decode()), text=False)
    assert app.config["KEY"] == "value"
`;

const cases: readonly Case[] = [
  {
    id: 'sympy__sympy-24152',
    release: ['sympy', '1.11.1'],
    path: 'sympy/physics/quantum/tests/test_expand_scalars.py',
    content: ofTensorProduct,
    command: `python -c "import sympy; sympy.test('sympy/physics/quantum/tests/test_expand_scalars.py')"`,
    seen: /test_expand_of_factors_with_scalars[^]*AssertionError/,
    search: 'search_class("TensorProduct")',
    code: 'sympy/physics/quantum/tensorproduct.py',
  },
  {
    id: 'pallets__flask-4992',
    release: ['flask', '2.2.5'],
    path: 'tests/test_config_bytes.py',
    content: ofConfig,
    command: 'python -m pytest -q tests/test_config_bytes.py',
    seen: /unexpected keyword argument 'text'[^]*1 failed|1 failed[^]*unexpected keyword argument 'text'/,
    search: 'search_method("from_file")',
    code: 'src/flask/config.py',
  },
];

/** What a scripted model says as each agent, and whether it sees its test fail on R. */
const scripts: Readonly<Record<string, (of: Case) => readonly Reply[]>> = {
  'swe-agent': inWindow,
  'swe-agent-plus': inWindow,
  mini: ({ path, content, command, code }) => [
    { text: turn(`head -50 ${code}`, 'bash') },
    { text: turn(`cat > ${path} <<'END'\n${content}END`, 'bash') },
    { text: turn(command, 'bash') },
    { text: turn('echo SUBMIT_REPRODUCING_TESTS', 'bash') },
  ],
  autocoderover: ({ path, content, search, code }) => [
    { text: 'Where is that done?' },
    { text: namedIn([search]) },
    { text: 'There it goes wrong.' },
    { text: 'No search is left.' },
    { text: namedIn([], [{ file: code }]) },
    { text: lineEdit(path, '', content) },
  ],
  aider: ({ path, content, code }) => [
    { text: `I need ${code}.` },
    { text: newFileDiff(path, content) },
  ],
  tools: ({ path, content }) => {
    const lines = content.trimEnd().split('\n');
    const patch = `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;
    return [
      { text: '', calls: [{ name: 'apply_candidate', input: { patch } }] },
      { text: '', calls: [{ name: 'run_tests', input: {} }] },
      { text: 'They fail because of the issue.' },
    ];
  },
};
const seeing = new Set(['swe-agent', 'swe-agent-plus', 'mini', 'tools']);

function inWindow({ path, content, command, code }: Case): Reply[] {
  return [
    { text: turn(`open ${code} 40`) },
    { text: turn(`create ${path}`) },
    { text: turn(`edit 1:1\n${content}end_of_edit`) },
    { text: turn(command) },
    { text: turn('submit') },
  ];
}

describe('agents on real instances, in containers @full', () => {
  const storage = storageOfSuite(cases.map(({ id }) => id));
  const generating = (method: string, out: string, url: string): string[] => [
    ...['generate', '--method', method, '--model', 'openai-compatible/m', '--out', out],
    ...['--base-url', url],
  ];

  for (const each of cases)
    for (const [method, script] of Object.entries(scripts)) {
      const { id, release, seen } = each;
      it(`${method} resolves ${id}`, async function () {
        const archive = await sourceRelease(this, ...release);
        const says = script(each);
        const models = await fakeModels((_, number) => says[number - 1] ?? { text: 'no more' });
        try {
          const out = join(storage.path, `${method}-${id}.jsonl`);
          const where = onRelease(id, archive, storage.path);
          const written = await cli([...generating(method, out, models.url), ...where]);
          assert.equal(written.status, 0, written.stderr);
          assert.equal(models.asked.length, says.length);
          if (seeing.has(method)) {
            const trace = await readFile(`${out}.trace.jsonl`, 'utf8');
            const observations = trace
              .trim()
              .split('\n')
              .map((line) => JSON.parse(line) as { readonly observation?: string })
              .flatMap(({ observation }) => observation ?? []);
            assert.match(observations.slice(-2).join('\n'), seen);
          }
          const answer = await cli(['evaluate', '--json', '--predictions', out, ...where]);
          assert.equal(answer.status, 0, answer.stderr);
          const [result] = (JSON.parse(answer.stdout) as Evaluation).results;
          assert.equal(result?.strict?.success, true, result?.strict?.explanation ?? result?.error);
        } finally {
          await models.close();
        }
      });
    }

  // One agent with a shell, and one without.
  for (const method of ['mini', 'autocoderover']) {
    const of = cases[1]!;
    it(`${method} goes on after kill -9 at each step on ${of.id}, and ends as without`, async function () {
      const archive = await sourceRelease(this, ...of.release);
      const where = onRelease(of.id, archive, storage.path);
      const script = scripts[method]?.(of) ?? [];
      const models = await fakeModels((_, number) => script[number - 1] ?? { text: 'no more' });
      const [whole, out] = ['whole', 'killed'].map((each) =>
        join(storage.path, each, `${method}-${of.id}.jsonl`),
      ) as [string, string];
      try {
        const answer = await cli([...generating(method, whole, models.url), ...where]);
        assert.equal(answer.status, 0, answer.stderr);
      } finally {
        await models.close();
      }
      const { steps } = await killedAtEachStep(
        (url) => [...generating(method, out, url), ...where],
        out,
        script,
      );
      const losesShell = method === 'mini';
      const [killed, unkilled] = [await readFile(out, 'utf8'), await readFile(whole, 'utf8')];
      if (losesShell) assert.equal(withoutInputTokens(killed), withoutInputTokens(unkilled));
      else assert.equal(killed, unkilled);
      const turns = steps.filter(({ step }) => step === 'act');
      assert.deepEqual(
        turns.map(({ isRestarted }) => isRestarted === true),
        turns.map((_, at) => losesShell && at > 0),
      );
      assert.deepEqual(await containersOf(of.id), []);
    });
  }
});
