import { HumanError } from '../../../domain/work';
import { lineOfProblem } from '../connection/engineProblem';

/** The parts of an image's name. */
interface ImageName {
  /** Host of the registry, with its port; `docker.io` when the name has none. */
  readonly registry: string;
  /** The part before tag and digest, as the engine takes it. */
  readonly repository: string;
  /** `latest` when the name has neither tag nor digest. */
  readonly tag: string | undefined;
  /** Such as `sha256:…`. */
  readonly digest: string | undefined;
}

const part = '[a-z0-9]+(?:(?:\\.|_{1,2}|-+)[a-z0-9]+)*';
const host = '(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\\[[0-9a-fA-F:]+\\])(?::\\d{1,5})?';
const grammar = new RegExp(
  `^(?<repository>(?:(?<host>${host})/)?${part}(?:/${part})*)` +
    '(?::(?<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(?<digest>[a-z0-9.+_-]+:[0-9a-f]{32,}))?$',
);

/**
 * Parses a name such as `swebench/sweb.eval.x86_64.sympy_1776_sympy-20322:latest`.
 * https://pkg.go.dev/github.com/distribution/reference
 *
 * @throws HumanError when the text is not a valid image name
 */
export function parseImageName(name: string): ImageName {
  const found = name.length > 512 ? null : grammar.exec(name);
  if (found?.groups === undefined) {
    throw new HumanError(
      `${JSON.stringify(lineOfProblem(name))} is not a valid image name`,
      'Use a name such as python:3.9-bookworm or registry.example.org:5000/team/image:tag',
    );
  }
  const { repository = '', host: first, tag, digest } = found.groups;
  // The first part is a host only when it looks like one: "library/python" is on Docker Hub.
  const isHost = first !== undefined && (/[.:[A-Z]/.test(first) || first === 'localhost');
  return {
    registry: isHost ? first : 'docker.io',
    repository,
    tag: tag ?? (digest === undefined ? 'latest' : undefined),
    digest,
  };
}

/**
 * The platform to request for an image; undefined for the engine's own. Images with x86_64 in their
 * name exist for no other platform, and on arm64 they are emulated.
 */
export function platformOf(name: string): string | undefined {
  return /(^|[^a-z0-9])(x86_64|amd64)([^a-z0-9]|$)/.test(name) ? 'linux/amd64' : undefined;
}
