import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  isTriageFile,
  mergeTriage,
  readTriage,
  triageFilter,
  updateTriage,
  type TriageFile,
} from '../../../src/dataset/triage';
import { checkedTag, parseTriage, printTriage } from '../../../src/dataset/triageFile';
import { HumanError } from '../../../src/domain/work';
import type { TriageEntry } from '../../../src/domain/soundness';
import { everydayRuns } from '../../everyday';

const entry = (more: Partial<TriageEntry>): TriageEntry => ({
  tags: [],
  note: '',
  classification: {},
  ...more,
});

const fileOf = (instances: Readonly<Record<string, unknown>>, more = {}): string =>
  JSON.stringify({ format: 1, instances, ...more });

const refused = (text: string, ...said: RegExp[]): void => {
  assert.throws(
    () => parseTriage(text, 'my.json'),
    (error) => {
      assert.ok(error instanceof HumanError, String(error));
      for (const each of [/my\.json/, ...said]) assert.match(error.message, each);
      return true;
    },
  );
};

describe('the text of a triage file', () => {
  const text = `{
  "format": 1,
  "instances": {
    "a__b-1": {
      "tags": [
        "flaky",
        "mine"
      ],
      "note": "two\\nlines",
      "classification": {
        "description": "reproducible",
        "solution": "none",
        "location": {
          "line": "stack-trace",
          "file": "none"
        }
      }
    },
    "a__b-10": {
      "note": "x"
    }
  }
}
`;

  it('is sorted, indented and ends with a line feed, however it came', () => {
    const scrambled = {
      'a__b-10': { classification: {}, note: ' x\r\n', tags: [] },
      'a__b-2': { tags: [], note: '' },
      'a__b-1': {
        classification: {
          location: { file: 'none', line: 'stack-trace' },
          solution: 'none',
          description: 'reproducible',
        },
        note: 'two\r\nlines',
        tags: ['mine', ' flaky ', 'mine'],
      },
    };
    assert.equal(printTriage(parseTriage(fileOf(scrambled), '')), text);
    assert.equal(printTriage(parseTriage(`\uFEFF${text.replaceAll('\n', '\r\n')}`, '')), text);
  });

  it('keeps fields that a later version wrote', () => {
    const later = {
      a__b: {
        stars: 5,
        classification: { severity: 'high', location: { column: 'none', line: 'none' } },
      },
      b__c: { seen: { by: ['me'] } },
    };
    const file = parseTriage(fileOf(later, { authors: { me: 1 } }), '');
    assert.deepEqual(file.instances.get('a__b')?.classification, { location: { line: 'none' } });
    const again = JSON.parse(printTriage(file)) as unknown;
    assert.deepEqual(again, { format: 1, instances: later, authors: { me: 1 } });
  });

  it('names the id and the field that is wrong', () => {
    refused(fileOf({ a__b: { tags: ['x,y'] } }), /a__b tags 0: contains a comma/);
    refused(fileOf({ a__b: { tags: ['x\ny'] } }), /control character/);
    refused(fileOf({ a__b: { tags: ['x'.repeat(61)] } }), /60/);
    refused(fileOf({ a__b: { tags: 'x' } }), /a__b tags: is not a list/);
    refused(fileOf({ a__b: { note: 7 } }), /a__b note: is not a text/);
    refused(fileOf({ a__b: [] }), /a__b: is not an object/);
    refused(
      fileOf({ a__b: { classification: { location: { line: 'here' } } } }),
      /a__b classification location line: "here" is none of natural-language, stack-trace/,
    );
    refused(fileOf({ '../x': {} }), /"\.\.\/x" is not a valid instance ID/);
    refused(fileOf(Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`a-${n}`, 7]))), /2 more/);
    refused('{"format": 1}', /instances/);
    refused('[]', /not a JSON object/);
    refused('{"format": 1', /not JSON/);
    refused('{"format": 2, "instances": {}}', /format 2/, /Update/);
  });

  it('names a git conflict by its line', () => {
    const lines = text.split('\n');
    lines.splice(4, 1, '<<<<<<< HEAD', lines[4] ?? '', '=======', '>>>>>>> theirs');
    refused(lines.join('\n'), /git conflict in line 5/, /--merge/);
    assert.equal(isTriageFile(lines.join('\n')), true);
    // The same characters in a note are not a marker.
    const note = '<<<<<<< HEAD\n=======\n>>>>>>> x';
    assert.equal(parseTriage(fileOf({ a__b: { note } }), '').instances.get('a__b')?.note, note);
  });

  it('refuses an id that stands there twice instead of losing one', () => {
    const twice = '{"format":1,"instances":{"a-1":{"note":"{\\"a-1\\":"},"a-1":{"tags":["a-1"]}}}';
    refused(twice, /a-1 appears twice/);
    const once =
      '{"format":1,"instances":{"a-1":{"x":{"a-1":[{"a-1":1},{"a-1":2}]}},"a-2":{"a-1":1}}}';
    assert.equal(parseTriage(once, '').instances.size, 2);
  });

  it('refuses a field that stands twice in an entry instead of losing one', () => {
    const twice = '{"format": 1, "instances": {"a__b-1": {"note": "x", "note": "y"}}}';
    refused(twice, /a__b-1 note appears twice/);
  });

  it('is told apart from lists of ids and datasets', () => {
    assert.equal(isTriageFile(text), true);
    assert.equal(isTriageFile('{"format": 2, "instances": {}}'), true);
    assert.equal(isTriageFile(`\uFEFF${text}`), true);
    for (const other of ['', 'a__b-1\na__b-2', '[]', '["a"]', '{"a__b": {"repo": "x"}}', 'null']) {
      assert.equal(isTriageFile(other), false, other);
    }
  });
});

