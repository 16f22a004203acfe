import assert from 'node:assert/strict';
import { join } from 'node:path';
import { cli, onSample, scratch, withVariables } from './cli';

const isOneLine = (text: string): void => {
  assert.equal(text.trim().split('\n').length, 1, text);
  assert.doesNotMatch(text, /\n\s+at /);
};

describe('the engine on the command line', () => {
  const folder = scratch();
  // No variable that names an engine, and no engine at the usual places.
  withVariables(() => ({
    DOCKER_HOST: `unix://${join(folder.path, 'no-engine.sock')}`,
    DOCKER_CONTEXT: undefined,
    DOCKER_TLS_VERIFY: undefined,
  }));
  const evaluate = (...more: string[]) =>
    cli(onSample(join(folder.path, 'storage'), 'gold', ...more));

  it('is one that there is', async () => {
    const { status, stderr } = await evaluate('--engine', 'cluster');
    assert.equal(status, 2);
    assert.match(stderr, /cluster.*local, docker/);
  });

  for (const [what, args, says] of [
    ['memory in words', ['--memory', 'much'], /--memory.*'much' is invalid\. Write it as 4g, 512m/],
    [
      'too little memory',
      ['--memory', '4'],
      /--memory has the invalid value 4\. Use a whole number of MiB/,
    ],
    ['processors in words', ['--cpus', 'two'], /--cpus.*Write a number/],
    ['less than no processors', ['--cpus=-1'], /--cpus has the invalid value -1/],
    ['a budget of nothing', ['--image-budget', '0'], /--image-budget has the invalid value 0.*GiB/],
    ['an empty name in --network', ['--network', 'a,,b'], /--network.*separated by commas/],
    ['--python', ['--python', 'python3'], /--python applies to the local engine/],
    ['an address of no kind', ['--docker-host', 'gopher://there'], /gopher/],
  ] as const) {
    it(`with docker refuses ${what}`, async () => {
      const { status, stdout, stderr } = await evaluate('--engine', 'docker', ...args);
      assert.equal(status, 2, stderr);
      assert.match(stderr, says);
      assert.equal(stdout, '');
    });
  }

  it('refuses options of docker for the local engine rather than ignore them', async () => {
    const { status, stderr } = await evaluate('--network', 'psf/requests');
    assert.equal(status, 2);
    assert.match(stderr, /--network applies to the docker engine/);
    isOneLine(stderr);
  });

  for (const command of ['evaluate', 'validate'] as const) {
    it(`of ${command} is named when the server does not respond, with what to do`, async () => {
      const args =
        command === 'evaluate'
          ? onSample(join(folder.path, 'storage'), 'gold')
          : [
              'validate',
              '--all',
              '--dataset',
              'bundled',
              '--storage',
              join(folder.path, 'storage'),
            ];
      const { status, stdout, stderr } = await cli([...args, '--engine', 'docker']);
      assert.equal(status, 2, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, /no-engine\.sock \(DOCKER_HOST\)/);
      isOneLine(stderr);
    });
  }

  it('is not needed to show what the storage folder takes', async () => {
    const args = ['storage', '--storage', join(folder.path, 'empty')];
    const { status, stdout, stderr } = await cli(args);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /total/);
    assert.match(stderr, /could not list images: .*no-engine\.sock/);
    isOneLine(stderr);
    const json = await cli([...args, '--json']);
    const document = JSON.parse(json.stdout) as { images: unknown };
    assert.equal(document.images, null);
  });
});
