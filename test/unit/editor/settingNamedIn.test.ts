import assert from 'node:assert/strict';
import { settingNamedIn } from '../../../src/editor/shell/inTermsOfSettings';

describe('the setting that a message is about', () => {
  it('is the first that it names', () => {
    const text = 'Python not found at /x. Specify another with the setting swt-bench.python.';
    assert.equal(settingNamedIn(text), 'swt-bench.python');
    assert.equal(
      settingNamedIn('The setting swt-bench.docker.host is "x"'),
      'swt-bench.docker.host',
    );
    assert.equal(settingNamedIn('Change `swt-bench.storageFolder`.'), 'swt-bench.storageFolder');
  });

  it('is none where a path or another extension has such a name', () => {
    assert.equal(settingNamedIn('/home/me/swt-bench.python is gone'), undefined);
    assert.equal(settingNamedIn('swt-bench.nothing'), undefined);
    assert.equal(settingNamedIn('python.swt-bench.python'), undefined);
  });
});
