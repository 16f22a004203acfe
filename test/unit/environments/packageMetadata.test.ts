import assert from 'node:assert/strict';
import {
  metadataSettings,
  type PackageMetadata,
} from '../../../src/environments/image/packageMetadata';

describe('metadata of packages that are known', () => {
  const metadata = (more: Partial<PackageMetadata>): PackageMetadata => ({
    ...{ name: 'docopt', version: '0.6.2', requires: [], python: null, extras: [] },
    ...more,
  });

  it('are settings of uv', () => {
    const requires = ['six (>=1.9,<2)', 'Foo_bar[a,b]!=2.1.* ; extra == "x\'"'];
    const said = metadataSettings([
      metadata({ requires, python: '>=2.7, !=3.0.*', extras: ['x', 'all-of_it'] }),
      metadata({ name: 'plain', version: '1!2.0+local' }),
    ]);
    assert.equal(
      said,
      [
        '[[dependency-metadata]]',
        'name = "docopt"',
        'version = "0.6.2"',
        'requires-python = ">=2.7, !=3.0.*"',
        String.raw`requires-dist = ["six (>=1.9,<2)","Foo_bar[a,b]!=2.1.* ; extra == \"x'\""]`,
        'provides-extra = ["x","all-of_it"]',
        '',
        '[[dependency-metadata]]',
        'name = "plain"',
        'version = "1!2.0+local"',
        'requires-dist = []',
        'provides-extra = []',
        '',
      ].join('\n'),
    );
  });

  it('leave out what uv would refuse, and with it everything else', () => {
    for (const requirement of [
      'six (>=2.7.*)',
      'six (1.0)',
      'six @ https://x.test/six.zip',
      '-r x',
      '',
    ]) {
      assert.equal(metadataSettings([metadata({ requires: [requirement] })]), '', requirement);
    }
    assert.equal(metadataSettings([metadata({ python: '>=2.7.*' })]), '');
    assert.equal(metadataSettings([metadata({ extras: ['a b'] })]), '');
    for (const requirement of [
      'six',
      ` six\n${' '.repeat(900)}[x]`,
      'six (==1.0.*)',
      'six~=1.0',
      'six >1, <2,',
      'six ()',
    ]) {
      assert.notEqual(metadataSettings([metadata({ requires: [requirement] })]), '', requirement);
    }
  });
});
