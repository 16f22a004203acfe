import type { Node, PythonParser } from '../parser';
import { bindingsIn, type Bindings } from './bindings';
import {
  longestSource,
  nodesOn,
  observe,
  type ObservationCondition,
  type LineSpan,
  type Observation,
} from './observation';
import {
  callArguments,
  keywordOf,
  moduleOf,
  normal,
  ownerOf,
  pathValueOf,
  stringOf,
  type Owner,
  type PathValue,
} from './paths';

/** What functions do to the path in their first argument. */
const pathFunctions: Readonly<Record<string, string>> = {
  ...all('opens', [
    ...['open', 'builtins.open', 'io.open', 'io.FileIO', 'codecs.open', 'os.open'],
    ...['tokenize.open', 'linecache.getline', 'linecache.getlines', 'linecache.updatecache'],
    ...['shutil.copy', 'shutil.copy2', 'shutil.copyfile', 'shutil.copytree', 'filecmp.cmp'],
    ...['filecmp.dircmp', 'py_compile.compile', 'compileall.compile_dir', 'mmap.mmap'],
    ...['fileinput.input', 'hashlib.file_digest', 'numpy.fromfile', 'numpy.loadtxt'],
    ...['io.open_code', '_io.open', '_io.open_code', '_io.FileIO', 'posix.open'],
    'fileinput.FileInput',
  ]),
  // These let a test read a file under another name.
  ...all('moves or links', [
    ...['os.rename', 'os.renames', 'os.replace', 'os.link', 'os.symlink', 'shutil.move'],
  ]),
  ...all('lists', [
    ...['os.listdir', 'os.scandir', 'os.walk', 'glob.glob', 'glob.iglob', 'os.path.exists'],
    ...['os.path.isfile', 'os.path.isdir', 'os.path.lexists', 'os.readlink'],
  ]),
  ...all('looks at times or sizes of', [
    ...['os.stat', 'os.lstat', 'os.path.getmtime', 'os.path.getctime', 'os.path.getatime'],
    'os.path.getsize',
  ]),
};

/** The same for methods of a path. */
const pathMethods: Readonly<Record<string, string>> = {
  ...all('opens', ['open', 'read_text', 'read_bytes', 'read', 'read_binary', 'readlines']),
  ...all('lists', ['iterdir', 'glob', 'rglob', 'exists', 'is_file', 'is_dir', 'listdir', 'visit']),
  ...all('looks at times or sizes of', ['stat', 'lstat', 'mtime', 'size']),
};

function all(what: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, what]));
}

/** Functions that return the source text of their argument. */
const sourceFunctions =
  /^(inspect\.(getsource|getsourcelines|getcomments|findsource|getblock)|dill\.source\.\w+|textwrap\.getsource)$/;

/** Functions that return files of a package, which is their first argument. */
const packageData =
  /^(pkgutil\.get_data|importlib\.resources\.(read_text|read_binary|open_text|open_binary|contents|is_resource)|importlib_resources\.(read_text|read_binary|open_text|open_binary)|pkg_resources\.resource_(string|stream|listdir|exists))$/;

/** Functions that return the loader of a module, which is their first argument. */
const loaders =
  /^(importlib\.machinery\.\w+Loader|importlib\.(find_loader|util\.find_spec)|pkgutil\.(get|find)_loader)$/;

/** Standard modules that show the source of their arguments when run with `-m`. */
const showing = /^(inspect|dis|ast|tokenize|symtable|pyclbr|py_compile|compileall)$/;

/** Endings of files in a package that are code or may describe changes. Other files are data. */
const endsAsCode = /^(pyi?|py[cox]|pxd|pxi|so|pyd|c|h|cc|cpp|hpp|f|f90|rst|md|toml|cfg|ini)$/i;
const tellsChanges = /version|change|news|history|release/i;

const codeAttributes =
  /^(__code__|func_code|co_(code|consts|lines|lnotab|linetable|firstlineno|names|varnames|cellvars|freevars|stacksize|nlocals|flags|filename|positions|exceptiontable))$/;

/** Fields of code objects that say where the code comes from. */
const codePlaces = ['co_filename', 'co_firstlineno', 'co_linetable', 'co_lnotab'];

