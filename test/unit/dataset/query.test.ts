import assert from 'node:assert/strict';
import fc from 'fast-check';
import { matches, parseQuery, type QueryItem } from '../../../src/dataset/query';
import type { InstanceEntry } from '../../../src/domain/instance';
import { HumanError } from '../../../src/domain/work';
import type { InstanceStatus, TriageEntry } from '../../../src/domain/soundness';
import { everydayRuns } from '../../everyday';

const entry: InstanceEntry = {
  id: 'octo__cat-12',
  repo: 'Octo/cat',
  version: '1.0',
  baseCommit: 'a'.repeat(40),
  createdAt: '2021-03-15T23:59:59Z',
  issue: 'Purring FAILS when\nthe cat is asleep - see http://x.org/y',
  patch: { files: ['src/purr.py', 'README.md'], lines: 20 },
  tests: { files: ['tests/test_purr.py'], lines: 7 },
};

const triage: TriageEntry = {
  tags: ['Flaky', 'to do'],
  note: 'Needs a Second look',
  classification: {
    description: 'reproducible',
    solution: 'exact-patch',
    location: { line: 'stack-trace', file: 'none' },
  },
};

const keeps = (
  text: string,
  {
    status = { kind: 'not opened' },
    ...more
  }: Partial<InstanceEntry> & { status?: InstanceStatus; triage?: TriageEntry | null } = {},
): boolean => {
  const { triage: judged = triage, ...fields } = more;
  return matches(parseQuery(text), {
    entry: { ...entry, ...fields },
    status,
    ...(judged === null ? {} : { triage: judged }),
  });
};

const kept = (...texts: string[]): void => {
  for (const text of texts) assert.equal(keeps(text), true, text);
};
const dropped = (...texts: string[]): void => {
  for (const text of texts) assert.equal(keeps(text), false, text);
};
const refused = (text: string, ...said: RegExp[]): void => {
  for (const each of said) {
    assert.throws(
      () => parseQuery(text),
      (error) => error instanceof HumanError && each.test(error.message),
      `${text} ${each.source}`,
    );
  }
};

