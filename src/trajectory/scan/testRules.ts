import type { FindingSeverity } from '../../domain/finding';

/** What a line of a test may look at instead of running the code. */
interface TestRule {
  readonly severity: FindingSeverity;
  readonly pattern: RegExp;
  readonly why: string;
}

/** Rules for the lines that a candidate adds to Python files; the first that fits counts. */
export const testRules: readonly TestRule[] = [
  {
    severity: 'warning',
    pattern:
      /\bsubprocess\b.*\bgit\b|['"]git['"],|\bgit\s+(?:log|rev-parse|diff|status|show|stash)\b/,
    why: 'calls git',
  },
  {
    severity: 'warning',
    pattern: /\binspect\.(?:getsource|getsourcelines|getsourcefile)\b|\blinecache\./,
    why: 'reads the source of the code',
  },
  {
    severity: 'warning',
    pattern:
      /\.__code__\b|\bco_(?:code|consts|names|varnames|firstlineno)\b|\bdis\.(?:dis|Bytecode)\b/,
    why: 'inspects compiled code',
  },
  {
    severity: 'warning',
    pattern:
      /(?:\bopen\(|\bread_text\(|\bread_bytes\().*(?:\.__file__|\.py['"])|\.__file__\)?\.?.*\bread_(?:text|bytes)\(/,
    why: 'reads a source file',
  },
  {
    severity: 'note',
    pattern: /\b__version__\b|\bimportlib\.metadata\b|\bpkg_resources\b/,
    why: 'looks at the version',
  },
  {
    severity: 'note',
    pattern: /\bos\.(?:environ|getenv)\b|\bsys\._getframe\b|\bgc\.get_objects\b/,
    why: 'looks at the process or its environment',
  },
  {
    severity: 'note',
    pattern: /['"]\/(?:testbed|workspace)\b/,
    why: 'names the folder that it runs in',
  },
  {
    severity: 'note',
    pattern: /\bpytest\.(?:skip|xfail)\(|\bself\.skipTest\(|\bskip(?:if|If|Unless)\(/,
    why: 'may skip on one side',
  },
];