const starters =
  /^(subprocess\.(run|call|check_call|check_output|Popen|getoutput|getstatusoutput)|os\.(system|popen|exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?)|asyncio\.(subprocess\.)?create_subprocess_(exec|shell)|pexpect\.\w+|sh\.\w+)$/;

/** Programs that print files or facts about them. */
const readers =
  /^(cat|head|tail|tac|less|more|grep|egrep|fgrep|rg|ag|sed|awk|cut|sort|diff|cmp|find|ls|stat|wc|nl|od|dd|mv|ln|zip|gzip|base64|comm|paste|rev|xxd|hexdump|strings|md5sum|sha1sum|sha224sum|sha256sum|sha512sum|cksum|file|tar|cp|rsync)$/;

/** Modules that read a git repository. */
const gitModules = /^(git|dulwich|pygit2|gitdb|hglib)(\.|$)/;

const introspection: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/^sys\.monitoring(\.|$)/, 'looks for what counts executed lines'],
  [/^(sys|threading)\.(set|get)(trace|profile)$/, 'looks for what counts executed lines'],
  [/^trace\.(Trace|CoverageResults)$/, 'looks for what counts executed lines'],
  [/^sys\.addaudithook$/, 'listens to what the interpreter does'],
  [/^sys\._current_frames$|^inspect\.(stack|getouterframes)$/, 'walks the frames of its callers'],
  [/^gc\.get_(objects|referrers|referents)$/, 'searches the objects of the process'],
  [
    // The types of numbers and arrays in `ctypes` give no access to the interpreter.
    /^ctypes\.(pythonapi|pydll|PyDLL|cdll|CDLL|memmove|memset|w?string_at|cast|py_object|addressof)(\.|$)|^ctypes\..*\.from_address$/,
    'reaches into the memory of the process',
  ],
  [/^swt_\w+(\.|$)/, 'looks for what records the run'],
];

const versions =
  /(^|\.)(__version__|__version_info__|VERSION|version_info|__git_version__|__revision__)$/;
const versionFunctions =
  /^(importlib\.metadata|importlib_metadata)\.(version|distribution|metadata|files)$|^pkg_resources\.(get_distribution|require)$/;

/** Expressions that say where a run takes place: the folder, the file, the machine. */
const places =
  /^(os\.getcwd|os\.getcwdb|pathlib\.Path\.cwd|socket\.gethostname|platform\.node|os\.uname|uuid\.getnode|__file__)$/;

/**
 * Calls that convert their argument, so that a comparison of their result concerns the argument.
 */
const forms =
  /^(str|repr|len|hash|int|bool|bytes|tuple|list|set|sorted|min|max|sum|ord|any|all|next|os\.path\.(?!exists|is|lexists|get|same)\w+|os\.fspath|pathlib\.\w+|pathlib\.Path\.\w+|packaging\.version\.\w+|distutils\.version\.\w+|hashlib\.\w+|re\.\w+|pkg_resources\.parse_version|(?:\w+\.)*(?:parse_version|LooseVersion|StrictVersion|Version))$/;
const textMethods =
  /^(startswith|endswith|split|rsplit|splitlines|partition|rpartition|find|rfind|index|count|lower|upper|strip|lstrip|rstrip|replace|encode|decode|join|format|resolve|absolute|as_posix|relative_to|match|search|fullmatch|hexdigest|digest|__contains__|__eq__|is_relative_to|public|base_version|release)$/;

/**
 * Finds places where a source does something else than run the code under test. It may read files
 * of the repository, call git, or inspect code, versions, places and its own process. The search
 * uses only the text: it follows names through imports and assignments, and executes nothing.
 *
 * @param spans lines to look at
 * @param path of the source, relative to the root of the tree
 */
