/** `f(): unexpected keyword argument 'x'` of Python, with function and argument. */
export const unexpectedArgument =
  /(?:^|\s)([\w.<>]+)\(\) got an unexpected keyword argument '([^']+)'/;

/** `Class.name` of a missing attribute; undefined for any other text, and for None. */
export function missingAttribute(text: string): string | undefined {
  const [, module, type, object, name] =
    /^(?:(?:partially initialized )?module '([^']+)'|type object '([^']+)'|'([^']+)' object) has no attribute '([^']+)'/.exec(
      text,
    ) ?? [];
  const owner = module ?? type ?? object;
  // Many issues are about a value that is None by mistake.
  if (owner === undefined || name === undefined || owner === 'NoneType') return undefined;
  return `${owner}.${name}`;
}

/**
 * The module, fixture or name that the message of an exception says is missing, dotted where it
 * names the owner: `cats.purr`, `f(loud=…)`. Undefined where it names none. Untrusted.
 */
export function missingName(text: string): string | undefined {
  const imported =
    /cannot import name '?([\w.]+)'?(?: from (?:partially initialized module )?'([^']+)')?/.exec(
      text,
    );
  if (imported !== null) {
    return imported[2] === undefined ? imported[1] : `${imported[2]}.${imported[1]}`;
  }
  const argument = unexpectedArgument.exec(text);
  if (argument !== null) return `${argument[1]}(${argument[2]}=…)`;
  return (
    /No module named '?([\w.]+)'?/.exec(text)?.[1] ??
    /fixture '([^']*)' not found/.exec(text)?.[1] ??
    /\bname '([^']+)' is not defined/.exec(text)?.[1] ??
    /\(\) missing \d+ required positional arguments?: (.+)$/m
      .exec(text)?.[1]
      ?.replaceAll("'", '') ??
    missingAttribute(text)
  );
}
