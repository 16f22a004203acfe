import assert from 'node:assert/strict';
import fc from 'fast-check';
import { fenceClosing, fenced } from '../../../src/editor/shell/plainText';

describe('blocks of code in an answer', () => {
  it('are closed where a model has left one open', () => {
    const cases: readonly (readonly [string, string])[] = [
      ['No code.', ''],
      ['```python\nx = 1\n```\nDone.', ''],
      ['```python\nx = 1', '\n```'],
      ['````md\n```python\nx\n```', '\n````'],
      ['~~~\n```\nx', '\n~~~'],
      ['```a\nx\n```\n\n  ```diff\n+y\n``', '\n```'],
      // A fence with a language opens a block and does not close one.
      ['```\nx\n```python', '\n```'],
      // Inline code, and fences inside code.
      ['See ```x``` here.', ''],
      ['```x```', ''],
      ['    ```', ''],
      ['```\r\nx\r\n```\r\n', ''],
    ];
    for (const [text, closing] of cases) assert.equal(fenceClosing(text), closing, text);
  });

  it('cannot be ended by what is in them', () => {
    assert.equal(fenced('+x\n', 'diff'), '```diff\n+x\n```\n');
    assert.equal(fenced('+```\n', 'diff'), '````diff\n+```\n````\n');
    const line = fc.constantFrom('```', '````', '~~~', '`', 'x', '', '  ```py', '+`````');
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const block = fenced(lines.join('\n'), 'diff');
        assert.equal(fenceClosing(block), '');
        // Only its last line closes the block: without that line it is open.
        const open = block.trimEnd().split('\n').slice(0, -1).join('\n');
        assert.notEqual(fenceClosing(open), '');
      }),
    );
  });
});
