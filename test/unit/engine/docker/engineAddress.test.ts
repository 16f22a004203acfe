import assert from 'node:assert/strict';
import { HumanError } from '../../../../src/domain/work';
import { parseAddress, writeAddress } from '../../../../src/engine/docker/connection/engineAddress';
import { sshArguments } from '../../../../src/engine/docker/connection/ssh';
import { defaultPlaces } from '../../../../src/engine/docker/connection/defaultPlaces';

describe("engines' addresses", () => {
  it('are read as the docker command reads them, and written back', () => {
    const cases: [written: string, read: object, back: string][] = [
      ['unix:///run/docker.sock', { kind: 'socket', path: '/run/docker.sock' }, ''],
      ['/run/x y.sock', { kind: 'socket', path: '/run/x y.sock' }, 'unix:///run/x y.sock'],
      ['npipe:////./pipe/docker_engine', { kind: 'pipe', path: '//./pipe/docker_engine' }, ''],
      ['\\\\.\\pipe\\x', { kind: 'pipe', path: '//./pipe/x' }, 'npipe:////./pipe/x'],
      ['tcp://host:1234', tcp('host', 1234), ''],
      ['host:1234', tcp('host', 1234), 'tcp://host:1234'],
      ['tcp://host', tcp('host', 2375), 'tcp://host:2375'],
      ['http://host', tcp('host', 80), 'tcp://host:80'],
      ['tcp://host:80', tcp('host', 80), ''],
      ['tcp://[::1]:99/a/b/', { ...tcp('::1', 99), prefix: 'a/b' }, 'tcp://[::1]:99/a/b'],
      ['https://host', { ...tcp('host', 443), tls: { verify: true } }, 'tcp://host:443'],
      ['ssh://me@far', ssh({ user: 'me', host: 'far' }), ''],
      ['ssh://far:2222', ssh({ host: 'far', port: 2222 }), ''],
      [
        'ssh://me@far:22/run/user/1000/podman/podman.sock',
        ssh({
          user: 'me',
          host: 'far',
          port: 22,
          remoteSocket: '/run/user/1000/podman/podman.sock',
        }),
        '',
      ],
    ];
    for (const [written, read, back] of cases) {
      const address = parseAddress(written, 'a test');
      assert.deepEqual(address, read, written);
      assert.equal(writeAddress(address), back === '' ? written : back);
    }
    const tls = { verify: false };
    assert.deepEqual(parseAddress('tcp://host', 'a test', tls), { ...tcp('host', 2376), tls });
  });

  it('are refused when they are none, or could be taken for more than a name', () => {
    const refused = [
      ...[
        '',
        'unix://',
        'unix://run/x',
        'fd://',
        'tcp://',
        'tcp://host?x',
        'tcp://ho st:1',
        'x://y',
      ],
      ...['ssh://-oProxyCommand=evil', 'ssh://-l@far', 'ssh://far/run/$(evil)', 'ssh://far/a;b'],
      ...[
        'ssh://a%20b@far',
        'tcp://host\n:1',
        'ssh://me:secret@far',
        'tcp://host:99999',
        'tcp://me:secret@host',
      ],
    ];
    for (const written of refused) {
      assert.throws(
        () => parseAddress(written, 'the setting'),
        (error) => {
          assert.ok(error instanceof HumanError, written);
          assert.match(error.what, /\(the setting\)/);
          assert.ok(!error.message.includes('secret'));
          return true;
        },
        written,
      );
    }
  });

  it('become arguments of ssh after which nothing is an option', () => {
    const address = parseAddress('ssh://me@far:2222/run/x.sock', 'a test');
    assert.ok(address.kind === 'ssh');
    assert.deepEqual(sshArguments(address, 'docker').slice(5), [
      ...['-l', 'me', '-p', '2222', '--', 'far', 'docker', '--host', 'unix:///run/x.sock'],
      ...['system', 'dial-stdio'],
    ]);
  });
});

describe('the usual places', () => {
  const on = (platform: NodeJS.Platform, env: NodeJS.ProcessEnv = {}): string[] =>
    defaultPlaces({ platform, env, home: '/home/me', uid: 1000 }).map(
      ({ address, foundBy }) => `${writeAddress(address)} ${foundBy}`,
    );

  it('are those of each system, the usual one first', () => {
    assert.deepEqual(on('linux'), [
      'unix:///var/run/docker.sock the default socket',
      "unix:///run/user/1000/docker.sock rootless Docker's socket",
      "unix:///home/me/.docker/desktop/docker.sock Docker Desktop's socket",
      "unix:///home/me/.docker/run/docker.sock Docker Desktop's socket",
      "unix:///run/user/1000/podman/podman.sock the user's Podman socket",
      "unix:///run/podman/podman.sock Podman's socket",
    ]);
    assert.ok(
      on('linux', { XDG_RUNTIME_DIR: '/r' }).includes(
        "unix:///r/podman/podman.sock the user's Podman socket",
      ),
    );
    const mac = on('darwin', { TMPDIR: '/t/' });
    assert.equal(mac[0], "unix:///home/me/.docker/run/docker.sock Docker Desktop's socket");
    assert.ok(mac.some((each) => each.includes('/t/podman/podman-machine-default-api.sock')));
    assert.deepEqual(on('win32'), [
      'npipe:////./pipe/docker_engine the default pipe',
      "npipe:////./pipe/dockerDesktopLinuxEngine Docker Desktop's pipe",
      "npipe:////./pipe/podman-machine-default Podman's pipe",
    ]);
  });
});

const tcp = (host: string, port: number): object => ({
  ...{ kind: 'tcp', host, port, prefix: '', tls: undefined },
});

const ssh = (parts: object): object => ({
  ...{ kind: 'ssh', user: undefined, port: undefined, remoteSocket: undefined },
  ...parts,
});
