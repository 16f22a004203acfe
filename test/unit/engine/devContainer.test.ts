import assert from 'node:assert/strict';
import { containerImage } from '../../../src/engine/docker/containerImage';
import { devContainerFile } from '../../../src/engine/docker/devContainer';

describe('the container of an instance', () => {
  it('is the one that its row names', () => {
    const image = containerImage({
      id: 'octo__cat-1',
      repo: 'octo/cat',
      environment: { image: 'jefzda/sweap-images:octo.cat-1', folder: '/app' },
    });
    assert.equal(image.name, 'jefzda/sweap-images:octo.cat-1');
    assert.equal(image.folder, '/app');
    assert.equal(image.python, 'python3', 'it has no conda environment');
  });

  it('is the published one for repositories of SWE-bench, in lower case and with its sign for __', () => {
    const image = containerImage({ id: 'Psf__Requests-863', repo: 'psf/requests' });
    assert.equal(image.name, 'swebench/sweb.eval.x86_64.psf_1776_requests-863:latest');
    assert.equal(image.folder, '/testbed');
  });

  it('is a plain Python where nobody publishes one', () => {
    const image = containerImage({ id: 'octo__cat-1', repo: 'octo/cat' });
    assert.match(image.name, /python:3$/);
    assert.equal(image.installed, false);
  });
});

describe('devcontainer.json', () => {
  const read = (id: string, repo: string): Record<string, unknown> =>
    JSON.parse(devContainerFile({ id, repo })) as Record<string, unknown>;

  it('puts the workspace into the place of the repository and installs it without a network', () => {
    const file = read('psf__requests-863', 'psf/requests');
    assert.equal(file['workspaceFolder'], '/testbed');
    assert.equal(
      file['workspaceMount'],
      'source=${localWorkspaceFolder},target=/testbed,type=bind',
    );
    assert.equal(file['init'], true);
    assert.deepEqual((file['postCreateCommand'] as string[]).slice(0, 4), [
      '/opt/miniconda3/envs/testbed/bin/python',
      '-m',
      'pip',
      'install',
    ]);
  });

  it('installs nothing into a plain Python', () => {
    assert.ok(!('postCreateCommand' in read('octo__cat-1', 'octo/cat')));
  });
});
