import * as l10n from '@vscode/l10n';
import type { Instance } from '../../domain/instance';
import { dayOf } from '../../environments/environmentPlan';
import { recipeOf, type Recipe } from '../../environments/recipes';
import { bundledProject } from '../../repository/source';
import { diffHtml } from './renderIssue';
import { escapeAttribute, escapeHtml } from './sanitise';

/** Splits an issue into title and body: datasets put the title into the first line. */
export function splitIssue(issue: string): { readonly title: string; readonly body: string } {
  const text = issue.replaceAll('\r\n', '\n').replace(/^\s*\n/, '');
  const end = text.indexOf('\n');
  const first = (end < 0 ? text : text.slice(0, end)).trim();
  const heading = /^#{1,6}\s+(.*)/.exec(first)?.[1];
  // A first line that begins a block belongs to the body.
  if (heading === undefined && /^(?:[>#`|~*-]\s|```|~~~)/.test(first)) {
    return { title: '', body: text };
  }
  return { title: heading ?? first, body: end < 0 ? '' : text.slice(end + 1) };
}

interface IssuePage {
  readonly instance: Instance;
  /** The body, made by `renderIssue`. */
  readonly body: string;
  /** The source text of the body, made by `renderIssue` from escaped text. */
  readonly source: string;
  /** What the developer has revealed; undefined while it is hidden. */
  readonly revealed: { readonly hints: string } | undefined;
  /** Whether an environment can be made: the instance is open. */
  readonly canMakeEnvironment: boolean;
  /** Whether it can be opened as a workspace: it is not open. */
  readonly canOpen: boolean;
}

export interface PageResources {
  readonly script: string;
  readonly style: string;
  /** `webview.cspSource`. */
  readonly cspSource: string;
  readonly nonce: string;
  /** Language of the window, for numbers. */
  readonly language: string;
}

/** The HTML document of the panel. Inserts `body`, `source` and `hints` without escaping. */
export function issueDocument(page: IssuePage, resources: PageResources): string {
  const { instance, revealed } = page;
  const { title } = splitIssue(instance.issue);
  return documentOf(
    instance.id,
    `<header>
<h1>${inlineCode(title === '' ? instance.id : title)}</h1>
${facts(instance, resources.language)}
${remarks(instance)}<p class="actions">
${page.canOpen ? button('openInstance', l10n.t('Open Instance')) : ''}<button type="button" class="quiet" data-do="source" aria-pressed="false">${escapeHtml(l10n.t('Plain text'))}</button>
${page.canMakeEnvironment ? button('environment', l10n.t('Create Environment')) : ''}${revealed === undefined ? '' : linkToGitHub(instance)}</p>
</header>
<main>
<article class="text rendered">${page.body}</article>
<article class="text source" hidden>${page.source}</article>
</main>
${revealed === undefined ? hiddenNote() : revealedSections(instance, revealed.hints)}`,
    resources,
  );
}

const button = (does: string, text: string): string =>
  `<button type="button" class="quiet" data-do="${does}">${escapeHtml(text)}</button>\n`;

/** A page that says why there is no issue, or that it is loading. */
export function messageDocument(id: string, message: string, resources: PageResources): string {
  return documentOf(
    id,
    `<header><h1>${escapeHtml(id)}</h1></header><p class="note">${escapeHtml(message)}</p>`,
    resources,
  );
}

function documentOf(id: string, body: string, resources: PageResources): string {
  const { nonce, script, style, cspSource } = resources;
  const policy = `default-src 'none'; img-src https:; style-src ${cspSource}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeAttribute(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(id)}</title>
<link rel="stylesheet" href="${escapeAttribute(style)}">
</head>
<body data-id="${escapeAttribute(id)}">
${body}
<script nonce="${escapeAttribute(nonce)}" src="${escapeAttribute(script)}"></script>
</body>
</html>`;
}

function facts(instance: Instance, language: string): string {
  const recipe = recipeOf(instance.repo, instance.version);
  const all: [name: string, value: string, title?: string][] = [
    [l10n.t('Instance'), instance.id],
    [l10n.t('Repository'), instance.repo],
    [l10n.t('Version'), instance.version],
    ['R', instance.baseCommit.slice(0, 10), l10n.t('Base commit {0}', instance.baseCommit)],
    [l10n.t('Created'), instance.createdAt.slice(0, 10), instance.createdAt],
    [l10n.t('Length'), wordsOf(instance.issue, language)],
    ['Python', recipe.python],
    [l10n.t('Requirements'), requirementsInWords(instance, recipe)],
  ];
  const shown = all
    .filter(([, value]) => value !== '')
    .map(
      ([name, value, title]) =>
        `<div${title === undefined ? '' : ` title="${escapeAttribute(title)}"`}><dt>${escapeHtml(name)}</dt> <dd>${escapeHtml(value)}</dd></div>`,
    );
  return `<dl class="facts">${shown.join('')}</dl>`;
}

function wordsOf(issue: string, language: string): string {
  const count = issue.split(/\s+/).filter((word) => word !== '').length;
  return count === 1 ? l10n.t('1 word') : l10n.t('{0} words', count.toLocaleString(language));
}

/** What the environment of an instance has, and as of which day. */
function requirementsInWords(instance: Instance, recipe: Recipe): string {
  const { requirementFiles, packages, install } = recipe;
  const of = [
    ...(install === 'editable' ? [l10n.t('from the project')] : []),
    ...requirementFiles,
    ...packages,
  ];
  const day = dayOf(instance.createdAt, recipe);
  return day === undefined ? of.join(', ') : l10n.t('{0}, as of {1}', of.join(', '), day);
}

function remarks(instance: Instance): string {
  return (instance.remarks ?? [])
    .map((each) => `<p class="note">${escapeHtml(each)}</p>\n`)
    .join('');
}

/**
 * Links to the pull request, whose number ends the id. The link gives the fix away. The bundled
 * project has none.
 */
function linkToGitHub(instance: Instance): string {
  const number = /-(\d+)$/.exec(instance.id)?.[1];
  if (number === undefined || instance.repo === bundledProject) return '';
  if (!/^[\w.-]+\/[\w.-]+$/.test(instance.repo)) return '';
  const address = `https://github.com/${instance.repo}/issues/${number}`;
  return `<a href="${escapeAttribute(address)}">${escapeHtml(l10n.t('Pull request #{0} on GitHub', number))}</a>\n`;
}

const hiddenNote = (): string => `<footer class="hidden-part">
<span>${escapeHtml(l10n.t('The fix, golden tests and later hints are hidden.'))}</span>
<button type="button" class="quiet" data-do="reveal">${escapeHtml(l10n.t('Reveal…'))}</button>
</footer>`;

function revealedSections(instance: Instance, hints: string): string {
  const tests = diffHtml(instance.goldenTests);
  const patch = diffHtml(instance.goldenPatch);
  const changed = (diff: { added: number; removed: number }): string =>
    `+${diff.added} −${diff.removed}`;
  return [
    section(
      'hints',
      l10n.t('Hints'),
      l10n.t('written after the issue'),
      instance.hints.trim() === '' ? undefined : `<div class="text">${hints}</div>`,
    ),
    section(
      'tests',
      l10n.t('Golden tests (T*)'),
      changed(tests),
      instance.goldenTests === '' ? undefined : tests.html,
    ),
    section(
      'patch',
      l10n.t('Golden patch (X*)'),
      changed(patch),
      instance.goldenPatch === '' ? undefined : patch.html,
    ),
  ].join('\n');
}

function section(id: string, title: string, aside: string, content: string | undefined): string {
  if (content === undefined) return `<p class="note">${escapeHtml(l10n.t('{0}: none', title))}</p>`;
  return `<details class="revealed" id="${id}"><summary><h2>${escapeHtml(title)}</h2> <span class="aside">${escapeHtml(aside)}</span></summary>
${content}
</details>`;
}

/** Plain text except for code in backticks, as GitHub shows titles. */
function inlineCode(title: string): string {
  return title
    .split(/(`[^`]+`)/)
    .map((part) =>
      /^`[^`]+`$/.test(part) ? `<code>${escapeHtml(part.slice(1, -1))}</code>` : escapeHtml(part),
    )
    .join('');
}
