import { spawn } from 'node:child_process';
import { delimiter } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../../../domain/work';
import {
  readConfiguration,
  type DockerConfiguration,
  type DockerFolder,
} from '../../connection/contexts';
import { lineOfProblem } from '../../connection/engineProblem';

/** The login that an engine shows a registry on the user's behalf, as its API names it. */
export interface RegistryLogin {
  readonly username?: string;
  readonly password?: string;
  readonly identitytoken?: string;
  readonly registrytoken?: string;
  readonly serveraddress: string;
}

/** The key under which the docker command keeps logins of Docker Hub. */
const hub = 'https://index.docker.io/v1/';

/** Seconds that a helper may take: it may ask the user to open a key ring. */
const helperSeconds = 60;

const helperAnswer = z.object({ Username: z.string(), Secret: z.string() });

/**
 * The login that `docker login` left for a registry, from a credential helper or else from
 * `config.json`. Undefined when there is none; the image may be public. `log` gets the reason when
 * a helper fails. https://docs.docker.com/reference/cli/docker/login/#credential-helpers
 *
 * @param registry host, with its port; `docker.io` for Docker Hub
 * @throws HumanError when `config.json` cannot be read
 */
export async function registryLogin(
  registry: string,
  place: DockerFolder,
  log: (line: string) => void,
  signal?: AbortSignal,
): Promise<RegistryLogin | undefined> {
  const configuration = await readConfiguration(place);
  const server = registry === 'docker.io' || registry === 'index.docker.io' ? hub : registry;
  const helper = configuration.credHelpers?.[registry] ?? configuration.credsStore;
  if (helper !== undefined && helper !== '') {
    try {
      const login = await askHelper(helper, server, place.env, signal);
      if (login !== undefined) return login;
    } catch (error) {
      log(`docker-credential-${helper} gave no login for ${registry}: ${messageOf(error)}`);
    }
  }
  return writtenLogin(configuration, registry, server);
}

function writtenLogin(
  { auths = {} }: DockerConfiguration,
  registry: string,
  server: string,
): RegistryLogin | undefined {
  // Older docker commands wrote the full address of the registry's API.
  const key = Object.keys(auths).find((each) => each === server || hostOf(each) === registry);
  const written = key === undefined ? undefined : auths[key];
  if (written === undefined) return undefined;
  const { auth, identitytoken, registrytoken } = written;
  if (identitytoken) return { identitytoken, serveraddress: server };
  if (registrytoken) return { registrytoken, serveraddress: server };
  const plain = auth ? Buffer.from(auth, 'base64').toString('utf8').replace(/\0+$/, '') : '';
  const colon = plain.indexOf(':');
  const username = colon < 0 ? written.username : plain.slice(0, colon);
  const password = colon < 0 ? written.password : plain.slice(colon + 1);
  return username && password ? { username, password, serveraddress: server } : undefined;
}

const hostOf = (written: string): string =>
  written.replace(/^https?:\/\//, '').replace(/\/.*$/, '');

/** Folders of helpers that are missing from the PATH when VS Code was not started from a shell. */
const moreFolders: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: [
    '/usr/local/bin',
    '/opt/homebrew/bin',
    '/Applications/Docker.app/Contents/Resources/bin',
  ],
  linux: ['/usr/local/bin'],
};

/**
 * Asks `docker-credential-NAME get`: the server on its standard input, JSON on its output.
 * https://github.com/docker/docker-credential-helpers
 */
async function askHelper(
  name: string,
  server: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal | undefined,
): Promise<RegistryLogin | undefined> {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name)) throw new Error('it is not a program name');
  const path = [env['PATH'] ?? '', ...(moreFolders[process.platform] ?? [])].join(delimiter);
  const late = AbortSignal.timeout(helperSeconds * 1000);
  const child = spawn(`docker-credential-${name}`, ['get'], {
    env: { ...env, PATH: path },
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
    signal: signal === undefined ? late : AbortSignal.any([signal, late]),
  });
  let said = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text: string) => {
    said = (said + text).slice(0, 1 << 20);
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(server);
  const status = await new Promise<number | null>((settle, fail) => {
    child.on('error', fail);
    child.on('close', settle);
  });
  if (status !== 0) {
    if (/credentials not found/i.test(said)) return undefined;
    throw new Error(lineOfProblem(said) || `it ended with ${status}`);
  }
  const read = helperAnswer.safeParse(jsonOf(said));
  // The answer is not shown, since it may contain a secret.
  if (!read.success) throw new Error('it returned an invalid answer');
  const { Username, Secret } = read.data;
  if (Username === '' && Secret === '') return undefined;
  return Username === '<token>'
    ? { identitytoken: Secret, serveraddress: server }
    : { username: Username, password: Secret, serveraddress: server };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
