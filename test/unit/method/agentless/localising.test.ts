import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  intervalsOf,
  mergedIntervals,
  shownIntervals,
  type LineInterval,
} from '../../../../src/method/agentless/localisation/codeIntervals';
import { foldersOf, treeOfNames } from '../../../../src/method/agentless/localisation/codeFiles';
import { fittingText } from '../../../../src/method/agentless/fittingPrompt';
import { readGivenStages, type GivenStages } from '../../../../src/method/agentless/givenStages';
import { readNamedPaths } from '../../../../src/method/agentless/localisation/namedPaths';
import { readNamedPlaces } from '../../../../src/method/agentless/localisation/namedPlaces';
import {
  editLocationsPrompt,
  irrelevantFoldersPrompt,
  relatedElementsPrompt,
  repairPrompt,
  suspiciousFilesPrompt,
} from '../../../../src/method/agentless/stagePrompts';
import { declarationsOf } from '../../../../src/python/outline';
import { toUnified } from '../../patch/formats';
import { loadParser } from '../../python/loadParser';

const paths = ['a.py', 'lib/area.py', 'lib/deep/sides.py', 'lib/deep/tools.py', 'other/x.py'];

describe('names of files', () => {
  it('make a tree, and folders', () => {
    assert.equal(
      treeOfNames(paths),
      'a.py\nlib/\n    area.py\n    deep/\n        sides.py\n        tools.py\nother/\n    x.py',
    );
    assert.deepEqual([...foldersOf(paths)], ['lib', 'lib/deep', 'other']);
  });

  it('are read from lists, numbers, fences and prose, and others are said', () => {
    const known = new Set(paths);
    const fenced =
      'I think of a.py.\n```\n1. `lib/area.py`\n- ./other/x.py\n* lib/gone.py\nlib/area.py\n```';
    assert.deepEqual(readNamedPaths(fenced, known), {
      paths: ['lib/area.py', 'other/x.py'],
      unknown: ['lib/gone.py'],
    });
    assert.deepEqual(readNamedPaths('**lib/area.py**\nis it', known).paths, ['lib/area.py']);
    assert.deepEqual(readNamedPaths('<think>\na.py\n</think>\nNone.', known).paths, []);
    assert.deepEqual(readNamedPaths('```\nlib/deep/\n```', foldersOf(paths)).paths, ['lib/deep']);
  });
});

describe('places that an answer names', () => {
  it('belong to the file above them; others are ignored', () => {
    const text = [
      'function: before',
      '```',
      '`lib/area.py`',
      '- class: Square',
      'method: def area(self, scale)',
      'variables: A, `B`',
      'line: 12, 14-16',
      'lines: 9-3',
      'nonsense: x',
      'lib/gone.py',
      'line: 1',
      '### a.py',
      'line: 0',
      'lines: 7 to 8',
      '```',
    ].join('\n');
    assert.deepEqual(readNamedPlaces(text, ['a.py', 'lib/area.py']), {
      places: [
        { path: 'lib/area.py', kind: 'class', name: 'Square' },
        { path: 'lib/area.py', kind: 'function', name: 'area' },
        { path: 'lib/area.py', kind: 'variable', name: 'A' },
        { path: 'lib/area.py', kind: 'variable', name: 'B' },
        { path: 'lib/area.py', kind: 'lines', first: 12, last: 12 },
        { path: 'lib/area.py', kind: 'lines', first: 14, last: 16 },
        { path: 'a.py', kind: 'lines', first: 7, last: 8 },
      ],
      unknown: ['lib/gone.py'],
    });
  });

  it('have the lines of what they name', async () => {
    const python = await loadParser();
    const source = [
      ...['A = 1', 'class One:', '    def run(self):', '        pass'],
      ...['class Two:', '    def run(self):', '        pass', '    def own(self):', '        pass'],
    ].join('\n');
    const declarations = declarationsOf(python, source);
    const named = (kind: 'class' | 'function' | 'variable', name: string) =>
      ({ path: 'a.py', kind, name }) as const;
    const of = (...places: Parameters<typeof intervalsOf>[0]) =>
      intervalsOf(places, declarations, 9);
    assert.deepEqual(of(named('function', 'Two.run'), named('variable', 'A')).intervals, [
      [6, 7],
      [1, 1],
    ]);
    assert.deepEqual(of(named('function', 'run')).unknown, ['function run'], 'two have that name');
    assert.deepEqual(of(named('function', 'own')).intervals, [[8, 9]]);
    assert.deepEqual(of(named('class', 'Two'), named('function', 'run')).intervals, [
      [5, 9],
      [6, 7],
    ]);
    const lines = { path: 'a.py', kind: 'lines', first: 9, last: 99 } as const;
    assert.deepEqual(of(lines, { ...lines, first: 10 }), {
      intervals: [[9, 9]],
      unknown: ['line 10'],
    });
  });
});

