import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { followTrace } from '../../../src/engine/tracer/followTrace';
import { newRecordKey } from '../../../src/engine/tracer/recordKey';

const outcome = (test: string, what: string): string =>
  `${JSON.stringify({ kind: 'outcome', test, outcome: what, seconds: 0, frames: [] })}\n`;

describe('followTrace', () => {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'swt-follow-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('tells of each outcome once, as journals grow, and of none after its end', async () => {
    const told: string[] = [];
    let wake = (): void => undefined;
    const count = async (n: number): Promise<void> => {
      while (told.length < n) await new Promise<void>((resolve) => (wake = resolve));
    };
    const end = followTrace(folder, (test, what) => {
      told.push(`${test} ${what}`);
      wake();
    });
    try {
      const journal = join(folder, '1-aa.jsonl');
      await writeFile(journal, `{"kind":"begin","test":"a"}\n${outcome('a', 'passed')}`);
      await count(1);
      const line = outcome('ä', 'failed');
      const bytes = Buffer.from(line);
      const half = bytes.indexOf(0xc3) + 1;
      await appendFile(journal, bytes.subarray(0, half));
      await writeFile(join(folder, '2-bb.jsonl'), `no record "outcome"\n${outcome('b', 'error')}`);
      await count(2);
      await appendFile(journal, bytes.subarray(half));
      await count(3);
      assert.deepEqual(told, ['a passed', 'b error', 'ä failed']);
      await symlink(journal, join(folder, '3-cc.jsonl'));
      await writeFile(join(folder, '4-dd.jsonl'), outcome('d', 'skipped'));
      await count(4);
      assert.equal(told[3], 'd skipped', 'links are not followed');
    } finally {
      end();
    }
    await appendFile(join(folder, '1-aa.jsonl'), outcome('late', 'passed'));
    // A follower that starts now gets the line: so would the ended one, if it still followed.
    await new Promise<void>((resolve) => {
      const endOther = followTrace(folder, (test) => {
        if (test !== 'late') return;
        endOther();
        resolve();
      });
    });
    assert.equal(told.length, 4);
  });

  it('tells of no outcome without a seal, where the run has a key', async () => {
    const content = Buffer.alloc(32, 3);
    const sealed = (number: number, text: string): string => {
      const hash = createHash('sha256').update(content).update(Buffer.alloc(96));
      return `${text}\t${number} ${hash.update(`1-aa ${number} ${text}`).digest('hex').slice(0, 32)}\n`;
    };
    const told: string[] = [];
    let wake = (): void => undefined;
    const last = new Promise<void>((resolve) => (wake = resolve));
    await writeFile(
      join(folder, '1-aa.jsonl'),
      sealed(0, '{"kind":"begin","test":"a"}') +
        outcome('forged', 'passed') +
        sealed(1, outcome('a', 'passed').trim()) +
        sealed(3, outcome('b', 'passed').trim()).replace('\t3', '\t4') +
        sealed(2, outcome('last', 'failed').trim()),
    );
    const end = followTrace(
      folder,
      (test) => {
        told.push(test);
        if (test === 'last') wake();
      },
      newRecordKey(content),
    );
    await last;
    end();
    assert.deepEqual(told, ['a', 'last']);
  });
});
