import assert from 'node:assert/strict';
import { sourceProblemText } from '../../../../src/editor/instances/validationTexts';
import { GitError, fetchFailure } from '../../../../src/repository/git';

describe('the notification about a source that cannot be had', () => {
  const problem = (stderr: string, from: string) =>
    fetchFailure(new GitError('fetch', stderr, 128), {
      repo: 'octo/cat',
      commit: '0123456789'.repeat(4),
      from,
    });

  it('is brief, with the host and the cause, and what the button beside it does', () => {
    const unknown = 'fatal: unable to access: Could not resolve host: git.example';
    assert.equal(
      sourceProblemText(problem(unknown, 'https://me:secret@git.example/octo/cat.git')),
      'Commit 0123456789 of octo/cat cannot be fetched from git.example: you may be offline, or the host does not exist. ' +
        'Select a local clone or source release.',
    );
    assert.match(
      sourceProblemText(problem('fatal: bad object 0123', '/mirrors/cat')) ?? '',
      /cannot be fetched from \/mirrors\/cat: it does not have this commit\./,
    );
  });

  it('leaves an error as it is that has no known cause, or is another one', () => {
    assert.equal(sourceProblemText(problem('fatal: odd', 'https://x.example/')), undefined);
    assert.equal(sourceProblemText(new Error('disk full')), undefined);
  });
});
