import { HumanError } from '../../../../domain/work';
import { EngineFault } from '../../../engine';
import { parseImageName } from '../imageName';
import {
  EngineDiskFull,
  EngineGone,
  engineProblem,
  engineText,
  refusedStatus,
} from '../../connection/engineProblem';

/** The registry has no such image, or does not show it to this user. */
export class ImageMissing extends HumanError {}

/** The registry does not answer, or stopped answering during a pull. */
export class RegistryUnreachable extends EngineFault {}

/** The registry refuses because of too many requests; it may allow more later. */
export class RegistryBusy extends EngineFault {}

/** The words of Docker, containerd and Podman, in this order, for an image that does not exist. */
const missing = new RegExp(
  [
    'manifest unknown|name unknown|pull access denied|repository name not known|no matching manifest',
    'manifest for .* not found|: not found$|insufficient_scope',
    'no image found in|repository .* not found|requested access to the resource is denied|: denied$',
  ].join('|'),
  'i',
);

/** The words of engines for a registry that requires a login. */
const unauthorized =
  /no basic auth credentials|unauthorized|authentication required|incorrect username or password/i;

/**
 * The words of engines, through Go's network library, for a registry that does not answer or fails.
 */
const unreachable = new RegExp(
  [
    'dial tcp|connection refused|connection reset|broken pipe|i/o timeout|TLS handshake|no such host',
    'no route to host|network is unreachable|unexpected EOF|\\bEOF$|deadline exceeded|request canceled',
    'server misbehaving|x509|unexpected HTTP status|unexpected status|gave HTTP response',
    'bad gateway|service unavailable|pinging container registry|download failed after',
  ].join('|'),
  'i',
);

/** Determines why a pull failed, from the words of Docker, containerd and Podman. */
export function pullProblem(
  error: unknown,
  pull: { readonly name: string; readonly bytes: number; readonly address: string },
): Error {
  const { name, bytes, address } = pull;
  const text = engineText(error);
  const engines = engineProblem(error, { address }, `pulling ${name}`);
  // The engine passes on the registry's answer under a status of its own, so only the words count.
  if (engines instanceof EngineGone || engines instanceof EngineDiskFull) return engines;
  const status = refusedStatus(error);
  const { registry } = parseImageName(name);
  const login = `docker login${registry === 'docker.io' ? '' : ` ${registry}`}`;
  if (/toomanyrequests|too many requests|rate limit/i.test(text)) {
    return new RegistryBusy(
      `The registry ${registry} has reached its pull rate limit: ${text}`,
      `Log in (${login}) for a higher limit, or try again later`,
    );
  }
  if (missing.test(text)) {
    return new ImageMissing(
      `There is no image ${name}: ${text}`,
      `Check the name. If the image is not public, log in first (${login})`,
    );
  }
  if (status === 401 || unauthorized.test(text)) {
    return new HumanError(
      `The registry ${registry} requires a login for ${name}: ${text}`,
      `Log in with: ${login}`,
    );
  }
  if (status === 404) {
    return new ImageMissing(`There is no image ${name}: ${text}`, 'Check the name');
  }
  if (unreachable.test(text)) {
    return bytes === 0
      ? new RegistryUnreachable(
          `The registry ${registry} cannot be reached to pull ${name}: ${text}`,
          'Check the network, and whether the engine needs a proxy or a certificate for it',
        )
      : new RegistryUnreachable(
          `The pull of ${name} was interrupted after ${(bytes / 1e6).toFixed(1)} MB: ${text}`,
          'Try again when the registry is reachable; downloaded layers are kept',
        );
  }
  return engines;
}
