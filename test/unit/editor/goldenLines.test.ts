import assert from 'node:assert/strict';
import type { TestResult } from '../../../src/domain/outcome';
import {
  goldenLinesOf,
  hideGoldenLines,
  withoutGoldenLines,
} from '../../../src/editor/coverage/goldenLines';

const patch = `diff --git a/cat/voice.py b/cat/voice.py
--- a/cat/voice.py
+++ b/cat/voice.py
@@ -1,3 +1,6 @@
 def purr(mood):
-    return "purr"
+    if mood is None:
+        raise MoodError("no mood")
+    else:
+        return mood.upper()
 # end
`;
const golden = goldenLinesOf(patch);
const note = '[hidden]';
const hidden = (text: string): string => hideGoldenLines(text, golden, note);

describe('what tests print on R∘X* while the golden patch is hidden', () => {
  it('has no line that the patch adds, and keeps those that any code has', () => {
    assert.deepEqual([...golden.paths], ['cat/voice.py']);
    assert.equal(
      hidden('before\n    raise MoodError("no mood")\n    else:\nafter'),
      `before\n${note}\n    else:\nafter`,
    );
  });

  it("has no frame of Python's tracebacks in a file that the patch changes", () => {
    const text = [
      'Traceback (most recent call last):',
      '  File "/w/tests/test_cat.py", line 7, in test_purr',
      '    purr(None)',
      '    ~~~~^^^^^^',
      '  File "/w/cat/voice.py", line 3, in purr',
      '    raise MoodError("no mood")',
      '  File "/w/cat/voice.py", line 9, in helper',
      '    spelt_otherwise()',
      '    ^^^^^^^^^^^^^^^^^',
      '  File "/w/cat/other.py", line 2, in other',
      '    fine()',
      'cat.voice.MoodError: no mood',
    ].join('\n');
    assert.equal(
      hidden(text),
      [
        'Traceback (most recent call last):',
        '  File "/w/tests/test_cat.py", line 7, in test_purr',
        '    purr(None)',
        '    ~~~~^^^^^^',
        note,
        '  File "/w/cat/other.py", line 2, in other',
        '    fine()',
        'cat.voice.MoodError: no mood',
      ].join('\n'),
    );
  });

  it("has no section of pytest's tracebacks about such a file, but the error", () => {
    const text = [
      '_________ test_purr _________',
      '    def test_purr():',
      '>       assert purr(None)',
      '',
      'tests/test_cat.py:7: ',
      '_ _ _ _ _ _ _ _ _ _ _ _ _ _',
      'mood = None',
      '',
      '    def purr(mood):',
      '        if mood is None:',
      '>           raise MoodError("no mood")',
      'E           cat.voice.MoodError: no mood',
      '',
      'cat/voice.py:3: MoodError',
      '==== short test summary info ====',
      'FAILED tests/test_cat.py::test_purr - cat.voice.MoodError: no mood',
    ].join('\n');
    assert.equal(
      hidden(text),
      [
        '_________ test_purr _________',
        '    def test_purr():',
        '>       assert purr(None)',
        '',
        'tests/test_cat.py:7: ',
        note,
        'E           cat.voice.MoodError: no mood',
        '==== short test summary info ====',
        'FAILED tests/test_cat.py::test_purr - cat.voice.MoodError: no mood',
      ].join('\n'),
    );
  });

  it('leaves a text alone that shows nothing of it', () => {
    const text = '1 passed in 0.01s\n  File "/w/tests/test_cat.py", line 7, in test_purr\n    x\n';
    assert.equal(hidden(text), text);
  });
});

describe('a result on R∘X* while the golden patch is hidden', () => {
  const result: TestResult = {
    test: 'tests/test_cat.py::test_purr',
    outcome: 'failed',
    exception: 'MoodError',
    message: 'no mood',
    details: 'Traceback\n  File "/w/cat/voice.py", line 3, in purr\n    raise MoodError("no mood")',
    frames: [
      { path: 'tests/test_cat.py', line: 7, function: 'test_purr' },
      { path: 'cat/voice.py', line: 3, function: 'purr' },
    ],
  };

  it('has outcome, message and the frames of the tests, and says that lines are left out', () => {
    const shown = withoutGoldenLines(result, golden, note);
    assert.equal(shown.outcome, 'failed');
    assert.equal(shown.message, 'no mood');
    assert.deepEqual(shown.frames, [{ path: 'tests/test_cat.py', line: 7, function: 'test_purr' }]);
    assert.equal(shown.details, `MoodError: no mood\ntests/test_cat.py:7: test_purr\n${note}`);
    assert.doesNotMatch(JSON.stringify(shown), /voice\.py|raise/);
  });

  it('is as it is where it shows nothing of the patch', () => {
    const own = {
      ...result,
      details: 'assert 1 == 2',
      frames: [{ path: 'tests/test_cat.py', line: 7, function: 'test_purr' }],
    };
    assert.equal(withoutGoldenLines(own, golden, note), own);
  });
});
