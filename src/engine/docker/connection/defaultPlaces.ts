import { posix } from 'node:path';
import type { EngineAddress } from './engineAddress';

/** An address where an engine may listen. */
export interface DefaultPlace {
  readonly address: EngineAddress;
  /** The source of the address, as in "found by …". */
  readonly foundBy: string;
}

/** The properties of a machine and its user that decide where engines listen. */
interface UserPlaces {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  /** Number of the user; undefined on Windows. */
  readonly uid: number | undefined;
}

/**
 * Where Docker Engine, Docker Desktop, rootless Docker and Podman listen when nothing is set. The
 * place that the docker command would use comes first.
 *
 * Sources: https://docs.docker.com/desktop/setup/install/mac-permission-requirements/,
 * https://docs.docker.com/engine/security/rootless/, podman-system-service(1) and
 * podman-machine(1).
 */
export function defaultPlaces({ platform, env, home, uid }: UserPlaces): DefaultPlace[] {
  if (platform === 'win32') {
    return [
      pipe('docker_engine', 'the default pipe'),
      pipe('dockerDesktopLinuxEngine', "Docker Desktop's pipe"),
      pipe('podman-machine-default', "Podman's pipe"),
    ];
  }
  const expandHome = (path: string): string => posix.join(home, path);
  const desktop = socket(expandHome('.docker/run/docker.sock'), "Docker Desktop's socket");
  const usual = socket('/var/run/docker.sock', 'the default socket');
  if (platform === 'darwin') {
    const machine = '.local/share/containers/podman/machine';
    const temporary = env['TMPDIR'];
    return [
      desktop,
      usual,
      socket(expandHome('.colima/default/docker.sock'), "Colima's socket"),
      socket(expandHome('.orbstack/run/docker.sock'), "OrbStack's socket"),
      socket(expandHome('.rd/docker.sock'), "Rancher Desktop's socket"),
      ...(temporary === undefined
        ? []
        : [
            socket(
              posix.join(temporary, 'podman/podman-machine-default-api.sock'),
              "Podman's socket",
            ),
          ]),
      socket(expandHome(`${machine}/podman.sock`), "Podman's socket"),
      socket(expandHome(`${machine}/qemu/podman.sock`), "Podman's socket"),
    ];
  }
  const runtime = env['XDG_RUNTIME_DIR'] || (uid === undefined ? undefined : `/run/user/${uid}`);
  const inRuntime = (path: string, foundBy: string): DefaultPlace[] =>
    runtime === undefined ? [] : [socket(posix.join(runtime, path), foundBy)];
  return [
    usual,
    ...inRuntime('docker.sock', "rootless Docker's socket"),
    socket(expandHome('.docker/desktop/docker.sock'), "Docker Desktop's socket"),
    desktop,
    ...inRuntime('podman/podman.sock', "the user's Podman socket"),
    socket('/run/podman/podman.sock', "Podman's socket"),
  ];
}

const socket = (path: string, foundBy: string): DefaultPlace => ({
  address: { kind: 'socket', path },
  foundBy,
});

const pipe = (name: string, foundBy: string): DefaultPlace => ({
  address: { kind: 'pipe', path: `//./pipe/${name}` },
  foundBy,
});
