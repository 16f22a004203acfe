// A process in which `cli` of cli.ts runs one command after another, or several at once. The process of the
// tests is no place for them: it is large, and what it starts costs it a copy of its page tables.
const { join } = require('node:path');

const { runCommandLine } = require(join(__dirname, '..', '..', 'dist', 'cli.js'));

process.on('message', async ({ id, args, input }) => {
  const stdout = [];
  const stderr = [];
  const status = await runCommandLine(args, {
    stdout: (text) => stdout.push(text),
    stderr: (text) => stderr.push(text),
    stdin: async () => Buffer.from(input),
    interactive: false,
    signal: new globalThis.AbortController().signal,
  });
  process.send({ id, status, stdout: stdout.join(''), stderr: stderr.join('') });
});
process.on('disconnect', () => process.exit());
