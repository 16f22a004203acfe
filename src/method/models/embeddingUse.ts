import { parseModelName } from './openModel';

/** How a run uses an embedding model. */
export interface EmbeddingUse {
  /** `PROVIDER/NAME`. */
  readonly name: string;
  /** Address of the provider; undefined for its default. */
  readonly baseUrl: string | undefined;
  /** Dollars for a million tokens; undefined if unknown. */
  readonly price: number | undefined;
}

/**
 * An embedding model beside the model that answers. Without an address of its own it has that of the
 * other, where the provider is the same.
 *
 * @throws HumanError when its name is not `PROVIDER/NAME`
 */
export function embeddingBeside(
  embedding: EmbeddingUse,
  model: { readonly name: string; readonly baseUrl?: string | undefined },
): EmbeddingUse {
  const { provider } = parseModelName(embedding.name);
  const isSame = model.name.startsWith(`${provider}/`);
  return { ...embedding, baseUrl: embedding.baseUrl ?? (isSame ? model.baseUrl : undefined) };
}
