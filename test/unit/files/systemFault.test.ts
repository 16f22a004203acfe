import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { HumanError } from '../../../src/domain/work';
import { systemFault } from '../../../src/files/systemFault';

const fault = (code: string, more: Readonly<Record<string, string>> = {}): string | undefined =>
  systemFault(Object.assign(new Error(`${code}: what the system says`), { code, ...more }))
    ?.message;

describe('what the system refuses', () => {
  it('names what is used up, and the way to more of it', () => {
    assert.match(
      fault('EMFILE', { path: '/a' }) ?? '',
      /cannot open more files\. Raise .*ulimit -n/,
    );
    assert.match(fault('ENFILE') ?? '', /The system cannot open more files/);
    assert.match(fault('EAGAIN', { syscall: 'spawn git' }) ?? '', /cannot start more processes/);
    assert.match(systemFault(new Error('fatal: Too many open files'))?.message ?? '', /ulimit -n/);
  });

  it('names the place that cannot be used', () => {
    assert.equal(
      fault('EROFS', { path: '/a/b', syscall: 'mkdir' }),
      "Can't use /a/b: it is read-only. Make it writable, or choose another location",
    );
    assert.match(fault('ENOSPC', { path: '/a', dest: '/b' }) ?? '', /use \/b: the disk is full/);
    assert.match(
      fault('ENOENT', { path: '/a', syscall: 'mkdir' }) ?? '',
      /the location is read-only/,
    );
    assert.equal(
      fault('ENOENT', { path: '/a/swt-bench-XXXXXX', syscall: 'mkdtemp' }),
      'The temporary folder /a does not exist. Set TMPDIR to a writable folder',
    );
  });

  it('is nothing else', () => {
    assert.equal(fault('ENOENT', { path: '/a', syscall: 'open' }), undefined);
    assert.equal(fault('EACCES', { path: 'python3', syscall: 'spawn python3' }), undefined);
    assert.equal(fault('EAGAIN', { syscall: 'read' }), undefined);
    assert.equal(fault('EROFS'), undefined);
    for (const each of [null, undefined, 'text', new HumanError('EMFILE')]) {
      assert.equal(systemFault(each), undefined);
    }
  });

  it('is one error for a program that cannot start without descriptors', function () {
    if (process.platform === 'win32') this.skip();
    const program = `
      const { openSync } = require('node:fs');
      const { startProgram } = require('./src/files/startProgram.ts');
      try { for (;;) openSync('/dev/null'); } catch {}
      try { startProgram('true', [], {}); } catch (error) { process.stdout.write(error.message); }`;
    // With descriptors for what the loader of TypeScript itself opens.
    const said = execFileSync('sh', [
      '-c',
      'ulimit -n 80; exec "$0" "$@"',
      process.execPath,
      '--import',
      'tsx',
      '-e',
      program,
    ]);
    assert.match(String(said), /cannot open more files/);
  });
});