describe('intervals of lines', () => {
  const interval = fc
    .tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 0, max: 9 }))
    .map(([first, more]): LineInterval => [first, Math.min(30, first + more)]);

  it('are merged as sets of lines are', () => {
    fc.assert(
      fc.property(fc.array(interval), fc.integer({ min: 0, max: 5 }), (intervals, around) => {
        const wanted = Array.from({ length: 30 }, (_, at) => at + 1).filter((line) =>
          intervals.some(([first, last]) => line >= first - around && line <= last + around),
        );
        const merged = mergedIntervals(intervals, { around, lines: 30 });
        const lines = merged.flatMap(([first, last]) =>
          Array.from({ length: last - first + 1 }, (_, at) => first + at),
        );
        assert.deepEqual(lines, wanted);
        for (const [at, [first]] of merged.slice(1).entries()) {
          assert.ok(first > (merged[at]?.[1] ?? 0) + 1, 'a gap is between them');
        }
      }),
    );
  });

  it('are shown with gaps, with numbers or without', () => {
    const text = 'a\nb\r\nc\nd\ne\n';
    assert.equal(
      shownIntervals(
        'x.py',
        text,
        [
          [2, 2],
          [4, 5],
        ],
        { isNumbered: true },
      ),
      '### x.py\n...\n2 b\n...\n4 d\n5 e',
    );
    assert.equal(shownIntervals('x.py', text, [[1, 1]], { isNumbered: false }), '### x.py\na\n...');
  });

  it('fit whole, or the first by its lines', () => {
    const count = (text: string): number => text.length;
    assert.deepEqual(fittingText(['abc', 'def', 'g'], 7, count).texts, ['abc', 'def', 'g']);
    assert.deepEqual(fittingText(['abc', 'def'], 5, count), { texts: ['abc'], isCut: true });
    assert.deepEqual(fittingText(['ab\ncd\nef'], 6, count), { texts: ['ab\ncd'], isCut: true });
    assert.deepEqual(fittingText(['abcdef'], 3, count), { texts: [], isCut: true });
  });
});

describe('outputs of stages in a file', () => {
  const plain = (given: GivenStages): unknown =>
    Object.fromEntries([...given].map(([id, of]) => [id, Object.fromEntries(of)]));
  const line = (stage: string, output: unknown): string =>
    JSON.stringify({ step: 'stage', instance: 'i', stage, output });

  it('are those of the last lines, and never what follows from others', () => {
    const text = [line('files', ['a']), '{"step":"tree"}', line('code', []), line('lines', [])];
    const given = readGivenStages([...text, line('files', ['b'])].join('\n'), 'F');
    assert.deepEqual(plain(given), { i: { files: ['b'] } });
    assert.throws(() => readGivenStages('{"a":1}', 'F'), /F has no output of a stage/);
    assert.throws(() => readGivenStages('{', 'F'), /F:1 is not JSON/);
  });

  it('are only those of some stages, where the run says which', () => {
    const text = [line('files', ['a']), line('repair', [{ patch: 'p' }])].join('\n');
    assert.deepEqual(plain(readGivenStages(text, 'F', ['repair', 'combined'])), {
      i: { repair: [{ patch: 'p' }] },
    });
    assert.throws(() => readGivenStages(text, 'F', ['combined']), /F has no output of combined/);
  });

  it('are patches for predictions, all of an instance together', () => {
    const rows = [
      { instance_id: 'i', model_name_or_path: 'm', model_patch: 'p', drawn_sample: 7 },
      { instance_id: 'j', model_name_or_path: 'm', model_patch: 'q' },
      { instance_id: 'i', model_name_or_path: 'm', model_patch: 'r' },
      { instance_id: 'i', model_name_or_path: 'm', model_patch: null },
    ];
    const text = rows.map((row) => JSON.stringify(row)).join('\n');
    assert.deepEqual(plain(readGivenStages(text, 'F')), {
      i: {
        repair: [
          { patch: 'p', sample: 7 },
          { patch: 'r', sample: undefined },
        ],
      },
      j: { repair: [{ patch: 'q', sample: undefined }] },
    });
  });
});

describe('the prompts of the stages', () => {
  const of = { repo: 'octo/cat', issue: ' The cat purrs once.\n' };

  it('show the issue first, then the code, then the task', () => {
    const prompts = [
      suspiciousFilesPrompt({ ...of, tree: 'SHOWN', most: 7 }),
      irrelevantFoldersPrompt({ ...of, tree: 'SHOWN' }),
      relatedElementsPrompt({ ...of, skeletons: ['SHOWN', 'TOO'] }),
      editLocationsPrompt({ ...of, files: ['SHOWN', 'TOO'] }),
      repairPrompt({ ...of, files: ['SHOWN', 'TOO'] }),
    ];
    for (const { messages } of prompts) {
      const [{ content } = { content: '' }] = messages;
      assert.match(content, /octo\/cat[\s\S]*<issue>\nThe cat purrs once\.\n<\/issue>[\s\S]*SHOWN/);
      assert.match(content, /SHOWN(?:\n\nTOO)?\n<\/(?:tree|code)>\n\nYour task:\n- /);
    }
    assert.match(prompts[0]?.messages[0]?.content ?? '', /at most 7\./);
    const text = prompts
      .flatMap(({ system, messages }) => [system, ...messages.map(({ content }) => content)])
      .join('\n\n=====\n\n');
    const path = join(__dirname, 'golden', 'prompts.txt');
    // UPDATE_GOLDEN=1 writes it anew.
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(path, `${text}\n`);
    assert.equal(`${text}\n`, readFileSync(path, 'utf8'));
  });

  it('has an example of a repair that is one', async () => {
    const before = 'class Square:\n    def area(self):\n        return self.width * self.width\n';
    const [{ content } = { content: '' }] = repairPrompt({ ...of, files: [] }).messages;
    const answer = `Some thoughts.\n\n${content.slice(content.indexOf('```python'))}`;
    const { files, diagnostics } = await toUnified(answer, {
      format: 'auto',
      tree: { read: (path) => Promise.resolve(path === 'shapes/area.py' ? before : undefined) },
      python: await loadParser(),
    });
    assert.deepEqual(diagnostics, []);
    assert.equal(files.get('shapes/area.py'), before.replace('self.width\n', 'self.height\n'));
  });
});
