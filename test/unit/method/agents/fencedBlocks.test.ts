import assert from 'node:assert/strict';
import fc from 'fast-check';
import { fencedBlocks } from '../../../../src/method/agents/fencedBlocks';

describe('fenced blocks of an answer', () => {
  const found = (answer: string): string[] =>
    fencedBlocks(answer).map(({ language, text }) => `${language}|${text}`);

  it('have their language and their lines', () => {
    assert.deepEqual(found('a\n```bash\nls\n```\nb\n```\ncat x\n\nend\n```'), [
      'bash|ls',
      '|cat x\n\nend',
    ]);
    assert.deepEqual(found('```\n```'), ['|']);
    assert.deepEqual(found('none ``` here'), []);
    assert.deepEqual(found('```bash\nnever ended'), []);
  });

  it('hold blocks with a language that lie in them', () => {
    assert.deepEqual(found('```\nedit 1:1\n```py\nx\n```\nend_of_edit\n```'), [
      '|edit 1:1\n```py\nx\n```\nend_of_edit',
    ]);
  });

  it('give back any command without fences, whatever stands around', () => {
    const line = fc.string().filter((text) => !text.includes('`') && !text.includes('\n'));
    fc.assert(
      fc.property(fc.array(line, { minLength: 1 }), line, (lines, before) => {
        const text = lines.join('\n');
        assert.deepEqual(found(`${before}\n\`\`\`bash\n${text}\n\`\`\`\n${before}`), [
          `bash|${text}`,
        ]);
      }),
    );
  });
});