describe('the filter of the list', () => {
  it('keeps everything when empty', () => kept('', '  \t'));

  it('finds words and phrases, whatever their case, in issue, id, repository, tags and note', () => {
    kept(
      'purring fails',
      'CAT-12',
      'octo/cat',
      'second flaky',
      '"cat is asleep"',
      '"TO DO"',
      '-',
      '12',
    );
    dropped('purring dog', '"fails purring"', 'readme', '"12 octo"', '2021');
    kept('"http://x.org/y"');
  });

  it('compares repositories in part, versions whole, and takes either of two', () => {
    kept('repo:octo', 'repo:O/CAT', 'repo:dog repo:cat', 'version:1.0', 'version:2.0 version:1.0');
    dropped('repo:dog', 'repo:cat repo:dog version:2.0', 'version:1');
  });

  it('compares sizes of the golden patch and tests by lines, files and paths', () => {
    kept('changed:20', 'changed:=20', 'changed:>19', 'changed:>=20', 'changed:<=20', 'changed:<21');
    kept(
      'changed:5..20',
      'changed:20..',
      'changed:..20',
      'changed:lines>19',
      'changed:1..2 changed:20',
    );
    kept('changed:files>1', 'changed:files=2', 'changed:files=1..2', 'changed:PURR.py', 'tests:7');
    kept('changed:>5 changed:<30', 'tests:test_', 'changed:.md changed:.rst');
    dropped(
      'changed:>20',
      'changed:<20',
      'changed:>5 changed:<20',
      'changed:files>2',
      'changed:"20"',
    );
    dropped('tests:src', 'tests:>7', 'changed:purr changed:>20', 'changed:..19', 'changed:21..');
  });

  it('compares the issue characters', () => {
    kept(`issue:${entry.issue.length}`, 'issue:>10', 'issue:10..500');
    dropped('issue:>500', 'issue:<10');
  });

  it('compares dates: years, months, days and ranges, both ends included', () => {
    kept('created:2021', 'created:2021-03', 'created:2021-03-15', '2021-03', '2020..2021');
    kept('created:2020..2021-03', '2021-03-15..', '..2021-03-15', 'after:2021 before:2022');
    kept(
      'after:2021-03-15',
      'created:>2020',
      'created:>=2021-03',
      'created:<=2021',
      'created:<2022',
    );
    kept('created:2019 created:2021', 'after:2020 after:2021');
    dropped('created:2020', '2021-02', '2021-03-16', 'before:2021-03-15', 'after:2021-04');
    dropped('created:2021-04..', 'created:>2021', 'created:<2021', 'after:2019 before:2020');
    dropped('after:2020 after:2022');
  });

  it('counts days in UTC and never keeps an unknown date', () => {
    assert.equal(keeps('2021-03-15', { createdAt: '2021-03-15 23:30:00' }), true);
    assert.equal(keeps('2021-03-15', { createdAt: '2021-03-15T23:30:00-05:00' }), false);
    for (const createdAt of ['', 'long ago']) {
      assert.equal(keeps('created:1900..', { createdAt }), false);
      assert.equal(keeps('-created:2021', { createdAt }), true);
    }
  });

  it('knows the statuses and why a golden patch is invalid', () => {
    const invalid = { kind: 'golden invalid', reason: 'no F→P, flaky' } as const;
    const graded = { kind: 'candidate', success: false, reason: 'no F→P' } as const;
    assert.equal(keeps('status:not-opened'), true);
    assert.equal(keeps('status:invalid', { status: invalid }), true);
    assert.equal(keeps('status:flaky', { status: invalid }), true);
    assert.equal(keeps('status:NO-F2P', { status: invalid }), true);
    assert.equal(keeps('status:timed-out', { status: invalid }), false);
    assert.equal(keeps('status:valid status:flaky', { status: invalid }), true);
    assert.equal(keeps('status:no-f2p', { status: graded }), false);
    assert.equal(keeps('status:candidate status:valid', { status: graded }), true);
    assert.equal(keeps('status:success', { status: graded }), false);
    assert.equal(keeps('-status:success status:failure', { status: graded }), true);
  });

  it('compares tags whole, notes in part', () => {
    kept(
      'tag:flaky',
      'tag:"To Do"',
      'tag:*',
      'tag:x tag:flaky',
      'note:second',
      'note:"a second"',
      'note:*',
    );
    dropped('tag:flak', 'tag:"*"', 'note:third', '-tag:*', 'note:"*"');
    assert.equal(keeps('tag:*', { triage: null }), false);
    assert.equal(keeps('-note:*', { triage: { ...triage, note: '' } }), true);
    assert.equal(keeps('tag:*', { triage: { ...triage, tags: [] } }), false);
  });

  it('compares the classification, at any granularity or at one', () => {
    kept('description:reproducible', 'solution:none solution:exact-patch', 'description:*');
    kept(
      'location:stack-trace',
      'location:none',
      'line:stack-trace',
      'location:file=none',
      'file:none',
    );
    kept('function:unjudged', '-function:*', 'is:triaged', '-is:lite-s');
    dropped('description:insufficient', 'line:none', 'location:unjudged', 'location:file=keywords');
    assert.equal(keeps('is:lite-s', { triage: { ...triage, classification: {} } }), true);
    assert.equal(keeps('is:lite-s', { triage: null }), false);
    assert.equal(keeps('solution:unjudged', { triage: null }), true);
  });

  it('takes the opposite with a leading -', () => {
    kept('-dog', '-repo:dog -repo:mouse', '-"cat dog"', '-changed:>20');
    dropped('-cat', '-repo:cat -repo:dog', '-2021-03', '-status:not-opened');
  });

  it('refuses what it does not know, and says what it knows', () => {
    refused('status:done', /"done"/, /not-opened/, /flaky/);
    refused('color:red', /no filter key color:/, /repo:/, /quotes/);
    refused('http://x.org', /no filter key http:/, /quotes/);
    refused('repo:', /repo: has no value/, /owner\/name/);
    refused('repo: cat', /repo: has no value/);
    refused('changed:>many', /changed:>many/, /changed:>20/);
    refused('changed:9..3', /has its ends in the wrong order/);
    refused('changed:<0', /matches nothing/);
    refused('issue:long', /"long"/, /characters/);
    refused('created:yesterday', /"yesterday"/, /2021-03-15/);
    refused('created:2021-13', /2021-13/);
    refused('2021-02-30', /2021-02-30/);
    refused('created:..', /"\.\."/);
    refused('created:2021..2020', /wrong order/);
    refused('before:2020..2021', /"2020\.\.2021"/);
    refused('description:good', /"good"/, /reproducible/);
    refused('file:purr.py', /purr\.py/, /changed:/);
    refused('location:line=where', /"where"/, /stack-trace/);
    refused('is:nice', /"nice"/, /lite-s/);
    refused('"not closed', /not closed/);
    refused('tag:"a"b', /closing quote/);
    refused('""', /empty phrase/);
    refused('constructor:x', /no filter key constructor:/);
    refused('constructor:', /constructor: has no value/);
  });

  it('tells whether it looks at statuses or at the triage file', () => {
    const needs = (text: string): boolean[] => {
      const { needsStatus, needsTriage, needsEntry } = parseQuery(text);
      return [needsStatus, needsTriage, needsEntry];
    };
    assert.deepEqual(needs('cat repo:x 2021-03'), [false, false, true]);
    assert.deepEqual(needs('status:flaky'), [true, false, false]);
    assert.deepEqual(needs('-tag:* status:valid'), [true, true, false]);
    assert.deepEqual(needs('note:x'), [false, true, false]);
    assert.deepEqual(needs('is:lite-s'), [false, true, false]);
    assert.deepEqual(needs('line:none'), [false, true, false]);
  });
});

