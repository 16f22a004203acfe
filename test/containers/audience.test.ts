import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { silent } from '../../src/domain/work';
import { audiences, type Audience, type Engine } from '../../src/engine/engine';
import { runStore } from '../../src/evaluation/testRun';
import { modelView } from '../../src/method/modelView';
import { ask } from '../contract/run';
import { candidate, onEngine } from '../contract/subjects';
import { loadParser } from '../unit/python/loadParser';
import { baseImage, plainDocker } from './dockerForTests';

interface Listener {
  readonly address: string;
  stop(): void;
}

const listen = `
import socket
server = socket.socket(); server.bind(("0.0.0.0", 7000)); server.listen(16)
print("ready", flush=True)
while True: server.accept()[0].close()
`;

/** A container on the network of sandboxes that have one. It accepts connections at port 7000. */
async function onBridge(): Promise<Listener> {
  const name = `swt-test-listener-${randomBytes(4).toString('hex')}`;
  const stop = (): void => {
    execFileSync('docker', ['rm', '--force', name], { stdio: 'ignore' });
  };
  const python = ['python3', '-c', listen];
  const image = baseImage.replace('{python}', '3.9');
  const running = spawn('docker', ['run', '--rm', '--name', name, '--init', image, ...python], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = (await once(running.stdout, 'data')) as [Buffer];
  assert.equal(said.toString().trim(), 'ready');
  const { NetworkSettings } = await plainDocker.getContainer(name).inspect();
  return { address: Object.values(NetworkSettings.Networks)[0]?.IPAddress ?? '', stop };
}

onEngine('docker', 'a sandbox of an instance that is allowed the network', (subject) => {
  let listener: Listener | undefined;
  let allowed: Engine;
  before(async () => {
    listener = await onBridge();
    allowed = await subject().open({ network: [subject().instance.id] });
  });
  after(async () => {
    await allowed?.dispose();
    listener?.stop();
  });

  const look = (): string => `
import json, socket
found = [name for _, name in socket.if_nameindex() if name.startswith(("eth", "veth"))]
try: socket.create_connection((${JSON.stringify(listener?.address)}, 7000), timeout=5).close(); found.append("reached")
except OSError: pass
print(json.dumps(found))`;

  const seenBy = async (audience: Audience): Promise<string[]> => {
    const place = await allowed.prepare(subject().instance, subject().trees, {
      reporter: silent,
      audience,
    });
    // The number of requested sides does not matter.
    const pair = await place.openPair({ reporter: silent });
    try {
      const both = await Promise.all([
        ask<string[]>(pair.base, look()),
        ask<string[]>(pair.fixed, look()),
      ]);
      assert.deepEqual(both[0], both[1]);
      return both[0];
    } finally {
      await pair.dispose();
    }
  };

  it('has it for a grade', async () => {
    assert.deepEqual(await seenBy('grading'), ['eth0', 'reached']);
  });

  it('has none for a model', async () => {
    assert.deepEqual(await seenBy('model'), []);
  });

  it('shares no kept run with one for another audience', async () => {
    const digests = await Promise.all(
      audiences.map(async (audience) => {
        const work = { reporter: silent, audience };
        const place = await allowed.prepare(subject().instance, subject().trees, work);
        return place.environment.digest;
      }),
    );
    assert.equal(new Set(digests).size, audiences.length);
  });

  it('has none for what a model runs through its view of the instance', async () => {
    const view = await modelView(subject().instance, {
      trees: subject().trees,
      python: await loadParser(),
      engine: () => Promise.resolve(allowed),
      store: runStore(await mkdtemp(join(subject().storage, 'runs-'))),
      permit: () => undefined,
    });
    try {
      const body = `import socket; self.fail("INTERFACES %s %s" % ([name for _, name in socket.if_nameindex()], socket.socket().connect_ex((${JSON.stringify(listener?.address)}, 7000)) == 0))`;
      const ran = await view.runOnR(candidate(body), { timeoutSeconds: 60, reporter: silent });
      const said = ran.tests[0]?.message ?? '';
      assert.match(said, /^INTERFACES \['lo'[^\]]*\] False$/);
      assert.doesNotMatch(said, /eth/);
    } finally {
      await view.dispose();
    }
  });
});
