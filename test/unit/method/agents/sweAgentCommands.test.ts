import assert from 'node:assert/strict';
import type { ShellState } from '../../../../src/method/traces/traceSteps';
import { sweAgent } from '../../../../src/method/agents/sweAgent';
import { folder, madeUpWorkspace } from './madeUpWorkspace';

const numbers = (count: number): string =>
  Array.from({ length: count }, (_, index) => `row ${index + 1}\n`).join('');

describe('the commands of SWE-Agent', () => {
  let state: ShellState = { cwd: folder };
  let made = madeUpWorkspace({});
  const files = { 'long.txt': numbers(250), 'short.txt': 'one\ntwo', 'empty.txt': '' };
  beforeEach(() => {
    state = { cwd: folder };
    made = madeUpWorkspace(files);
  });
  const act = async (action: string): Promise<string> => {
    const task = { repo: 'octo/cat', issue: '', folder, limits: sweAgent.limits.paper };
    const seen = await sweAgent.act(action, { workspace: made.workspace, task, state });
    state = seen.state;
    return seen.text;
  };
  /** Numbers of the first and the last line that the window shows. */
  const shown = (text: string): number[] => {
    const rows = [...text.matchAll(/^(\d+):/gm)].map(([, row]) => Number(row));
    return [rows[0] ?? 0, rows.at(-1) ?? 0];
  };

  it('show 100 lines, and scroll by 98 of them, never beyond the file', async () => {
    assert.deepEqual(shown(await act('open long.txt')), [1, 100]);
    assert.deepEqual(shown(await act('scroll_down')), [99, 198]);
    const last = await act('scroll_down');
    assert.deepEqual(shown(last), [151, 250]);
    assert.match(last, /\(150 more lines above\)/);
    assert.doesNotMatch(last, /more lines below/);
    assert.deepEqual(shown(await act('scroll_down')), [151, 250]);
    assert.deepEqual(shown(await act('scroll_up')), [53, 152]);
    assert.deepEqual(shown(await act('goto 120')), [104, 203]);
    assert.deepEqual(shown(await act('open long.txt 200')), [150, 249]);
    assert.deepEqual(shown(await act('goto 1')), [1, 100]);
    assert.match(await act('goto 251'), /^LINE must be at most 250/);
    assert.match(await act('goto x'), /^LINE must be a number/);
  });

  it('replace lines, append, remove, and say what is wrong with a range', async () => {
    await act('open short.txt');
    assert.match(await act('edit 2:2\nzwei\ndrei\nend_of_edit'), /1:one\n2:zwei\n3:drei\nThe file/);
    assert.equal(made.contents.get('/testbed/short.txt'), 'one\nzwei\ndrei\n');
    await act('edit 1:2\nend_of_edit');
    assert.equal(made.contents.get('/testbed/short.txt'), 'drei\n');
    await act('edit 1:99\n\n  indented $HOME `x`\n\nend_of_edit');
    assert.equal(made.contents.get('/testbed/short.txt'), '\n  indented $HOME `x`\n\n');
    for (const range of ['0:1', '2:1', '9:9', '1', '1:2 x']) {
      assert.match(await act(`edit ${range}\na\nend_of_edit`), /^(START:END must|Usage)/, range);
    }
    assert.match(await act('edit 1:1\nno end'), /^Usage: edit/);
  });

  it('refuse without a file, for a file that is not there, and to make one that is', async () => {
    for (const action of ['goto 3', 'scroll_down', 'edit 1:1\na\nend_of_edit', 'search_file a']) {
      assert.match(await act(action), /^No file is open/, action);
    }
    assert.match(await act('open nothing.txt'), /^nothing|cannot be read/);
    assert.match(await act('create short.txt'), /already exists/);
    assert.match(
      await act('create "a b/new.py"'),
      /\[File: \/testbed\/a b\/new\.py \(1 lines total\)\]/,
    );
    await act('open empty.txt');
    assert.match(await act('edit 1:1\nfirst\nend_of_edit'), /1:first/);
  });

  it('end each observation with the open file and the folder', async () => {
    assert.ok((await act('ls')).endsWith('\n(Open file: n/a)\n(Current directory: /testbed)\n$'));
    assert.ok((await act('open short.txt')).includes('(Open file: /testbed/short.txt)'));
    assert.match(await act('search_file t'), /Found 1 matches for "t"[^]*Line 2:two/);
    assert.match(await act("search_file 'row 25'"), /^No matches/);
    assert.match(await act('search_file row long.txt'), /in 250 lines of .* more specific/);
  });
});
