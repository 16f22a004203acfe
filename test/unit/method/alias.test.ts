import assert from 'node:assert/strict';
import { aliasOf } from '../../../src/method/view/alias';

const issue = 'It is out of balance.\n';

describe('aliasOf', () => {
  it('is made of what a model is given anyway, and of nothing else', () => {
    const instance = { id: 'octo__cat-11099', repo: 'octo/cat', issue, baseCommit: 'a'.repeat(40) };
    const another = { ...instance, id: 'octo__cat-12000', baseCommit: 'b' };
    const alias = aliasOf(instance);
    assert.match(alias, /^octo__cat-[0-9a-f]{8}$/);
    assert.equal(alias, aliasOf(another));
    assert.notEqual(alias, aliasOf({ repo: 'octo/dog', issue }));
    assert.notEqual(alias, aliasOf({ repo: 'octo/cat', issue: 'Another one.' }));
  });

  it('is the same for a text with other white space around it', () => {
    assert.equal(
      aliasOf({ repo: 'octo/cat', issue }),
      aliasOf({ repo: 'octo/cat', issue: issue.trim() }),
    );
  });
});
