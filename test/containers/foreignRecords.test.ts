import assert from 'node:assert/strict';
import { silent } from '../../src/domain/work';
import { runCode } from '../contract/run';
import { onEngine } from '../contract/subjects';

/** What a test can leave where the agent looks for the records of a run. */
const left: Record<string, string> = {
  'a folder': 'os.mkdir("1-00000000.jsonl"); os.mkdir("1-00000000.counts")',
  'a pipe': 'os.mkfifo("1-00000000.jsonl")',
  'a link': 'os.symlink("/etc/passwd", "1-00000000.jsonl")',
  'a file full of holes':
    'os.truncate(os.open("1-00000000.jsonl", os.O_CREAT | os.O_RDWR), 1 << 30)',
  nothing: '[os.remove(each) for each in os.listdir(".")]',
};

onEngine('docker', 'what tests leave among the records @full', (subject) => {
  for (const [what, leave] of Object.entries(left)) {
    it(`is not read, and is no fault of the engine: ${what}`, async () => {
      const pair = await subject().place.openPair({ reporter: silent });
      try {
        const open =
          'import json, os; folder = json.load(open(os.environ["SWT_TRACE_CONFIG"]))["out"]';
        const code = `${open}; os.chdir(folder); ${leave}; print("left")`;
        const record = await runCode(pair.base, code);
        assert.deepEqual([record.ending, record.log], ['exited', 'left\n']);
        assert.equal((await runCode(pair.base, 'print("again")')).log, 'again\n');
      } finally {
        await pair.dispose();
      }
    });
  }
});
