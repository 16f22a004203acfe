import assert from 'node:assert/strict';
import type { PythonParser } from '../../../src/python/parser';
import {
  findReferences,
  referenceResolver,
  type ReferenceTree,
} from '../../../src/python/references';
import { loadParser } from './loadParser';

const files: Record<string, string> = {
  'setup.py': '',
  'zoo/__init__.py':
    'from .animals import Cat as Pet, cats\nfrom .keepers import *\nfrom zoo.food.fish import Fish\n' +
    'try:\n    from .fast import run\nexcept ImportError:\n    from .animals import run\n__version__ = "1"\n',
  'zoo/animals.py':
    'from .base import Base\n\nclass Cat(Base):\n    sound = "meow"\n\n    def purr(self):\n        local = 1\n\n' +
    'Tiger = Lion = Cat\ncats = []\n\ndef run():\n    class Hidden: pass\n',
  'zoo/base.py': 'class Base:\n    @property\n    def legs(self): return 4\n',
  'zoo/keepers/__init__.py':
    'from .night import Guard\nfrom ..keepers import *\nfrom .. import animals\n',
  'zoo/keepers/night.py': '\nclass Guard: pass\n_secret = 1\n',
  'zoo/food/__init__.py': '',
  'zoo/food/fish.py': 'Fish: type = object\n',
  'zoo/food/base.py': '',
  'src/bar/__init__.py': 'from bar.core import drink\n',
  'src/bar/core.py': 'def drink(): pass\n',
  'tests/test_zoo.py': 'class TestZoo:\n    def test_cat(self): pass\n',
  'tests/models.py': '',
  'docs/conf.py': '',
};

describe('referenceResolver', () => {
  let python: PythonParser;
  before(async function () {
    python = await loadParser();
  });
  after(() => python.dispose());

  const tree: ReferenceTree = {
    repo: 'octo/zoo',
    files: Object.keys(files),
    read: async (path) => files[path],
  };

  async function places(text: string): Promise<string[]> {
    const resolve = referenceResolver(tree, python);
    const found = await Promise.all(findReferences(text).map(resolve));
    return found.map((place) => (place === undefined ? '-' : `${place.path}:${place.line}`));
  }

  const check = (cases: Record<string, string>): Promise<void[]> =>
    Promise.all(
      Object.entries(cases).map(async ([text, place]) =>
        assert.deepEqual(await places(text), [place], text),
      ),
    );

  it('finds files by their path', async () => {
    await check({
      'zoo/base.py': 'zoo/base.py:1',
      './zoo/base.py:3': 'zoo/base.py:3',
      'tests/test_zoo.py::TestZoo::test_cat': 'tests/test_zoo.py:2',
      'https://github.com/former/Zoo/blob/1.x/zoo/base.py#L2': 'zoo/base.py:2',
      'https://github.com/octo/other/blob/1.x/zoo/base.py#L2': '-',
    });
  });

  it('finds files by the end of their path, if only one fits', async () => {
    await check({
      'File "/usr/lib/python3/site-packages/zoo/base.py", line 2': 'zoo/base.py:2',
      'C:\\Python\\Lib\\site-packages\\bar\\core.py:7': 'src/bar/core.py:7',
      '/home/me/zoo/zoo/base.py': 'zoo/base.py:1',
      'a/zoo/food/base.py': 'zoo/food/base.py:1',
      'food/base.py': 'zoo/food/base.py:1',
      'night.py': 'zoo/keepers/night.py:1',
      'core.py': 'src/bar/core.py:1',
      // several fit
      'base.py': '-',
      // of another package, of the reporter, of a test
      '/usr/lib/python3/site-packages/other/food/base.py': '-',
      '/usr/lib/python3/site-packages/food/base.py': '-',
      '/home/me/project/setup.py': '-',
      'models.py': '-',
      '../../etc/passwd.py': '-',
    });
  });

  it('finds definitions through packages, imports, aliases and base classes', async () => {
    await check({
      'zoo.animals': 'zoo/animals.py:1',
      'zoo.keepers': 'zoo/keepers/__init__.py:1',
      'zoo.animals.Cat': 'zoo/animals.py:3',
      'zoo.animals.Cat.purr()': 'zoo/animals.py:6',
      'zoo.animals.Cat.sound': 'zoo/animals.py:4',
      'zoo.Pet.purr': 'zoo/animals.py:6',
      'zoo.Pet.legs': 'zoo/base.py:3',
      'zoo.Pet.unknown': 'zoo/animals.py:3',
      'zoo.animals.Lion.purr': 'zoo/animals.py:6',
      'zoo.cats': 'zoo/animals.py:10',
      'zoo.run': 'zoo/animals.py:12',
      'zoo.Guard': 'zoo/keepers/night.py:2',
      'zoo.keepers.animals.Tiger': 'zoo/animals.py:3',
      'zoo.Fish': 'zoo/food/fish.py:1',
      'zoo.__version__': 'zoo/__init__.py:8',
      'bar.drink': 'src/bar/core.py:1',
    });
  });

  it('finds nothing where there is nothing', async () => {
    await check({
      'os.path': '-',
      'zoo.missing': '-',
      'zoo.animals.missing': '-',
      'zoo.animals.run.Hidden': 'zoo/animals.py:12',
      'zoo.animals.Cat.purr.local': 'zoo/animals.py:3',
      'zoo.keepers._secret': '-',
      'numpy.array': '-',
      'zoo.a.b.c.d.e.f.g.h.i.j.k.l.m.n': '-',
    });
  });

  it('reads each file once and comes to an end in a web of imports', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `m${index}`);
    let reads = 0;
    const resolve = referenceResolver(
      {
        repo: 'a/b',
        files: names.map((name) => `${name}.py`),
        read: async () => {
          reads++;
          return names.map((name) => `from ${name} import *`).join('\n');
        },
      },
      python,
    );
    for (const reference of findReferences('m0.x m1.y m0.x')) {
      assert.equal(await resolve(reference), undefined);
    }
    assert.ok(reads > 0 && reads <= names.length, String(reads));
  });
});