describe('any filter', () => {
  const value = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('cat', '2021', '2021-03', '20', '5..30', '*', '-x', 'a"b', 'a\\', '..', 'é ß'),
  );
  const quoted = value.map((text) => `"${text.replace(/[\\"]/g, '\\$&')}"`);
  const term = fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.oneof(
        fc
          .tuple(
            fc.constantFrom('', 'repo:', 'changed:', 'tests:', 'tag:', 'note:', 'version:'),
            quoted,
          )
          .map((parts) => parts.join('')),
        fc
          .tuple(
            fc.constantFrom('changed:', 'tests:', 'issue:', 'changed:files', 'tests:lines'),
            fc.constantFrom('>', '<', '>=', '<=', '='),
            fc.nat(60),
          )
          .map((parts) => parts.join('')),
        fc
          .tuple(
            fc.constantFrom('created:', 'created:>', 'created:<=', 'after:', 'before:'),
            fc.constantFrom('2020', '2021-03', '2021-03-15', '2999', '1900'),
          )
          .map((parts) => parts.join('')),
        fc.constantFrom(
          ...[
            'created:2020..2021',
            '2021-02..2021-03',
            'status:valid',
            'status:flaky',
            'is:lite-s',
          ],
          ...['tag:*', 'note:*', 'line:stack-trace', 'location:none', 'solution:unjudged', 'cat'],
        ),
      ),
    )
    .map((parts) => parts.join(''));
  const items = fc.record<QueryItem, 'entry' | 'status'>(
    {
      entry: fc.record({
        id: fc.constantFrom('octo__cat-12', 'a__b-20'),
        repo: fc.constantFrom('octo/cat', 'a/b'),
        version: fc.constantFrom('', '1.0'),
        baseCommit: fc.constant(''),
        createdAt: fc.constantFrom(
          '',
          '2020-01-01',
          '2021-03-15T00:00:00Z',
          '2999-12-31T23:59:59Z',
        ),
        issue: value,
        patch: fc.record({ files: fc.array(value), lines: fc.nat(60) }),
        tests: fc.record({ files: fc.array(value), lines: fc.nat(60) }),
      }),
      status: fc.constantFrom<InstanceStatus>(
        { kind: 'not opened' },
        { kind: 'golden valid' },
        { kind: 'golden invalid', reason: 'flaky' },
      ),
      triage: fc.record({
        tags: fc.array(value),
        note: value,
        classification: fc.constantFrom(triage.classification, {}),
      }),
    },
    { requiredKeys: ['entry', 'status'] },
  );

  /** Terms with an effect; an empty phrase and `<0` have none. */
  const sound = term.filter((text) => {
    try {
      parseQuery(text);
      return true;
    } catch {
      return false;
    }
  });

  it('is read, or refused with a message for people', () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.oneof(term, fc.constantFrom('"', '-', ':', '\\', '..', '>', ' ')))
        .map((all) => all.join(' ')),
      fc
        .array(fc.constantFrom('"', '-', ':', '\\', '..', '>', ' ', 'repo', 'created', '2', 'x'))
        .map((all) => all.join('')),
    );
    fc.assert(
      fc.property(anything, (text) => {
        try {
          parseQuery(text);
        } catch (error) {
          assert.ok(error instanceof HumanError, String(error));
        }
      }),
      { numRuns: everydayRuns(2000) },
    );
  });

  it('and its negation keep every instance between them, and none both', () => {
    fc.assert(
      fc.property(sound, items, (text, item) => {
        const negation = text.startsWith('-') ? text.slice(1) : `-${text}`;
        assert.notEqual(matches(parseQuery(text), item), matches(parseQuery(negation), item));
      }),
      { numRuns: everydayRuns(1000) },
    );
  });

  it('keeps an instance by several words exactly when it does by each', () => {
    fc.assert(
      fc.property(fc.array(quoted.filter((each) => each !== '""')), items, (all, item) => {
        assert.equal(
          matches(parseQuery(all.join(' ')), item),
          all.every((each) => matches(parseQuery(each), item)),
        );
      }),
    );
  });
});
