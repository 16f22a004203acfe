import { homedir } from 'node:os';
import { z } from 'zod';
import { Cancelled, HumanError, throwIfAborted } from '../../../domain/work';
import { plural } from '../../../domain/text';
import type { EngineWork } from '../../engine';
import type { DockerConnection } from '../connection/connect';
import type { DockerFolder } from '../connection/contexts';
import { engineProblem, engineText, lineOfProblem } from '../connection/engineProblem';
import { parseImageName } from './imageName';
import { registryLogin } from './pull/registryLogin';

/** One line of the engine's stream. https://docs.docker.com/reference/api/engine/ (ImagePush) */
const pushLine = z.object({
  status: z.string().optional(),
  id: z.string().optional(),
  error: z.string().optional(),
  errorDetail: z.object({ message: z.string().optional() }).nullish(),
});

/**
 * Pushes an image under a name of a registry, with the login that `docker login` left for it. Layers
 * that the registry has are not sent again. The name is not kept here.
 *
 * @param image id or name of an image of the engine
 * @param name with a registry and a tag
 * @param place where logins are kept, by default those of this user
 * @throws HumanError saying what to do; Cancelled
 */
export async function pushImage(
  { docker, address }: Pick<DockerConnection, 'docker' | 'address'>,
  { image, name }: { readonly image: string; readonly name: string },
  { signal, reporter }: EngineWork,
  place: DockerFolder = { env: process.env, home: homedir() },
): Promise<void> {
  throwIfAborted(signal);
  const { registry, repository, tag = 'latest' } = parseImageName(name);
  const login = await registryLogin(registry, place, (line) => reporter.log(line), signal);
  let isTagged = false;
  try {
    await docker.getImage(image).tag({ repo: repository, tag });
    isTagged = true;
    const stream = await docker.getImage(name).push({
      // The engine wants a login, be it an empty one.
      authconfig: login ?? {},
      ...(signal === undefined ? {} : { abortSignal: signal }),
    });
    await follow(stream, (words) => reporter.progress(`Pushing ${name}: ${words}`));
    throwIfAborted(signal);
  } catch (error) {
    if (error instanceof Cancelled || signal?.aborted === true) throw new Cancelled();
    throw pushProblem(error, { name, registry, address });
  } finally {
    if (isTagged) {
      await docker
        .getImage(name)
        .remove()
        .catch(() => undefined);
    }
  }
}

/** @throws Error with the engine's words when it says that the push failed */
async function follow(stream: NodeJS.ReadableStream, tell: (words: string) => void): Promise<void> {
  const layers = new Map<string, boolean>();
  let rest = '';
  const take = (line: string): void => {
    if (line.trim() === '') return;
    const { status = '', id, error, errorDetail } = pushLine.parse(JSON.parse(line));
    if (error !== undefined || errorDetail) {
      throw new Error(errorDetail?.message ?? error ?? 'unknown');
    }
    if (id === undefined) return;
    if (
      !layers.has(id) &&
      !/^(Preparing|Waiting|Pushing|Layer already|Pushed|Mounted)/.test(status)
    ) {
      return;
    }
    layers.set(id, /^(Pushed|Layer already exists|Mounted)/.test(status));
    const done = [...layers.values()].filter((each) => each).length;
    tell(`${done} of ${plural(layers.size, 'layer')}`);
  };
  stream.setEncoding('utf8');
  for await (const text of stream as AsyncIterable<string>) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(take);
  }
  take(rest);
}

/** Why a push failed, and what to do, from the words of Docker and Podman. */
function pushProblem(
  error: unknown,
  {
    name,
    registry,
    address,
  }: { readonly name: string; readonly registry: string; readonly address: string },
): Error {
  const text = lineOfProblem(engineText(error));
  const login = `docker login${registry === 'docker.io' ? '' : ` ${registry}`}`;
  if (/unauthorized|no basic auth|authentication required|access .*denied|: denied/i.test(text)) {
    return new HumanError(
      `The registry ${registry} rejected ${name}: ${text}`,
      `Log in with: ${login}; or specify a registry with write access with --registry`,
    );
  }
  if (/HTTP response to HTTPS client|x509|certificate/i.test(text)) {
    return new HumanError(
      `The engine does not trust the registry ${registry}: ${text}`,
      "Add its certificate to the engine, or list it in the engine's insecure-registries",
    );
  }
  if (/dial tcp|refused|no such host|timeout|unreachable|EOF|reset by peer/i.test(text)) {
    return new HumanError(
      `The registry ${registry} cannot be reached to push ${name}: ${text}`,
      'Check its name, and that the engine can reach it; uploaded layers are not sent again',
    );
  }
  return engineProblem(error, { address }, `pushing ${name}`);
}