describe('tags', () => {
  it('are trimmed; commas, control characters and long ones are refused', () => {
    assert.equal(checkedTag('  to do '), 'to do');
    assert.equal(checkedTag('ß'.repeat(60)), 'ß'.repeat(60));
    for (const wrong of ['', ' ', 'a,b', 'a\u0007b', 'a\u2028b', 'x'.repeat(61)]) {
      assert.throws(() => checkedTag(wrong), HumanError, JSON.stringify(wrong));
    }
  });
});

describe('any triage file', () => {
  const id = fc.stringMatching(/^[ab]__[ab]-[0-9]$/);
  const tag = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((each) => {
    try {
      checkedTag(each);
      return true;
    } catch {
      return false;
    }
  });
  const location = fc.constantFrom('natural-language', 'stack-trace', 'keywords', 'none');
  const entries = fc.record(
    {
      tags: fc.array(tag, { maxLength: 4 }),
      note: fc.string({ unit: 'binary' }),
      classification: fc.record(
        {
          description: fc.constantFrom('reproducible', 'insufficient'),
          solution: fc.constantFrom('none', 'exact-patch'),
          location: fc.record(
            { line: location, function: location, file: location },
            { requiredKeys: [] },
          ),
          later: fc.json().map((each) => JSON.parse(each) as unknown),
        },
        { requiredKeys: [] },
      ),
      more: fc.json().map((each) => JSON.parse(each) as unknown),
    },
    { requiredKeys: [] },
  );
  const files = fc.dictionary(id, entries).map((all) => parseTriage(fileOf(all), ''));

  it('reads back as it was written, and is written the same again', () => {
    fc.assert(
      fc.property(files, (file) => {
        const text = printTriage(file);
        assert.deepEqual(parseTriage(text, ''), file);
        assert.equal(printTriage(parseTriage(text, '')), text);
      }),
    );
  });

  it('is read, or refused with a message for people', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.json(),
      fc.dictionary(fc.string(), fc.jsonValue()).map((all) => fileOf(all)),
      fc
        .dictionary(
          id,
          fc.dictionary(fc.constantFrom('tags', 'note', 'classification'), fc.jsonValue()),
        )
        .map((all) => fileOf(all)),
    );
    fc.assert(
      fc.property(anything, (text) => {
        try {
          parseTriage(text, '');
        } catch (error) {
          assert.ok(error instanceof HumanError, String(error));
        }
      }),
      { numRuns: everydayRuns(1000) },
    );
  });

  it('merged with itself or with nothing is itself', () => {
    fc.assert(
      fc.property(files, (file) => {
        const none = parseTriage(fileOf({}), '');
        for (const other of [file, none]) {
          assert.deepEqual(mergeTriage(file, other), { file, conflicts: [] });
        }
        assert.deepEqual(mergeTriage(none, file), { file, conflicts: [] });
      }),
    );
  });

  it('merged with another loses no tag, note or judgement of either without saying so', () => {
    fc.assert(
      fc.property(files, files, (ours, theirs) => {
        const { file, conflicts } = mergeTriage(ours, theirs);
        for (const [side, other] of [
          [ours, theirs],
          [theirs, ours],
        ] as const) {
          for (const [each, { tags, note, classification }] of side.instances) {
            const merged = file.instances.get(each);
            assert.ok(merged !== undefined);
            assert.deepEqual([...new Set([...merged.tags, ...tags])].sort(), merged.tags);
            assert.ok(merged.note.includes(note));
            const { description } = classification;
            assert.ok(
              description === undefined ||
                merged.classification.description === description ||
                conflicts.some(
                  ({ id: at, field }) => at === each && field === 'classification description',
                ),
            );
          }
          assert.ok(
            [...file.instances.keys()].every(
              (each) => side.instances.has(each) || other.instances.has(each),
            ),
          );
        }
        assert.equal(mergeTriage(theirs, ours).conflicts.length, conflicts.length);
        assert.deepEqual(mergeTriage(file, theirs).file, file);
      }),
    );
  });
});

