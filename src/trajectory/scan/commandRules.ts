import type { FindingSeverity, TrajectoryFindingKind } from '../../domain/finding';

/** What a rule says of a command or of code. */
interface Rule {
  readonly kind: TrajectoryFindingKind;
  readonly severity: FindingSeverity;
  readonly pattern: RegExp;
  /** Not what it looks like. */
  readonly unless?: RegExp;
  readonly why?: string;
}

/** `git` with options before the name of its command. */
const git = String.raw`^git(?:\s+(?:-C\s+\S+|-c\s+\S+|--\S+))*\s+`;
const rule = (text: string): RegExp => new RegExp(text, 's');

/** A place on this machine, to which no network is needed. */
const local = /\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0)\b|::1|file:\/\//;

/** Rules for simple commands of a shell, in the order in which they are tried; all that fit count. */
export const commandRules: readonly Rule[] = [
  {
    kind: 'history',
    severity: 'warning',
    pattern: rule(`${git}(?:reflog|fsck|rev-list|cat-file|unpack-objects|verify-pack)\\b`),
    why: 'reaches objects beyond the base commit',
  },
  {
    kind: 'history',
    severity: 'warning',
    pattern: rule(
      `${git}\\w[\\w-]*\\s.*(?:--all\\b|--remotes\\b|--reflog\\b|\\borigin/|\\bFETCH_HEAD\\b|\\bORIG_HEAD\\b)`,
    ),
    unless: rule(`${git}(?:add|commit|branch|tag|push)\\b`),
    why: 'reaches beyond the base commit',
  },
  {
    kind: 'history',
    severity: 'warning',
    pattern: /\.git\/(?:objects|packed-refs|logs|refs|ORIG_HEAD|FETCH_HEAD)/,
    why: "reads git's files",
  },
  {
    kind: 'history',
    severity: 'note',
    pattern: rule(`${git}(?:log|blame|shortlog|whatchanged|tag|branch|show)\\b`),
    // The text of a file as it is at R.
    unless: rule(`${git}show\\s+HEAD:`),
    why: 'R has only one commit, so nothing later can be found',
  },
  {
    kind: 'dataset',
    severity: 'warning',
    pattern:
      /\bsw[et]-?bench|princeton-nlp|huggingface\.co|\.cache\/huggingface|\bload_dataset\b|\bhf_hub_download\b/i,
  },
  {
    kind: 'dataset',
    severity: 'warning',
    pattern: /\b(?:FAIL_TO_PASS|PASS_TO_PASS|gold(?:en)?_patch|test_patch|hints_text)\b/,
    why: 'names a dataset field',
  },
  {
    kind: 'network',
    severity: 'warning',
    pattern:
      /^(?:\S*\/)?(?:curl|wget|ssh|scp|sftp|nc|ncat|telnet|ftp|ping|dig|nslookup|gh|lynx|aria2c)(?:\s|$)/,
    unless: local,
  },
  {
    kind: 'network',
    severity: 'warning',
    pattern: /^(?:\S*\/)?browse(?:_interactive)?\b|^(?:goto|navigate|browser_\w+)\b/,
    unless: local,
  },
  {
    kind: 'network',
    severity: 'warning',
    pattern: rule(`${git}(?:clone|fetch|pull|push|ls-remote|submodule\\s+update)\\b`),
    unless: rule(`${git}clone\\s+(?:-\\S+\\s+)*(?:\\.|/|file:)`),
  },
  {
    kind: 'network',
    severity: 'warning',
    pattern:
      /^(?:\S*\/)?(?:pip[\d.]*|python[\d.]*\s+-m\s+pip|uv(?:\s+pip)?|pipx|conda|mamba|apt|apt-get|apk|yum|dnf|brew|npm|yarn|poetry|gem|cargo)\s+(?:install|download|add|sync|update|get)\b/,
    // What lies in the folder is installed without a network, but for what it needs.
    unless: /\s(?:\.(?:\[\S*\])?|\.\.?\/\S*|\/\S+|--no-index)(?:\s|$)/,
  },
];

/** Rules for programs within an action. */
export const codeRules: readonly Rule[] = [
  {
    kind: 'network',
    severity: 'note',
    pattern:
      /\b(?:requests|httpx)\.(?:get|post|put|head|request|Session)\(|\burllib\.request\b|\burlopen\(|\bhttp\.client\b|\bsocket\.create_connection\(|\baiohttp\.ClientSession\b/,
    unless: local,
    why: 'a program that can use the network',
  },
  {
    kind: 'dataset',
    severity: 'warning',
    pattern: /\bsw[et]-?bench|princeton-nlp|\bload_dataset\(|\bhf_hub_download\b/i,
  },
  {
    kind: 'history',
    severity: 'note',
    pattern: /['"]git['"],\s*['"](?:log|show|blame|reflog|fsck|cat-file)['"]/,
    why: 'a program that calls git',
  },
];

/** Rules about the package under test, by its names. Without a name, any package is only a note. */
export function packageRules(names: readonly string[]): readonly Rule[] {
  const name = names.map((each) => each.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  if (name === '') {
    return [
      {
        kind: 'installed copy',
        severity: 'note',
        pattern: /(?:site|dist)-packages\/\w/,
        why: 'the instance’s package is not known',
      },
    ];
  }
  return [
    {
      kind: 'installed copy',
      severity: 'warning',
      pattern: rule(String.raw`(?:site|dist)-packages/(?:${name})(?![\w-])`),
      why: 'reads the package where it is installed',
    },
    {
      kind: 'installed copy',
      severity: 'warning',
      pattern: rule(
        String.raw`^(?:\S*/)?(?:pip[\d.]*|python[\d.]*\s+-m\s+pip|uv(?:\s+pip)?|conda|mamba)\s+(?:install|download)\s(?:.*\s)?['"]?(?:${name})(?:\[\S*\])?['"]?(?:[=<>~!]=?|\s|$)`,
      ),
      why: 'downloads a released package, which may contain the fix',
    },
  ];
}
