/** Folders that hold packages and are none themselves. */
const roots = /^(?:src|lib|python)\//;

/** The names under which the modules of R at the top are imported, by its paths. */
export function modulesOf(paths: readonly string[]): ReadonlySet<string> {
  const names = paths.flatMap((path) => {
    const inside = path.replace(roots, '');
    const name = /^(\w+)(?:\.py|\/(?:__init__\.py|.*\.pyx?))$/.exec(inside)?.[1];
    return name === undefined || /^(?:setup|conftest|tests?|docs?|__init__)$/.test(name)
      ? []
      : [name];
  });
  return new Set(names);
}

/**
 * Whether a script imports one of these modules, or starts one as a program. A script that does
 * neither shows nothing about R.
 */
export function usesModules(script: string, modules: ReadonlySet<string>): boolean {
  if (modules.size === 0) return true;
  const imported = script.matchAll(/^[ \t]*(?:from|import)[ \t]+([^\n#]+)/gm);
  for (const [, names = ''] of imported) {
    for (const [name] of names.split(/\simport\s/, 1)[0]?.matchAll(/[A-Za-z_]\w*/g) ?? []) {
      if (modules.has(name)) return true;
    }
  }
  // import_module("name"), ["python", "-m", "name"], "name --option"
  const texts = script.matchAll(/["']([A-Za-z_]\w*)\b|-m[ \t]+([A-Za-z_]\w*)/g);
  for (const [, first = '', second = ''] of texts) {
    if (modules.has(first) || modules.has(second)) return true;
  }
  return false;
}