describe('merging', () => {
  it('joins tags and notes, and names a judgement that only one side can win', () => {
    const merged = mergeTriage(
      parseTriage(
        fileOf({
          a: {
            tags: ['x'],
            note: 'one',
            classification: { solution: 'none', location: { line: 'none' } },
          },
        }),
        '',
      ),
      parseTriage(
        fileOf({
          a: {
            tags: ['y'],
            note: 'two',
            classification: {
              solution: 'partial',
              description: 'insufficient',
              location: { file: 'none' },
            },
          },
          b: { note: 'b' },
        }),
        '',
      ),
    );
    assert.deepEqual(merged.conflicts, [
      { id: 'a', field: 'classification solution', ours: '"none"', theirs: '"partial"' },
    ]);
    assert.deepEqual(
      [...merged.file.instances],
      [
        [
          'a',
          {
            tags: ['x', 'y'],
            note: 'one\ntwo',
            classification: {
              description: 'insufficient',
              solution: 'none',
              location: { line: 'none', file: 'none' },
            },
          },
        ],
        ['b', entry({ note: 'b' })],
      ],
    );
  });
});

describe('the triage file as a filter list', () => {
  it('keeps what it holds and belongs to Lite-S', () => {
    const filter = triageFilter(
      parseTriage(
        fileOf({
          'only-a-tag': { tags: ['x'] },
          misleading: { classification: { solution: 'misleading' } },
          exact: { classification: { solution: 'exact-patch' } },
          insufficient: { classification: { description: 'insufficient' } },
          complete: { classification: { solution: 'complete', description: 'reproducible' } },
          later: { field: 1 },
        }),
        '',
      ),
    );
    const ids = [
      'only-a-tag',
      'misleading',
      'exact',
      'insufficient',
      'complete',
      'later',
      'absent',
    ];
    assert.deepEqual(
      ids.filter((id) => filter.keeps(id)),
      ['only-a-tag', 'complete'],
    );
  });
});