export function findSourceReads(
  python: PythonParser,
  source: string,
  { path, spans }: { readonly path: string; readonly spans: readonly LineSpan[] },
): Observation[] {
  if (spans.length === 0) return [];
  // Honest files of tests are shorter. A longer one may be meant to escape the examination.
  if (source.length > longestSource) return [tooMuch(source.split('\n', 1))];
  return python.parse(source, (root) => {
    const bindings = bindingsIn(root);
    const lines = source.split('\n');
    const found: Observation[] = [];
    const note: Note = (node, what, condition) => {
      found.push(observe(node, what, lines, condition));
    };
    const types = [
      ...['call', 'attribute', 'identifier', 'string', 'import_statement'],
      ...['import_from_statement', 'comparison_operator', 'assert_statement'],
    ];
    const { nodes, whole } = nodesOn(root, types, spans);
    for (const node of nodes) {
      switch (node.type) {
        case 'call':
          readCall(node, bindings, path, note);
          break;
        case 'attribute':
          readAttribute(node, bindings, note);
          break;
        case 'identifier':
          readIdentifier(node, bindings, note);
          break;
        case 'string':
          readString(node, note);
          break;
        case 'comparison_operator':
        case 'assert_statement':
          readJudgement(node, operandsOf(node), bindings, note);
          break;
        default:
          readImport(node, note);
      }
    }
    if (bindings.isSpent() || !whole) found.push(tooMuch(lines));
    return once(found);
  });
}

const tooMuch = (lines: readonly string[]): Observation => ({
  line: 1,
  what: 'begins a file that is too long or too entangled to be examined completely',
  text: lines[0]?.trim() ?? '',
});

type Note = (node: Node, what: string, condition?: ObservationCondition) => void;

/** Keeps one of several equal observations on a line, in the order of the source. */
function once(found: readonly Observation[]): Observation[] {
  const seen = new Map<string, Observation>();
  for (const each of found) {
    const key = `${each.line} ${each.what}`;
    const known = seen.get(key);
    if (known === undefined || (known.condition !== undefined && each.condition === undefined)) {
      seen.set(key, each);
    }
  }
  return [...seen.values()].sort((a, b) => a.line - b.line);
}

function readCall(call: Node, bindings: Bindings, path: string, note: Note): void {
  const callee = call.childForFieldName('function');
  if (callee === null) return;
  const name = bindings.dotted(callee) ?? '';
  const given = callArguments(call);
  const [first] = given;
  const function_ = Object.hasOwn(pathFunctions, name) ? pathFunctions[name] : undefined;
  if (function_ !== undefined && !(name === 'open' && bindings.defines('open'))) {
    // Of several files only the first is examined.
    const file = /^(list|tuple)$/.test(first?.type ?? '') ? first?.namedChild(0) : first;
    if (file) readPath(call, pathValueOf(file, bindings, path), function_, note);
    return;
  }
  // A line counter cannot distinguish the lines of such code from those of the file.
  if (name === 'compile' && given[1] !== undefined && !bindings.defines('compile')) {
    readPath(call, pathValueOf(given[1], bindings, path), 'compiles code in the name of', note);
  }
  const method = callee.childForFieldName('attribute')?.text ?? '';
  const changes = method === 'replace' && codePlaces.some((each) => keywordOf(call, each));
  if (changes || name === 'types.CodeType') note(call, 'changes compiled code');
  if (/^get_(source|data|code)$/.test(method)) readLoader(call, bindings, note);
  const ofPath = Object.hasOwn(pathMethods, method) ? pathMethods[method] : undefined;
  const object = callee.childForFieldName('object');
  if (callee.type === 'attribute' && ofPath !== undefined && object !== null) {
    const value = pathValueOf(object, bindings, path);
    // Strings have no such methods, and any other expression of this kind is no path.
    if (value.start !== 'as written' || isPathCall(object, bindings)) {
      readPath(call, value, ofPath, note);
    }
  }
  if (sourceFunctions.test(name) && first !== undefined) {
    readOwned(call, ownerOf(first, bindings), 'reads the source of code', note);
  }
  if (/^pyclbr\.readmodule(_ex)?$/.test(name) && first !== undefined) {
    readOwned(call, ownerOf(first, bindings), 'reads the source of code', note);
  }
  if (/^dis\.\w+$/.test(name) && first !== undefined) {
    readOwned(call, ownerOf(first, bindings), 'inspects compiled code', note);
  }
  if (packageData.test(name) && first !== undefined) {
    const of = moduleOf(first, bindings);
    const file = given[1] === undefined ? undefined : pathValueOf(given[1], bindings, path);
    if (of !== undefined && (file === undefined || !isData(file)))
      note(call, 'opens a file of a package', inR(of));
  }
  // The test's own frame gives no access to others by itself.
  if (name === 'sys._getframe' && first !== undefined && first.text !== '0') {
    note(call, 'walks the frames of its callers');
  }
  if (starters.test(name)) readCommand(call, given, bindings, path, note);
  if (/^assert[A-Z_]/.test(method) || /^(startswith|endswith|match|search)$/.test(method)) {
    const operands = /^assert/.test(method) || object === null ? given : [object, ...given];
    readJudgement(call, operands, bindings, note);
  }
}

