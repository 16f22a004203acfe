import assert from 'node:assert/strict';
import {
  generationLine,
  generationLogLine,
  generationTable,
  type GenerationState,
} from '../../../../src/commands/generating/generationTable';
import { LiveLines } from '../../../../src/commands/generating/generationProgress';

const state: GenerationState = {
  ...{ done: 12, failed: 2, total: 400, perHour: 85, secondsLeft: 16_000, perMinute: 61 },
  ...{ tokens: 90_000, dollars: 1.234, dollarsLeft: 40 },
  running: [
    {
      instance: 'octo__cat-1',
      state: 'asking openai/m (libro, sample 3)',
      seconds: 75,
      dollars: 0.0312,
    },
    { instance: 'octo__cat-12', state: 'running a candidate on R', seconds: 3, dollars: 0 },
  ],
  ended: [{ instance: 'octo__cat-9', state: 'failed: status 400', seconds: 9, dollars: undefined }],
};

describe('the live table of generate', () => {
  it('says how far the run is, how fast, what it costs and what the rest will', () => {
    assert.equal(
      generationLine(state),
      '12 of 400 done, 85 per hour, 4 h 27 min left, 2 failed, 2 running, 61 answers per minute, $1.23 so far, about $40.00 to go',
    );
    const { perHour, secondsLeft, dollarsLeft, ...begun } = state;
    assert.equal(
      generationLine({ ...begun, done: 0, failed: 0, dollars: undefined }),
      '0 of 400 done, 2 running, 61 answers per minute, 90000 tokens so far',
    );
    assert.ok([perHour, secondsLeft, dollarsLeft].every((each) => each !== undefined));
  });

  it('says in a log what the longest instance under way is doing', () => {
    assert.equal(
      generationLogLine({ ...state, secondsLeft: undefined }),
      '12 of 400 done, 85 per hour, 2 failed, 2 running, 61 answers per minute, $1.23 so far, about $40.00 to go; octo__cat-1, 2 min: asking openai/m (libro, sample 3)',
    );
    assert.equal(
      generationLogLine({ ...state, running: [] }),
      generationLine({ ...state, running: [] }),
    );
  });

  it('has a line for each instance: time, cost and state', () => {
    assert.deepEqual(generationTable(state, { columns: 90, rows: 20 }).slice(1), [
      'octo__cat-1        2 min     $0.0312  asking openai/m (libro, sample 3)',
      'octo__cat-12         3 s     $0.0000  running a candidate on R',
      'octo__cat-9          9 s              failed: status 400',
    ]);
  });

  it('fits into the terminal', () => {
    const lines = generationTable(state, { columns: 40, rows: 3 });
    assert.ok(lines.length <= 3);
    assert.ok(lines.every((line) => line.length < 40));
    assert.equal(lines.at(-1), '… and 1 more');
  });
});

describe('lines at the end of a terminal', () => {
  /** What a terminal shows after this text. */
  const shown = (text: string): string[] => {
    const lines = [''];
    for (const part of text.replaceAll('\u001b', '<esc>').split(/(\n|<esc>\[\d+A\r<esc>\[0J)/)) {
      const up = /^<esc>\[(\d+)A/.exec(part)?.[1];
      if (up !== undefined) lines.splice(lines.length - 1 - Number(up), Infinity, '');
      else if (part === '\n') lines.push('');
      else lines[lines.length - 1] += part;
    }
    return lines.slice(0, -1);
  };
  const terminal = (interactive: boolean) => {
    let text = '';
    const context = { interactive, stderr: (more: string) => void (text += more) };
    return { lines: new LiveLines(context), shown: () => shown(text) };
  };

  it('stay below the log, and go in the end', () => {
    const { lines, shown: now } = terminal(true);
    lines.draw(['a', 'b']);
    lines.log('one');
    assert.deepEqual(now(), ['one', 'a', 'b']);
    lines.draw(['c']);
    lines.log('two');
    assert.deepEqual(now(), ['one', 'two', 'c']);
    lines.draw([]);
    assert.deepEqual(now(), ['one', 'two']);
  });

  it('are not drawn into a file', () => {
    const { lines, shown: now } = terminal(false);
    lines.draw(['a']);
    lines.log('one');
    assert.deepEqual(now(), ['one']);
  });
});
