import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type DockerConnection } from '../../src/engine/docker/connection/connect';
import { tryProgram } from '../../src/engine/docker/sandbox/tryProgram';
import { baseImage, needDocker, plainDocker } from './dockerForTests';

describe('the trial of an agent in an image', () => {
  let folder = '';
  let connection: DockerConnection | undefined;
  before(async function () {
    await needDocker(this);
    connection = await connect();
    folder = await mkdtemp(join(tmpdir(), 'swt-trial-'));
    await mkdir(join(folder, 'bin'));
    const program = join(folder, 'bin', 'my-agent');
    await writeFile(
      program,
      `#!/bin/sh
echo 'Loading…'; read line; echo "$line $MINE $1"; [ "$1" = 'a b' ] || echo "libatomic.so.1 is missing" >&2
`,
    );
    await chmod(program, 0o755);
  });
  after(async () => {
    await connection?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('gives the answer, or what the program complains of, and leaves nothing', async () => {
    assert.ok(connection);
    const engine = connection;
    const before = await volumes();
    const trial = (argv: readonly string[]) =>
      tryProgram(
        engine,
        {
          ...{ folder, image: baseImage.replace('{python}', '3.11'), argv, env: { MINE: '$HOME' } },
          ...{ line: 'hello', isAnswer: (line) => line.endsWith('a b'), seconds: 60 },
        },
        new AbortController().signal,
      );
    assert.equal((await trial(['my-agent', 'a b'])).answer, 'hello $HOME a b');
    assert.deepEqual(await trial(['my-agent', 'other']), {
      answer: undefined,
      complaint: 'libatomic.so.1 is missing',
    });
    assert.match((await trial(['no-agent'])).complaint, /no-agent.*No such file/);
    assert.deepEqual(await volumes(), before);
  });
});

async function volumes(): Promise<string[]> {
  const filters = { label: ['swt-bench.kind=program'] };
  return ((await plainDocker.listVolumes({ filters })).Volumes ?? []).map(({ Name }) => Name);
}