/** Notes a call of a module's loader that returns source or code. */
function readLoader(call: Node, bindings: Bindings, note: Note): void {
  const what = 'reads the source of code';
  let object = call.childForFieldName('function')?.childForFieldName('object') ?? null;
  for (let depth = 0; object !== null && depth < 12 && bindings.step(); depth++) {
    const value: Node = bindings.valueOf(object) ?? object;
    const attribute = value.childForFieldName('attribute')?.text ?? '';
    if (value.type === 'attribute' && /^__(loader|spec)__$/.test(attribute)) {
      readOwned(call, ownerOf(value, bindings), what, note);
      return;
    }
    if (value.type === 'call') {
      const callee = value.childForFieldName('function');
      const [first] = callArguments(value);
      const made = callee !== null && loaders.test(bindings.dotted(callee) ?? '');
      const of = made && first !== undefined ? moduleOf(first, bindings) : undefined;
      if (of !== undefined) note(call, what, inR(of));
      return;
    }
    object = value.type === 'attribute' ? value.childForFieldName('object') : null;
  }
}

/** Whether a path ends with a data file: one that is not code and does not describe changes. */
function isData({ parts }: PathValue): boolean {
  const name = parts.at(-1) ?? '';
  const ending = /\.(\w+)$/.exec(name)?.[1];
  return (
    ending !== undefined &&
    !/[?*[]/.test(name) &&
    !endsAsCode.test(ending) &&
    !tellsChanges.test(name)
  );
}

function isPathCall(node: Node, bindings: Bindings, depth = 0): boolean {
  if (depth > 12 || !bindings.step()) return false;
  const value = bindings.valueOf(node) ?? node;
  if (value.type === 'binary_operator') {
    const left = value.childForFieldName('left');
    return left !== null && isPathCall(left, bindings, depth + 1);
  }
  const callee = value.type === 'call' ? value.childForFieldName('function') : null;
  if (callee === null) return false;
  if (/^pathlib\.|^py\.path\.local$/.test(bindings.dotted(callee) ?? '')) return true;
  const object = callee.childForFieldName('object');
  return callee.type === 'attribute' && object !== null && isPathCall(object, bindings, depth + 1);
}

const inR = (module: string): ObservationCondition | undefined =>
  // A relative import refers to the tree of the test.
  module.startsWith('.') ? undefined : { packageOfR: module };

function readOwned(node: Node, owner: Owner, what: string, note: Note): void {
  if (owner.kind === 'own' || owner.kind === 'result') return;
  note(node, what, owner.kind === 'module' ? inR(owner.name) : undefined);
}

/** Notes a path that leads, or may lead, to the sources of the repository. */
function readPath(node: Node, value: PathValue, does: string, note: Note): void {
  if (value.start === 'temporary') return;
  const parts = normal(value.parts);
  if (parts.some((part) => part === '.git')) {
    note(node, 'looks into .git');
    return;
  }
  if (value.start === 'module') {
    if (isData(value)) return;
    const what = `${does} files of a package by the place of its module`;
    note(node, what, value.module === undefined ? undefined : inR(value.module));
    return;
  }
  if (value.start === 'as written' && value.parts[0] === '' && value.parts.length > 1) return;
  const at = parts.findIndex((part) => part.includes('?') || /[*[]/.test(part));
  const known = at < 0 ? parts : parts.slice(0, at);
  const [top] = known;
  if (value.start === 'unknown') {
    // Wherever the path begins, its rest is the path of a source.
    const rest = parts.slice(parts.findLastIndex((part) => part.includes('?')) + 1);
    if (rest.length > 1) note(node, `${does} files of the repository`, filesAt(rest, []));
    return;
  }
  if (top === '..') {
    const where =
      value.start === 'as written' ? 'above its working directory' : 'outside the repository';
    if (value.start !== 'as written' || known.length > 1) note(node, `${does} files ${where}`);
    return;
  }
  if (value.start === 'as written') {
    if (known.length > 0) note(node, `${does} files of the repository`, filesAt(known, parts));
    return;
  }
  if (known.length === 0) note(node, `${does} files of the repository`);
  else note(node, `${does} files of the repository`, filesAt(known, parts));
}

/** The condition that a path is a file of R, or a package of R. */
function filesAt(known: readonly string[], whole: readonly string[]): ObservationCondition {
  const path = known.join('/');
  // If the end of the path is unknown, its folder counts.
  return known.length === whole.length || whole.length === 0
    ? { fileOfR: [path, `${path}/__init__.py`] }
    : { fileOfR: [`${path}/__init__.py`] };
}

function readCommand(
  call: Node,
  given: readonly Node[],
  bindings: Bindings,
  path: string,
  note: Note,
): void {
  const folder = keywordOf(call, 'cwd');
  if (folder !== undefined && pathValueOf(folder, bindings, path).start === 'temporary') return;
  for (const words of commandsOf(given, bindings)) {
    const [program = '', ...rest] = words;
    const name = program.slice(program.lastIndexOf('/') + 1);
    if (name === 'git' || name === 'hg') {
      const command = rest.find((word) => !word.startsWith('-')) ?? '';
      if (!/^(init|config)$/.test(command)) note(call, `runs ${name}`);
    } else if (/^(\?|(python|pypy)[\d.]*)$/.test(name) && rest[0] === '-m') {
      const [, module = '', ...of] = rest;
      if (showing.test(module)) readShown(call, module, of, note);
    } else if (readers.test(name)) {
      if (rest.some((word) => word.split('/').includes('.git'))) note(call, 'looks into .git');
      const paths = rest
        .map((word) => word.replace(/^if=/, ''))
        // Replace a pattern by its folder.
        .map((word) => (/[*?[]/.test(word) ? word.replace(/[^/]*[*?[].*$/s, '') : word))
        .filter((word) => /^[\w.][\w./-]*$/.test(word))
        .map((word) => normal(word.split('/')));
      const named = paths.filter((parts) => parts.length > 0).flatMap(fileOrPackage);
      if (named.length > 0)
        note(call, `runs ${name} on files of the repository`, { fileOfR: named });
    }
  }
}

const fileOrPackage = (parts: readonly string[]): string[] => [
  parts.join('/'),
  `${parts.join('/')}/__init__.py`,
];

/**
 * Notes the run of a standard module that shows sources, with the files and modules in its
 * arguments.
 */
function readShown(call: Node, module: string, given: readonly string[], note: Note): void {
  const what = `runs ${module} on files of the repository`;
  for (const word of given.filter((each) => /^[\w.][\w./-]*$/.test(each))) {
    const isPath = word.includes('/') || word.endsWith('.py');
    note(call, what, isPath ? { fileOfR: fileOrPackage(normal(word.split('/'))) } : inR(word));
  }
}

/** The commands that a call starts, as lists of words, as far as they are literal. */
function commandsOf(given: readonly Node[], bindings: Bindings): string[][] {
  const [first] = given;
  if (first === undefined) return [];
  const value = first.type === 'identifier' ? (bindings.valueOf(first) ?? first) : first;
  if (value.type === 'list' || value.type === 'tuple') {
    return [wordsOf(value.namedChildren.filter((each) => each !== null))];
  }
  const strings = value.type === 'string' || value.type === 'concatenated_string';
  if (!strings) return [];
  const text =
    value.type === 'string'
      ? stringOf(value)
      : value.namedChildren.map((each) => (each === null ? '' : stringOf(each))).join('');
  const words = text.trim().split(/\s+/);
  // `execlp('git', 'git', 'log')` and `create_subprocess_exec('git', 'log')`.
  if (words.length === 1 && given.length > 1) return [[text, ...wordsOf(given.slice(1))]];
  return text.split(/[;&|\n()`]+/).map((each) => each.trim().split(/\s+/));
}

const wordsOf = (nodes: readonly Node[]): string[] =>
  nodes.map((each) => (each.type === 'string' ? stringOf(each) : '?'));

function readAttribute(node: Node, bindings: Bindings, note: Note): void {
  // The longest chain is noted instead.
  if (node.parent?.type === 'attribute') {
    const outer = bindings.dotted(node.parent);
    if (outer !== undefined && introspection.some(([pattern]) => pattern.test(outer))) return;
  }
  const attribute = node.childForFieldName('attribute')?.text ?? '';
  const object = node.childForFieldName('object');
  if (codeAttributes.test(attribute) && object !== null && !endsWithCode(object)) {
    readOwned(node, ownerOf(object, bindings), 'inspects compiled code', note);
  }
  if (attribute === 'f_back') note(node, 'walks the frames of its callers');
  readName(node, bindings.dotted(node), note);
}

/** Whether the inner attribute is noted already, as in `f.__code__.co_code`. */
const endsWithCode = (node: Node): boolean =>
  node.type === 'attribute' && codeAttributes.test(node.childForFieldName('attribute')?.text ?? '');

function readIdentifier(node: Node, bindings: Bindings, note: Note): void {
  const { parent } = node;
  // Names in imports, attributes and names of keyword arguments are examined with these nodes.
  if (parent?.type === 'attribute' || parent?.type === 'keyword_argument') return;
  if (/^(dotted_name|aliased_import|parameters)$/.test(parent?.type ?? '')) return;
  const from = bindings.imported(node.text);
  if (from !== undefined && from.includes('.')) readName(node, from, note);
}

function readName(node: Node, name: string | undefined, note: Note): void {
  if (name === undefined) return;
  for (const [pattern, what] of introspection) if (pattern.test(name)) note(node, what);
}

function readString(node: Node, note: Note): void {
  const text = stringOf(node);
  if (/\bSWT_[A-Z]|\bswt_(tracer|outcomes|runner|lines|bytecode|rewrite)/.test(text)) {
    note(node, 'looks for what records the run');
  }
  if (/^\/proc(\/|$)/.test(text)) note(node, 'looks into /proc');
  if (codeAttributes.test(text)) note(node, 'inspects compiled code');
}

function readImport(node: Node, note: Note): void {
  const from = node.childForFieldName('module_name')?.text;
  for (const child of node.childrenForFieldName('name')) {
    const name =
      from ??
      (child?.type === 'aliased_import' ? child.childForFieldName('name') : child)?.text ??
      '';
    const [top = ''] = name.split('.');
    if (gitModules.test(name)) note(node, `imports ${top}`, { notOfR: top });
    readName(node, /^(ctypes|swt_\w+)$/.test(top) ? name : undefined, note);
  }
}

function operandsOf(node: Node): Node[] {
  const children = node.namedChildren.filter((each) => each !== null);
  // The message of an assertion is not part of the comparison.
  return node.type === 'assert_statement' ? children.slice(0, 1) : children;
}

/**
 * Notes a comparison of a literal with a version of the code under test, or with the place of the
 * run. A comparison with anything else may have a good reason, such as with a temporary folder, or
 * of a version with itself.
 */
function readJudgement(
  node: Node,
  operands: readonly Node[],
  bindings: Bindings,
  note: Note,
): void {
  const read = operands.map((operand) => atomsOf(operand, bindings));
  const isBare = node.type === 'assert_statement' || operands.length === 1;
  if (!isBare && !read.some((atoms) => atoms.isLiteral)) return;
  for (const atoms of read) {
    // `assert version` compares nothing. A call or a comparison in it is a node of its own.
    if (isBare && !atoms.literals) continue;
    for (const of of atoms.versions) {
      note(node, 'compares a version', of === undefined ? undefined : inR(of));
    }
    for (const of of atoms.places) {
      note(node, 'compares where it runs', of === undefined ? undefined : inR(of));
    }
  }
}

interface Atoms {
  /** Modules whose version the operand contains; undefined if the module is unknown. */
  readonly versions: (string | undefined)[];
  /** Modules whose file the operand contains; undefined for the place of the run itself. */
  readonly places: (string | undefined)[];
  /** Whether the operand contains a literal. */
  literals: boolean;
  /** Whether the operand consists of literals alone. */
  isLiteral: boolean;
}

function atomsOf(operand: Node, bindings: Bindings): Atoms {
  const atoms: Atoms = { versions: [], places: [], literals: false, isLiteral: true };
  collect(operand, bindings, atoms, 0);
  return atoms;
}

function collect(node: Node, bindings: Bindings, atoms: Atoms, depth: number): void {
  if (depth > 12 || !bindings.step()) return;
  const next = (inner: Node | null): void => {
    if (inner !== null) collect(inner, bindings, atoms, depth + 1);
  };
  switch (node.type) {
    case 'string':
    case 'concatenated_string':
    case 'integer':
    case 'float':
    case 'true':
    case 'false':
      if (node.text.includes('{')) for (const child of node.namedChildren) next(child);
      atoms.literals = true;
      return;
    case 'string_content':
    case 'string_start':
    case 'string_end':
      return;
    case 'none':
      // A comparison with None asks only whether there is a file.
      atoms.isLiteral = false;
      return;
    case 'identifier':
    case 'attribute': {
      const name = bindings.dotted(node) ?? '';
      if (noteAtom(node, name, bindings, atoms)) return;
      const value = bindings.valueOf(node);
      if (value === undefined) atoms.isLiteral = false;
      else next(value);
      return;
    }
    case 'call': {
      collectCall(node, bindings, atoms, next);
      return;
    }
    case 'comparison_operator':
    case 'lambda':
    case 'list_comprehension':
    case 'generator_expression':
      atoms.isLiteral = false;
      return;
    default:
      for (const child of node.namedChildren) next(child);
  }
}

/** Notes a name of a version or a place, and returns whether it is one. */
function noteAtom(node: Node, name: string, bindings: Bindings, atoms: Atoms): boolean {
  const object = node.type === 'attribute' ? node.childForFieldName('object') : null;
  if (versions.test(name) && !name.startsWith('sys.')) {
    const of = object === null ? bindings.imported(node.text) : moduleOf(object, bindings);
    // A name that the test itself defines, such as a constant.
    if (of === undefined) return false;
    atoms.versions.push(of);
    atoms.isLiteral = false;
    return true;
  }
  if (places.test(name) || rootName.test(name)) {
    atoms.places.push(undefined);
    atoms.isLiteral = false;
    return true;
  }
  if (object !== null && /\.(__file__|__path__)$/.test(name)) {
    const of = moduleOf(object, bindings);
    // A module that the test makes or loads itself lies where the test puts it.
    if (of !== undefined) atoms.places.push(of);
    atoms.isLiteral = false;
    return true;
  }
  return false;
}

/** Names of pytest for the root of the tree. */
const rootName = /^(pytestconfig|request\.config)\.(rootdir|rootpath|invocation_dir)$/;

function collectCall(
  node: Node,
  bindings: Bindings,
  atoms: Atoms,
  next: (inner: Node | null) => void,
): void {
  const callee = node.childForFieldName('function');
  const name = (callee === null ? undefined : bindings.dotted(callee)) ?? '';
  const given = callArguments(node);
  if (callee !== null && places.test(name)) {
    atoms.places.push(undefined);
    atoms.isLiteral = false;
    return;
  }
  if (versionFunctions.test(name) && given[0] !== undefined) {
    const of = moduleOf(given[0], bindings);
    atoms.versions.push(of?.replaceAll('-', '_'));
    atoms.isLiteral = false;
    return;
  }
  if (/(^|\.)get_version$/.test(name) && given.length === 0 && callee !== null) {
    const of = moduleOf(callee, bindings);
    if (of !== undefined) atoms.versions.push(of);
    atoms.isLiteral = false;
    return;
  }
  const method = callee?.type === 'attribute' ? callee.childForFieldName('attribute') : null;
  if (method !== null && textMethods.test(method.text)) {
    next(callee?.childForFieldName('object') ?? null);
    for (const argument of given) next(argument);
    return;
  }
  if (forms.test(name)) {
    for (const argument of given) next(argument);
    return;
  }
  atoms.isLiteral = false;
}
