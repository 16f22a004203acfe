import assert from 'node:assert/strict';
import { buildSync } from 'esbuild';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { Cancelled, HumanError, messageOf, throwIfAborted } from '../../../src/domain/work';

describe('errors for people', () => {
  it('say what happened and what to do', () => {
    assert.equal(new HumanError('No file', 'Name one').message, 'No file. Name one');
    assert.equal(new HumanError('No file').message, 'No file');
    assert.ok(new HumanError('x') instanceof Error);
  });

  it('are had of whatever was thrown', () => {
    assert.equal(messageOf(new Error('x')), 'x');
    assert.equal(messageOf('text'), 'text');
    assert.equal(messageOf(undefined), 'undefined');
  });

  it('cancel work once the signal says so', () => {
    const controller = new AbortController();
    throwIfAborted(undefined);
    throwIfAborted(controller.signal);
    controller.abort();
    assert.throws(() => throwIfAborted(controller.signal), Cancelled);
  });
});

describe('errors of another bundle', () => {
  interface Problems {
    readonly HumanError: typeof HumanError;
    readonly Cancelled: typeof Cancelled;
  }
  const elsewhere = ((): Problems => {
    const [file] = buildSync({
      entryPoints: [join(__dirname, '..', '..', '..', 'src', 'domain', 'work.ts')],
      bundle: true,
      format: 'cjs',
      platform: 'node',
      write: false,
    }).outputFiles;
    const module = { exports: {} as Problems };
    const load = runInThisContext(`(function (module, require) {${file?.text ?? ''}\n})`) as (
      module: object,
      require: NodeJS.Require,
    ) => void;
    load(module, createRequire(__filename));
    return module.exports;
  })();

  it('are of the same kinds', () => {
    assert.notEqual(elsewhere.HumanError, HumanError);
    assert.ok(new elsewhere.HumanError('a', 'b') instanceof HumanError);
    assert.ok(new elsewhere.Cancelled() instanceof Cancelled);
    assert.ok(!(new elsewhere.Cancelled() instanceof HumanError));
    assert.ok(!(new Error('a') instanceof HumanError));
    assert.ok(!((null as unknown) instanceof HumanError));
  });

  it('are not of a kind that is derived from theirs', () => {
    class Special extends HumanError {}
    assert.ok(new Special('a') instanceof Special);
    assert.ok(new Special('a') instanceof HumanError);
    assert.ok(!(new HumanError('a') instanceof Special));
    assert.ok(!(new elsewhere.HumanError('a') instanceof Special));
  });
});
