/** A method whose published candidates are known to be made with the answer. */
interface KnownMethod {
  /** Matches the names of its rows (`model_name_or_path`) from their beginning. */
  readonly names: RegExp;
  /** What it sees of the answer: a part of a sentence, for people. */
  readonly why: string;
}

/**
 * Read in the sources and traces that these methods publish. The rows of `generate --method
 * assertflip` are called `assertflip/MODEL`, or `assertflip__MODEL` in the folders of the reference
 * harness. That method is reimplemented without the leak.
 */
const knownMethods: readonly KnownMethod[] = [
  {
    names: /^devstral[-_ ]?test[-_ ]?gen/i,
    why: 'its prompts name the fixed version, and it keeps tests that it has seen pass there',
  },
  {
    names: /^assert[-_ ]?flip(?!\/|__)/i,
    why: 'it takes the folder of its tests for SymPy from T*',
  },
];

/** Why the rows of this name are known to have looked at the answer; undefined for all others. */
export const whyAnswerSeen = (model: string): string | undefined =>
  knownMethods.find(({ names }) => names.test(model))?.why;

/**
 * The name of a row whose candidates are made or picked with the answer: with X* or T* in the
 * prompt, or by a verdict on R∘X*. Every table, plot and list shows such a row under this name.
 */
export const markedAsOracle = (name: string): string => `${name} (oracle)`;
