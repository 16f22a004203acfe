import assert from 'node:assert/strict';
import { HumanError } from '../../../../src/domain/work';
import { EngineDiskFull, EngineGone } from '../../../../src/engine/docker/connection/engineProblem';
import {
  ImageMissing,
  pullProblem,
  RegistryUnreachable,
} from '../../../../src/engine/docker/images/pull/pullProblem';
import { PullProgress } from '../../../../src/engine/docker/images/pull/pullProgress';

describe('the progress of a pull', () => {
  const lines = (...values: object[]): string =>
    values.map((value) => `${JSON.stringify(value)}\r\n`).join('');

  it('is told on one line', () => {
    const progress = new PullProgress();
    assert.equal(progress.describe(), 'contacting the registry');
    progress.add(
      lines(
        { status: 'Pulling from a/b', id: 'latest' },
        { status: 'Already exists', id: 'one' },
        { status: 'Pulling fs layer', id: 'two', progressDetail: {} },
        { status: 'Pulling fs layer', id: 'three' },
        { status: 'Waiting', id: 'three' },
      ),
    );
    assert.equal(progress.describe(), '0.0 of 0.0 MB, 1 of 3 layers');
    const downloading = { status: 'Downloading', progressDetail: { current: 1.5e6, total: 4e6 } };
    progress.add(lines({ ...downloading, id: 'two' }));
    assert.equal(progress.describe(), '1.5 of 4.0 MB, 1 of 3 layers');
    progress.add(lines({ status: 'Retrying in 5 seconds', id: 'two' }));
    assert.match(progress.describe(), /, retrying in 5 seconds$/);
    progress.add(
      lines(
        { status: 'Download complete', id: 'two' },
        { status: 'Extracting', id: 'two', progressDetail: { current: 1e5, total: 4e6 } },
      ),
    );
    assert.equal(progress.describe(), '4.0 of 4.0 MB, 1 of 3 layers');
    progress.add(lines({ status: 'Pull complete', id: 'two' }));
    assert.equal(progress.describe(), '4.0 of 4.0 MB, 2 of 3 layers');
    assert.equal(progress.bytes, 4e6);
  });

  it('is read across pieces, and past what is no JSON', () => {
    const progress = new PullProgress();
    const text = lines({ status: 'Pull complete', id: 'x' }, { status: 'Digest: sha256:ab' });
    for (const character of `noise\n[1]\nnull\n${text}`) progress.add(character);
    progress.add('{"errorDetail":{"message":"no more"},"error":"no more"}');
    assert.equal(progress.error, undefined);
    progress.end();
    assert.equal(progress.error, 'no more');
    assert.equal(progress.digest, 'sha256:ab');
    assert.equal(progress.describe(), '0.0 of 0.0 MB, 1 of 1 layer');
  });
});

describe('a failed pull', () => {
  const problem = (text: string, more: object = {}, bytes = 0): Error =>
    pullProblem(Object.assign(new Error(text), more), {
      name: 'reg.io/a/b:c',
      bytes,
      address: 'unix:///x',
    });

  it('is a missing image, by the words of each engine', () => {
    for (const text of [
      '(HTTP code 404) unexpected - manifest for reg.io/a/b:c not found: manifest unknown: manifest unknown ',
      "pull access denied for a/b, repository does not exist or may require 'docker login': denied: requested access to the resource is denied",
      'failed to resolve reference "docker.io/a/b:c": docker.io/a/b:c: not found',
      'reading manifest c in reg.io/a/b: name unknown: repository name not known to registry',
      'no matching manifest for linux/arm64/v8 in the manifest list entries',
    ]) {
      const error = problem(text);
      assert.ok(error instanceof ImageMissing, text);
      assert.match(error.next ?? '', /docker login reg\.io/);
    }
  });

  it('is a registry that cannot be reached, or stopped in the middle', () => {
    for (const text of [
      'Get "https://reg.io/v2/": dial tcp: lookup reg.io on 127.0.0.53:53: no such host',
      'Get "http://127.0.0.1:5/v2/": dial tcp 127.0.0.1:5: connect: connection refused',
      'Get "https://reg.io/v2/": net/http: TLS handshake timeout',
      'error pulling image configuration: download failed after attempts=6: unexpected EOF',
      'Get "https://reg.io/v2/": x509: certificate signed by unknown authority',
    ]) {
      const before = problem(text);
      assert.ok(before instanceof RegistryUnreachable, text);
      assert.match(
        before.what,
        /^The registry reg\.io cannot be reached to pull reg\.io\/a\/b:c: /,
      );
      assert.match(problem(text, {}, 2.5e6).message, /was interrupted after 2\.5 MB: /);
    }
  });

  it('is the engine that has gone or has no room, and not the registry', () => {
    assert.ok(problem('read ECONNRESET', { code: 'ECONNRESET' }, 1e6) instanceof EngineGone);
    assert.ok(problem('aborted', { code: 'ECONNRESET' }, 1e6) instanceof EngineGone);
    const full = problem('write /var/lib/docker/tmp/x: no space left on device', {}, 1e6);
    assert.ok(full instanceof EngineDiskFull);
    assert.match(full.next ?? '', /swt-bench storage --free-images all /);
  });

  it('is a login or a limit', () => {
    const login = problem('Head "https://reg.io/v2/a/b/manifests/c": no basic auth credentials');
    assert.ok(login instanceof HumanError && !(login instanceof ImageMissing));
    assert.equal(login.next, 'Log in with: docker login reg.io');
    const limit = problem('toomanyrequests: You have reached your pull rate limit', {}, 0);
    assert.match(limit.message, /reached its pull rate limit: /);
  });
});
