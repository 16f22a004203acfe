import assert from 'node:assert/strict';
import { withoutLinkMarkup } from '../../../src/editor/shell/plainText';

/** VS Code's pattern of a link in a notification (linkedText.ts of its base). */
const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;

describe('withoutLinkMarkup', () => {
  it('leaves nothing that becomes a link, and changes nothing else', () => {
    const text = 'no file [Mend it](command:workbench.action.x?1) and [b](https://example.org)';
    assert.match(text, link);
    assert.doesNotMatch(withoutLinkMarkup(text), link);
    assert.equal(withoutLinkMarkup('tests/test_a.py::f[1] (R)'), 'tests/test_a.py::f[1] (R)');
  });
});
