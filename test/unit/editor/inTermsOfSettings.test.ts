import assert from 'node:assert/strict';
import { inTermsOfSettings } from '../../../src/editor/shell/settingNames/inTermsOfSettings';
import { GitError } from '../../../src/repository/git/git';
import { cannotBeHad } from '../../../src/repository/git/unreachable';
import { parseSources } from '../../../src/repository/source';

describe('an error in the editor', () => {
  it('names the setting, never an option of the command line', () => {
    const error = new GitError('fetch', 'fatal: Could not resolve host: example.org', 128);
    const asked = { repo: 'a/b', commit: '0123abc', from: 'https://example.org/a/b' };
    const text = inTermsOfSettings(cannotBeHad(error, asked).message);
    assert.match(text, /Give a\/b in the setting swt-bench\.repositorySources the path or address/);
    assert.doesNotMatch(text, /--/);
    assert.throws(
      () => parseSources(['']),
      (thrown: Error) => !inTermsOfSettings(thrown.message).includes('--'),
    );
    const python = 'name an interpreter with --python or the setting swt-bench.python';
    assert.doesNotMatch(inTermsOfSettings(python), /--/);
  });
});
