import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Instance } from '../../src/domain/instance';
import { silent } from '../../src/domain/work';
import { localEngine } from '../../src/engine/local/localEngine';
import { runStore } from '../../src/evaluation/testRun';
import { openSession, type InstanceSession } from '../../src/evaluation/session';
import { scriptAsTest } from '../../src/method/agentless/testing/scriptAsTest';
import { runScriptOnR } from '../../src/method/view/runOnR';
import { makeUnified } from '../../src/patch/makeUnified';
import { prepareTrees } from '../../src/repository/trees';
import { environment, sourceRelease } from '../environments';
import { loadParser } from '../unit/python/loadParser';
import { added } from './exampleRepository';

const work = { timeoutSeconds: 120, reporter: silent };
const usesTemplates = `from django.template import Context, Engine
found = Engine().from_string("{{ x|upper }}").render(Context({"x": "a"}))
print("Issue resolved" if found == "A" else "Issue reproduced")
`;
const withOwn = `from django.conf import settings
settings.configure(SECRET_KEY="mine", USE_TZ=False)
import django
django.setup()
print(settings.SECRET_KEY)
${usesTemplates}`;
import { environments } from '../../src/environments/environments';
const withoutAny = `import django
from django.conf import settings
django.setup()
print(settings.SECRET_KEY)
${usesTemplates}`;

const instance: Instance = {
  ...{ id: 'django__django-1', repo: 'django/django', version: '4.1' },
  ...{ baseCommit: '0'.repeat(40), createdAt: '2022-06-01T00:00:00Z', issue: '', hints: '' },
  ...{ goldenPatch: added('golden.txt'), goldenTests: '' },
  ...{ failToPass: undefined, passToPass: undefined },
};

describe('reproduction scripts on Django @full', function () {
  let storage: string;
  let session: InstanceSession;
  before(async function () {
    const python = await environment(this, 'python3', ['asgiref==3.5.2', 'sqlparse==0.4.2']);
    const from = await sourceRelease(this, 'django', '4.1a1');
    storage = await mkdtemp(join(tmpdir(), 'django-scripts-'));
    session = await openSession({
      instance,
      trees: await prepareTrees(instance, { kind: 'snapshot', from }, storage, work),
      engine: await localEngine({
        environments,
        storage,
        tracer: resolve('src/engine/tracer'),
        python,
      }),
      python: await loadParser(),
      store: runStore(storage),
      sides: ['base'],
    });
  });
  after(async () => {
    await session.dispose();
    await session.engine.dispose();
    await rm(storage, { recursive: true, force: true });
  });

  it('have their own settings, or those of its tests', async () => {
    const own = await runScriptOnR(session, withOwn, '', work);
    assert.deepEqual([own.exitCode, own.output], [0, 'mine\nIssue resolved\n']);
    const none = await runScriptOnR(session, withoutAny, '', work);
    assert.deepEqual(
      [none.exitCode, none.output],
      [0, 'django_tests_secret_key\nIssue resolved\n'],
    );
  });

  it('become tests of its runner, which has configured the settings before', async () => {
    const outcomes: string[] = [];
    for (const script of [withOwn, withOwn.replace('"A"', '"B"'), withoutAny]) {
      const after = scriptAsTest(session.python, script, 'unittest');
      const path = 'tests/basic/test_issue_reproduction.py';
      const patch = makeUnified([{ path, before: undefined, after }]);
      const { records } = await session.run(
        { patch, files: [path] },
        { ...work, reuse: false, sides: ['base'] },
      );
      const found = records.base?.trace.outcomes ?? [];
      outcomes.push(found.map(({ outcome }) => outcome).join(' '));
    }
    assert.deepEqual(outcomes, ['passed', 'failed', 'passed']);
  });
});