describe('the triage file on disk', () => {
  let folder = '';
  let path = '';
  const tagged = (tag: string) => (before?: TriageEntry) =>
    entry({ ...before, tags: [...(before?.tags ?? []), tag] });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'triage-test-'));
    path = join(folder, 'triage.json');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is empty before it is there, and made with its folder by the first edit', async () => {
    assert.equal((await readTriage(path)).instances.size, 0);
    const deep = join(folder, 'new', 'triage.json');
    await updateTriage(deep, 'a__b-1', () => undefined);
    assert.deepEqual(await readdir(join(folder, 'new')), []);
    const file = await updateTriage(deep, 'a__b-1', tagged('x'));
    assert.deepEqual(await readTriage(deep), file);
    assert.deepEqual(file.instances.get('a__b-1')?.tags, ['x']);
    assert.deepEqual(await readdir(join(folder, 'new')), ['triage.json']);
  });

  it('drops an entry that says nothing any more, but not fields of a later version', async () => {
    await writeFile(path, fileOf({ a: { note: 'x' }, b: { note: 'x', stars: 1 } }));
    await updateTriage(path, 'a', (before) => entry({ ...before, note: '' }));
    const file = await updateTriage(path, 'b', () => undefined);
    assert.deepEqual(JSON.parse(await readFile(path, 'utf8')), {
      format: 1,
      instances: { b: { stars: 1 } },
    });
    assert.deepEqual([...file.instances.keys()], ['b']);
  });

  it('stays as it was when an edit is refused', async () => {
    await updateTriage(path, 'a', tagged('x'));
    const before = await readFile(path, 'utf8');
    await assert.rejects(updateTriage(path, 'a', tagged('x,y')), HumanError);
    await assert.rejects(updateTriage(path, '../a', tagged('x')), HumanError);
    assert.equal(await readFile(path, 'utf8'), before);
    assert.deepEqual(await readdir(folder), ['triage.json']);
  });

  it('is edited or refused in one line, whatever became of its bytes, and nothing of it is lost', async () => {
    const text = fileOf({
      'a__b-1': { tags: ['grün'], note: 'ein\nWort', classification: { solution: 'none' } },
      'a__b-2': { note: 'x', later: { deep: [1] } },
    });
    const whole = new TextEncoder().encode(text);
    const damage = fc.record({
      at: fc.nat(whole.length - 1),
      length: fc.nat(3),
      bytes: fc.uint8Array({ maxLength: 3 }),
    });
    const mutated = fc.array(damage, { minLength: 1, maxLength: 3 }).map((all) =>
      all.reduce((bytes, { at, length, bytes: given }) => {
        const rest = bytes.subarray(at + length);
        return Buffer.concat([bytes.subarray(0, at), given, rest]);
      }, Buffer.from(whole)),
    );
    const latin = Buffer.from(text, 'latin1');
    const attempt = async (bytes: Buffer): Promise<void> => {
      await writeFile(path, bytes);
      try {
        await updateTriage(path, 'z__z-9', tagged('x'));
        const file = await readTriage(path);
        assert.ok(file.instances.has('z__z-9'));
        // What was read is what was there.
        assert.deepEqual(Buffer.from(bytes.toString('utf8')), bytes);
      } catch (error) {
        assert.ok(error instanceof HumanError, String(error));
        assert.equal(error.message.split('\n').length, 1, error.message);
        assert.deepEqual(await readFile(path), bytes);
      }
      assert.deepEqual(await readdir(folder), ['triage.json']);
    };
    await fc.assert(fc.asyncProperty(mutated, attempt), {
      numRuns: everydayRuns(100),
      examples: [[latin]],
    });
  });

  it('is not written over when it cannot be read', async () => {
    await writeFile(path, '{"format": 1, "instances": {');
    await assert.rejects(updateTriage(path, 'a', tagged('x')), /not JSON/);
    assert.equal(await readFile(path, 'utf8'), '{"format": 1, "instances": {');
    await rm(path);
    await mkdir(path);
    await assert.rejects(readTriage(path), /is a folder/);
    await assert.rejects(updateTriage(path, 'a', tagged('x')), /is a folder/);
  });

  it('says where it cannot be written', async function () {
    if (process.platform === 'win32' || process.getuid?.() === 0) {
      await writeFile(join(folder, 'file'), '');
      await assert.rejects(
        updateTriage(join(folder, 'file', 'triage.json'), 'a', tagged('x')),
        HumanError,
      );
      return;
    }
    await chmod(folder, 0o500);
    await assert.rejects(updateTriage(path, 'a', tagged('x')), /triage\.json cannot be written/);
  });

  it('stays a link when it is one', async function () {
    if (process.platform === 'win32') this.skip();
    const real = join(folder, 'real.json');
    await writeFile(real, fileOf({}));
    await symlink(real, path);
    await updateTriage(path, 'a', tagged('x'));
    assert.match(await readFile(real, 'utf8'), /"x"/);
  });

  it('takes a change in that somebody made without the lock', async () => {
    await updateTriage(path, 'a', tagged('x'));
    let calls = 0;
    const { writeFileSync } = await import('node:fs');
    await updateTriage(path, 'a', (before) => {
      calls += 1;
      if (calls === 1) writeFileSync(path, fileOf({ a: { tags: ['by hand'] } }));
      return tagged('y')(before);
    });
    const file: TriageFile = await readTriage(path);
    assert.deepEqual(file.instances.get('a')?.tags, ['by hand', 'y']);
  });

  it('loses no edit of many at once', async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => updateTriage(path, `a-${n % 3}`, tagged(`t${n}`))),
    );
    const file = await readTriage(path);
    assert.equal([...file.instances.values()].flatMap((each) => each.tags).length, 20);
    assert.deepEqual(await readdir(folder), ['triage.json']);
  });
});
