import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256 } from '../../../files/digest';
import { HumanError, systemCode } from '../../../domain/work';
import { parseAddress, type EngineAddress, type Tls } from './engineAddress';
import { lineOfProblem } from './engineProblem';

/** Where the docker command keeps its configuration: `~/.docker`, or `DOCKER_CONFIG`. */
export interface DockerFolder {
  readonly env: NodeJS.ProcessEnv;
  /** The user's home. */
  readonly home: string;
}

/** The fields of `config.json` that are used here; all others are ignored. */
const configuration = z.object({
  currentContext: z.string().optional(),
  auths: z
    .record(
      z.string(),
      z.object({
        auth: z.string().optional(),
        username: z.string().optional(),
        password: z.string().optional(),
        identitytoken: z.string().optional(),
        registrytoken: z.string().optional(),
      }),
    )
    .optional(),
  credsStore: z.string().optional(),
  credHelpers: z.record(z.string(), z.string()).optional(),
});

export type DockerConfiguration = z.infer<typeof configuration>;

const contextMeta = z.object({
  Endpoints: z.object({
    docker: z.object({ Host: z.string(), SkipTLSVerify: z.boolean().optional() }),
  }),
});

/** Folder of the docker command's configuration. */
function dockerFolder({ env, home }: DockerFolder): string {
  return env['DOCKER_CONFIG'] || join(home, '.docker');
}

/**
 * The configuration of the docker command; empty when there is none.
 * https://docs.docker.com/reference/cli/docker/#docker-cli-configuration-file-configjson-properties
 *
 * @throws HumanError when it cannot be read
 */
export async function readConfiguration(place: DockerFolder): Promise<DockerConfiguration> {
  const file = join(dockerFolder(place), 'config.json');
  const text = await optional(file);
  return text === undefined ? {} : parsed(file, text, configuration);
}

/**
 * Name of the context that the docker command would use, and where that name is set; undefined when
 * none is set.
 */
export async function currentContext(
  place: DockerFolder,
): Promise<{ name: string; foundBy: string } | undefined> {
  const named = place.env['DOCKER_CONTEXT'];
  const name = named || (await readConfiguration(place)).currentContext;
  // "default" stands for DOCKER_HOST and the default socket.
  if (name === undefined || name === '' || name === 'default') return undefined;
  return { name, foundBy: `the context ${lineOfProblem(name)}${named ? ' (DOCKER_CONTEXT)' : ''}` };
}

/**
 * The engine of a context. Contexts are kept in folders named by the digest of their name.
 * https://github.com/docker/cli/blob/master/cli/context/store/doc.go
 *
 * @throws HumanError when there is no such context, or it is damaged or names no usable address
 */
export async function readContext(
  place: DockerFolder,
  name: string,
  foundBy: string,
): Promise<EngineAddress> {
  const id = sha256(name);
  const contexts = join(dockerFolder(place), 'contexts');
  const file = join(contexts, 'meta', id, 'meta.json');
  const text = await optional(file);
  if (text === undefined) {
    throw new HumanError(
      `There is no docker context ${JSON.stringify(name)} in ${contexts}`,
      'List them with: docker context ls. Choose one with: docker context use NAME',
    );
  }
  const { Host, SkipTLSVerify } = parsed(file, text, contextMeta).Endpoints.docker;
  const tls = await readTls(join(contexts, 'tls', id, 'docker'), SkipTLSVerify !== true);
  const isTls = tls.ca !== undefined || tls.cert !== undefined || SkipTLSVerify === true;
  return parseAddress(Host, foundBy, isTls ? tls : undefined);
}

/**
 * The TLS settings for `DOCKER_HOST`, from `DOCKER_TLS_VERIFY`, `DOCKER_TLS` and
 * `DOCKER_CERT_PATH`; undefined for no TLS. https://docs.docker.com/engine/security/protect-access/
 *
 * @throws HumanError when `DOCKER_CERT_PATH` has none of its files
 */
export async function tlsOfEnvironment(place: DockerFolder): Promise<Tls | undefined> {
  const { env } = place;
  const verify = (env['DOCKER_TLS_VERIFY'] ?? '') !== '';
  if (!verify && (env['DOCKER_TLS'] ?? '') === '') return undefined;
  const folder = env['DOCKER_CERT_PATH'] || undefined;
  const tls = await readTls(folder ?? dockerFolder(place), verify);
  if (folder !== undefined && tls.ca === undefined && tls.cert === undefined) {
    throw new HumanError(
      `DOCKER_CERT_PATH is ${folder}, which has neither ca.pem nor cert.pem`,
      'Specify the folder with ca.pem, cert.pem and key.pem, or unset DOCKER_TLS_VERIFY',
    );
  }
  return tls;
}

async function readTls(folder: string, verify: boolean): Promise<Tls> {
  const [ca, cert, key] = await Promise.all(
    ['ca.pem', 'cert.pem', 'key.pem'].map((name) => optional(join(folder, name))),
  );
  return { ca, cert, key, verify };
}

/** Text of a file; undefined when the file does not exist. */
async function optional(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new HumanError(`${file} cannot be read (${code})`, 'Check its permissions');
  }
}

function parsed<T>(file: string, text: string, schema: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new HumanError(`${file} is not JSON`, 'Fix or remove the file');
  }
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new HumanError(
    `${file} does not have the docker command's format: ${issue?.path.join('.')}: ${issue?.message}`,
    'Fix or remove the file',
  );
}
