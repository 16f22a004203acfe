import assert from 'node:assert/strict';
import { HumanError } from '../../../../src/domain/work';
import { parseImageName, platformOf } from '../../../../src/engine/docker/images/imageName';

describe("images' names", () => {
  const digest = `sha256:${'0a'.repeat(32)}`;

  it('are split into registry, repository, tag and digest', () => {
    const cases: [string, string, string, string | undefined, string | undefined][] = [
      ['python', 'docker.io', 'python', 'latest', undefined],
      ['python:3.9-bookworm', 'docker.io', 'python', '3.9-bookworm', undefined],
      ['library/python', 'docker.io', 'library/python', 'latest', undefined],
      ['localhost/x', 'localhost', 'localhost/x', 'latest', undefined],
      ['127.0.0.1:5000/a/b:c', '127.0.0.1:5000', '127.0.0.1:5000/a/b', 'c', undefined],
      ['ghcr.io/a/b', 'ghcr.io', 'ghcr.io/a/b', 'latest', undefined],
      [`a/b@${digest}`, 'docker.io', 'a/b', undefined, digest],
      [`r.io/a:t@${digest}`, 'r.io', 'r.io/a', 't', digest],
      [
        'swebench/sweb.eval.x86_64.psf_1776_requests-1:latest',
        ...(['docker.io', 'swebench/sweb.eval.x86_64.psf_1776_requests-1', 'latest'] as const),
        undefined,
      ],
    ];
    for (const [name, registry, repository, tag, sum] of cases) {
      assert.deepEqual(parseImageName(name), { registry, repository, tag, digest: sum }, name);
    }
  });

  it('are refused when they are none', () => {
    const refused = [
      '',
      'a/B',
      'a b',
      '-x',
      'a:',
      'a/',
      '/a',
      'a//b',
      'a@sha256:1',
      'a?x=1',
      'a\nb',
    ];
    for (const name of [...refused, 'x'.repeat(600), '../x', 'http://a/b']) {
      assert.throws(() => parseImageName(name), HumanError, name);
    }
  });

  it('say what platform the image is for, where they do', () => {
    assert.equal(platformOf('swebench/sweb.eval.x86_64.a_1776_b-1:latest'), 'linux/amd64');
    assert.equal(platformOf('x/y:amd64'), 'linux/amd64');
    for (const name of ['python:3.9', 'x/sweb.eval.arm64.a:latest', 'x/myamd64tools']) {
      assert.equal(platformOf(name), undefined);
    }
  });
});
