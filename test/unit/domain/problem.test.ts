import assert from 'node:assert/strict';
import { Cancelled, HumanError, messageOf, throwIfAborted } from '../../../src/domain/problem';

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
