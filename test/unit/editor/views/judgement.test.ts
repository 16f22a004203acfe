import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { TriageEntry } from '../../../../src/domain/soundness';
import {
  firstToJudge,
  judgementByClick,
  judgementRows,
  lineOf,
  numberedTags,
  readJudgement,
  typedAfterTicking,
  typedTags,
} from '../../../../src/editor/instances/judgement';

const numbered = ['sound', 'unsound', 'flaky', 'needs network', 'slow'];
const read = (text: string) => readJudgement(text, numbered);

describe('judging an instance in one line', () => {
  it('offers two tags before there are any, and numbers them first', () => {
    assert.deepEqual(numberedTags([]), ['sound', 'unsound']);
    assert.deepEqual(numberedTags(['flaky', 'sound']), ['sound', 'unsound', 'flaky']);
  });

  const lines: [line: string, tags: string[], reason: string][] = [
    ['1', ['sound'], ''],
    ['2 golden test fails', ['unsound'], 'golden test fails'],
    ['fl only at night, twice', ['flaky'], 'only at night, twice'],
    ['need', ['needs network'], ''],
    ['2,4 offline', ['unsound', 'needs network'], 'offline'],
    ['2, 4 offline', ['unsound', 'needs network'], 'offline'],
    ['UNS loud', ['unsound'], 'loud'],
    ['new-one why', ['new-one'], 'why'],
    ['"so" literally', ['so'], 'literally'],
    ['"two words" why', ['two words'], 'why'],
    ['1, ', ['sound'], ''],
    ['- only a note', [], 'only a note'],
    ['9 is no number of the list', ['9'], 'is no number of the list'],
    ['sound,1,sound', ['sound'], ''],
    ['', [], ''],
    ['"unclosed', [], '"unclosed'],
  ];
  for (const [line, tags, reason] of lines) {
    it(`reads ${JSON.stringify(line)}`, () => {
      assert.deepEqual(read(line), { tags, reason });
    });
  }

  it('asks for one more letter where several tags begin alike, and refuses what is no tag', () => {
    assert.match(JSON.stringify(read('s why')), /begins sound, slow/);
    assert.match(JSON.stringify(read(`${'x'.repeat(61)} why`)), /longer than 60/);
  });

  it('reads back every line that it writes', () => {
    const tag = fc
      .string({ minLength: 1, maxLength: 20 })
      .filter((text) => /^[^",\p{C}\p{Z}][^",\p{C}\p{Zl}\p{Zp}]*$/u.test(text))
      .map((text) => text.trim());
    const words = fc
      .array(fc.stringMatching(/^[a-z,.0-9-]{1,8}$/), { maxLength: 4 })
      .map((all) => all.join(' '));
    fc.assert(
      fc.property(fc.uniqueArray(tag, { maxLength: 3 }), words, (tags, note) => {
        // Tags of an instance are among those in use.
        const known = numberedTags(tags);
        assert.deepEqual(readJudgement(lineOf({ tags, note }), known), { tags, reason: note });
      }),
    );
  });

  it('takes a click on a tag for the tag of the line, with the line as its reason', () => {
    assert.deepEqual(judgementByClick('slow', '', numbered), { tags: ['slow'], reason: '' });
    assert.deepEqual(judgementByClick('slow', 'takes an hour', numbered), {
      tags: ['slow'],
      reason: 'takes an hour',
    });
    assert.deepEqual(judgementByClick('slow', '1 takes an hour', numbered), {
      tags: ['slow'],
      reason: 'takes an hour',
    });
  });

  const firstRow = (text: string, before = '') => judgementRows({ text, before, numbered })[0];

  it('says beforehand what Enter does', () => {
    assert.deepEqual(firstRow('2 offline'), {
      label: '$(check) #unsound · offline',
      description: 'Press Enter to save and go to the next instance',
      says: { tags: ['unsound'], reason: 'offline' },
      goesOn: true,
    });
    assert.match(firstRow('odd why')?.label ?? '', /#odd \(new tag\) · why/);
    assert.match(firstRow('', '1')?.label ?? '', /No tag and no note/);
  });

  it('writes nothing where the line is unchanged or cannot be used', () => {
    assert.deepEqual(
      [firstRow('')?.says, firstRow('1 fine', '1 fine')?.says, firstRow('s')?.says],
      [undefined, undefined, undefined],
    );
    assert.deepEqual([firstRow('')?.goesOn, firstRow('s')?.goesOn], [true, false]);
  });

  it('goes on with the first instance that has neither tag nor note', () => {
    const kept: Record<string, Pick<TriageEntry, 'tags' | 'note'>> = {
      a: { tags: ['sound'], note: '' },
      b: { tags: [], note: 'why' },
      c: { tags: [], note: '' },
    };
    const first = (...ids: string[]): number => firstToJudge(ids, (id) => kept[id]);
    assert.equal(first('a', 'b', 'c', 'd'), 2);
    assert.equal(first('d', 'a'), 0);
    assert.equal(first('a', 'b'), 0, 'all have one');
    assert.equal(first(), 0);
  });

  it('numbers the tags', () => {
    const rows = judgementRows({ text: 'why', before: '', numbered }).slice(1);
    assert.deepEqual(
      rows.map(({ label, says }) => [label, says?.tags]),
      numbered.map((tag, index) => [`${index + 1}  ${tag}`, [tag]]),
    );
  });

  it('takes commas in typed tags for several tags', () => {
    assert.deepEqual(typedTags(' flaky, to discuss,,flaky'), ['flaky', 'to discuss']);
    assert.match(JSON.stringify(typedTags('x'.repeat(70))), /longer than 60/);
  });

  it('forgets the words by which a ticked tag was searched, and no others', () => {
    assert.equal(typedAfterTicking('dis', ['to discuss']), '');
    assert.equal(typedAfterTicking('later, flaky', ['later']), 'flaky');
  });
});
