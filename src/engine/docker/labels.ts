import { ownerWord } from '../../repository/owner';

/**
 * Labels of the containers and images that are made here: what has none of them is somebody else's and
 * is never touched. https://docs.docker.com/engine/manage-resources/labels/
 */
export const labels = {
  /** `1` on everything that is made here. */
  made: 'swt-bench.made',
  /** The process that uses a container, an `ownerWord`. */
  owner: 'swt-bench.owner',
  /** What it is, a {@link ContainerKind} or {@link ImageKind}. */
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
 * `pair`: a sandbox; `build`: a container that becomes an image; `probe`: a container that looks into an
 * image.
 */
export const containerKinds = ['pair', 'build', 'probe'] as const;
export type ContainerKind = (typeof containerKinds)[number];
export type ImageKind = 'environment' | 'instance';

/** What a container or image is for, as far as it is known. */
export interface Purpose {
  readonly instance?: string | undefined;
  readonly repo?: string | undefined;
  readonly version?: string | undefined;
  readonly side?: string | undefined;
  readonly recipe?: string | undefined;
}

/**
 * Labels of a container of this process. A container that somebody else starts from an image of ours
 * inherits the labels of the image: only a container's own kind together with an owner makes it ours.
 */
export async function containerLabels(
  kind: ContainerKind,
  purpose: Purpose = {},
): Promise<Record<string, string>> {
  return { ...labelled(kind, purpose), [labels.owner]: await ownerWord() };
}

/**
 * Labels of an image. The owner is empty and not absent: an image inherits the labels of the container
 * that it is committed from.
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

/** The filter of the engine's lists that leaves what is made here. */
export const madeHere = { label: [`${labels.made}=1`] };
