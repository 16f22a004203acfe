import type { PythonModule } from '../../python/module';
import type { CustomBlock } from './parseCustom';
import type { BlockImport } from './blockCode';
import { importKey, type CustomFile } from './customFile';
import { headEnd } from './findHome';

/** Adds the imports of a block that the file lacks to the imports at the top of the file. */
export function addImports(
  file: CustomFile,
  block: CustomBlock,
  imports: readonly BlockImport[],
): void {
  for (const { statement, text, source } of imports) {
    const missing = statement.names
      .filter((name) => !file.imported.has(importKey(name)))
      .filter((name) => !importedBy(file.module).has(importKey(name)));
    if (missing.length === 0) continue;
    for (const name of missing) {
      file.imported.add(importKey(name));
      tellHidden(file, name, source.from);
    }
    const some = missing
      .map((n) => (n.alias === '' ? n.name : `${n.name} as ${n.alias}`))
      .join(', ');
    const from = missing[0]?.from ?? '';
    const whole = missing.length === statement.names.length;
    const written = whole ? text : [from === '' ? `import ${some}` : `from ${from} import ${some}`];
    const at = headEnd(file, statement.future ? (found) => found.future : undefined);
    file.edits.push({ kind: 'imports', from: at, to: at, text: written, block, source });
  }
}

const importedNames = new WeakMap<PythonModule, ReadonlySet<string>>();

/** The keys of the names that a module imports. */
function importedBy(module: PythonModule): ReadonlySet<string> {
  let keys = importedNames.get(module);
  if (keys === undefined) {
    const names = [...module.imports.flatMap((found) => found.names), ...module.guarded];
    importedNames.set(module, (keys = new Set(names.map(importKey))));
  }
  return keys;
}

/** Warns if the file imports the same name from elsewhere. */
function tellHidden(
  file: CustomFile,
  name: { from: string; name: string; alias: string },
  line: number,
): void {
  const bound = (n: typeof name): string =>
    n.alias !== '' ? n.alias : n.from === '' ? '' : n.name === '*' ? '' : n.name;
  const own = bound(name);
  if (own === '') return;
  const names = file.module.imports.flatMap((found) => found.names);
  const other = names.find((n) => bound(n) === own && importKey(n) !== importKey(name));
  if (other === undefined) return;
  file.tell({
    severity: 'warning',
    code: 'name-exists',
    line,
    message: `${file.path} imports ${own} from ${other.from === '' ? other.name : other.from} already; the new import would hide it`,
    hint: 'Import it under another name ("as …")',
  });
}
