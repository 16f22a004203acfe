import assert from 'node:assert/strict';
import fc from 'fast-check';
import { literalDunders } from '../../../src/editor/issue/renderIssue';

const literal = (name: string): string => `&#95;&#95;${name}&#95;&#95;`;
const shown = (markdown: string): string => markdown.replaceAll('&#95;', '_');

describe('dunder names in an issue', () => {
  it('stay literal wherever Markdown would make them bold', () => {
    for (const [before, after] of [
      ['__init__ fails', `${literal('init')} fails`],
      ['call Foo.__init__() and __call__', `call Foo.${literal('init')}() and ${literal('call')}`],
      ['<__main__.Cat object at 0x1>', `<${literal('main')}.Cat object at 0x1>`],
      ['- __dict__\n- __slots__', `- ${literal('dict')}\n- ${literal('slots')}`],
      ['pkg/__init__.py', `pkg/${literal('init')}.py`],
    ] as const) {
      assert.equal(literalDunders(before), after);
    }
  });

  it('are left alone in code, addresses and tags, and so is what is meant to be bold', () => {
    for (const text of [
      '`__init__` and ``a ` __init__``',
      '`a\n__init__`',
      '```py\n__init__\n\n__call__\n```',
      '~~~\n__init__\n```\n__call__\n~~~',
      '```\n__init__ and no end',
      '    self.__init__()\n\t__init__',
      'https://github.com/octo/cat/blob/main/__init__.py',
      '<a href="x/__init__.py">here</a>',
      '__two words__, **__bold**, snake__case__name, ____, \\__init\\__',
    ]) {
      assert.equal(literalDunders(text), text);
    }
  });

  it('are literal again after code', () => {
    const after = `\`__a__\` ${literal('b')}\n\`\`\`\n__c__\n\`\`\`\n${literal('d')}`;
    assert.equal(literalDunders(shown(after)), after);
    // A single backtick begins no code, and none goes over the end of a paragraph.
    assert.equal(literalDunders('a ` __b__'), `a \` ${literal('b')}`);
    assert.equal(literalDunders('a `\n\n__b__ `'), `a \`\n\n${literal('b')} \``);
  });

  it('are shown as they were written, whatever the text is', () => {
    const piece = fc.constantFrom(
      ...['__init__', '__', '_', '`', '```', '~~~', '\n', '\n\n', '    ', ' ', 'a', '.', '<b>'],
      ...['\\', 'https://x/', '**', '(', ')'],
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        const made = literalDunders(text);
        assert.equal(shown(made), text);
        assert.equal(literalDunders(made), made);
      }),
    );
  });
});
