// Creates a container of a sandbox and one of an unfinished image, prints their ids, and waits to
// be killed.
import { connect } from '../../src/engine/docker/connection/connect';
import { containerLabels, type ContainerKind } from '../../src/engine/docker/labels';

async function main(): Promise<void> {
  const { docker } = await connect();
  const make = async (kind: ContainerKind): Promise<string> => {
    const container = await docker.createContainer({
      Image: process.argv[2],
      Cmd: ['sleep', '300'],
      Labels: await containerLabels(kind, { instance: 'left-over' }),
      HostConfig: { NetworkMode: 'none' },
    });
    // A build's container may not have been started yet.
    if (kind === 'pair') await container.start();
    return container.id;
  };
  const ids = [await make('pair'), await make('build')];
  process.stdout.write(`${ids.join(' ')}\n`);
  setInterval(() => undefined, 1000);
}

void main();
