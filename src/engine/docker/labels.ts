import type { Instance } from '../../domain/instance';
import { ownerWord } from '../../repository/lock';

/**
 * Labels of the containers and images that are made here. Anything without them belongs to someone
 * else and is never touched. https://docs.docker.com/engine/manage-resources/labels/
 */
export const labels = {
  /** `1` on everything that is made here. */
  made: 'swt-bench.made',
  /** The process that uses a container, written by `ownerWord`. */
  owner: 'swt-bench.owner',
  /** The purpose: a {@link ContainerKind} or an {@link ImageKind}. */
  kind: 'swt-bench.kind',
  /** Id of the instance. */
  instance: 'swt-bench.instance',
  /** Repository of the instance, such as `sympy/sympy`. */
  repo: 'swt-bench.repo',
  /** Version of the repository, such as `1.7`. */
  version: 'swt-bench.version',
  /** Side of a container of a pair: `base` or `fixed`. */
  side: 'swt-bench.side',
  /** Digest of everything that an image was made from. */
  recipe: 'swt-bench.recipe',
} as const;

/**
 * `pair`: a sandbox; `build`: a container that becomes an image; `probe`: a container that inspects
 * an image; `program`: a volume with the program of an agent, and the container that fills it.
 */
export const containerKinds = ['pair', 'build', 'probe', 'program'] as const;
export type ContainerKind = (typeof containerKinds)[number];
type ImageKind = 'environment' | 'instance';

/** What a container or image is for, as far as that is known. */
export interface Purpose {
  readonly instance?: string | undefined;
  readonly repo?: string | undefined;
  readonly version?: string | undefined;
  readonly side?: string | undefined;
  readonly recipe?: string | undefined;
}

/** The purpose of what is made for one instance. */
export const purposeOf = ({ id, repo, version }: Instance): Purpose => ({
  ...{ instance: id, repo, version },
});

/**
 * Labels of a container of this process. When someone else starts a container from our image, it
 * inherits the labels of the image. So only a container with a kind of its own and an owner is
 * ours.
 */
export async function containerLabels(
  kind: ContainerKind,
  purpose: Purpose = {},
): Promise<Record<string, string>> {
  return { ...labelled(kind, purpose), [labels.owner]: await ownerWord() };
}

/**
 * Labels of an image. The owner is empty rather than absent, because an image inherits the labels
 * of the container that it is committed from.
 */
export function imageLabels(kind: ImageKind, purpose: Purpose = {}): Record<string, string> {
  return { ...labelled(kind, purpose), [labels.owner]: '' };
}

function labelled(kind: ContainerKind | ImageKind, purpose: Purpose): Record<string, string> {
  const known = Object.entries(purpose).flatMap(([key, value]: [string, unknown]) =>
    typeof value === 'string' ? [[labels[key as keyof Purpose], value] as const] : [],
  );
  return {
    [labels.made]: '1',
    [labels.kind]: kind,
    ...Object.fromEntries(known),
  };
}

/** The filter for the engine's lists that selects only what is made here. */
export const madeHere = { label: [`${labels.made}=1`] };
