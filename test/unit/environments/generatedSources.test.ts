import assert from 'node:assert/strict';
import {
  generatedKey,
  generatedName,
  generatedPath,
} from '../../../src/environments/image/further/generatedSources';
import { compilations } from '../../../src/environments/image/further/compilerCache';

const entriesOf = (files: Readonly<Record<string, string>>) =>
  new Map(Object.entries(files).map(([path, id]) => [path, { mode: '100644', id }]));

const files = { 'a/x.pyx': '1', 'a/y.pyx': '2', 'a/own.c': '3', 'a/own.pyx': '4', 'a/x.pxd': '5' };
const packages = ['Cython==0.29.30', 'numpy==1.23.0', 'pytest==7.0'];

describe('sources that Cython made', () => {
  const entries = entriesOf(files);
  const key = generatedKey(entries, packages);

  it('are kept by their .pyx, and not where R has the file', () => {
    assert.equal(generatedName('./a/x.c', key, entries), `generated/${key}/1/a/x.c`);
    assert.equal(generatedName('a/y.cpp', key, entries), `generated/${key}/2/a/y.cpp`);
    for (const path of ['a/own.c', 'a/z.c', 'a/x.pyx', 'a/x.h', '../a/x.c']) {
      assert.equal(generatedName(path, key, entries), undefined, path);
    }
  });

  it('serve another commit as long as nothing that Cython reads differs', () => {
    const name = generatedName('a/x.c', key, entries) ?? '';
    const path = (more: object, made = packages): string | undefined => {
      const other = entriesOf({ ...files, ...more });
      return generatedPath(name, generatedKey(other, made), other);
    };
    assert.equal(path({ 'a/plain.py': '9' }), 'a/x.c');
    assert.equal(path({ 'a/y.pyx': '9' }), 'a/x.c', 'another .pyx');
    assert.equal(path({}, ['Cython==0.29.30', 'numpy==1.23.0', 'pytest==8.0']), 'a/x.c');
    assert.equal(path({ 'a/x.pyx': '9' }), undefined, 'its own .pyx');
    assert.equal(path({ 'a/x.pxd': '9' }), undefined, 'a declaration');
    assert.equal(path({ 'b/new.pxi': '9' }), undefined, 'a new include');
    assert.equal(path({ 'setup.py': '9' }), undefined, 'directives of the build');
    assert.equal(path({ 'a/x.c': '9' }), undefined, 'R has it now');
    assert.equal(path({}, ['Cython==3.0.0', 'numpy==1.23.0']), undefined, 'another Cython');
  });

  it('are written to no place but their own', () => {
    for (const name of [`generated/${key}/1/../x.c`, `generated/${key}/1//etc/x.c`, 'x', '']) {
      assert.equal(generatedPath(name, key, entries), undefined, name);
    }
  });
});

describe('statistics of ccache', () => {
  it('say what was compiled', () => {
    const text =
      'stats_updated_timestamp\t1\ncache_miss\t2\ndirect_cache_hit\t3\npreprocessed_cache_hit\t1\n';
    assert.deepEqual(compilations(text), { compiled: 2, reused: 4 });
    assert.deepEqual(compilations('ccache: error: no such option'), { compiled: 0, reused: 0 });
  });
});
