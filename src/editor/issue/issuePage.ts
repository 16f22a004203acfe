import type { Instance } from '../../domain/instance';
import { dayOf } from '../../environments/packageDay';
import { recipeOf, type Recipe } from '../../environments/recipes';
import { bundledProject } from '../../repository/source';
import { diffHtml } from './diffHtml';
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

export interface IssuePage {
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
  readonly texts: PageTexts;
}

/** Texts of the page itself, in the language of the window. They are inserted escaped. */
export interface PageTexts {
  readonly plainText: string;
  readonly instance: string;
  readonly repository: string;
  readonly version: string;
  readonly created: string;
  readonly length: string;
  readonly requirements: string;
  readonly asOf: (requirements: string, day: string) => string;
  readonly ofProject: string;
  readonly makeEnvironment: string;
  readonly openInstance: string;
  readonly baseCommit: (commit: string) => string;
  readonly words: (count: number) => string;
  readonly pullRequest: (number: string) => string;
  readonly isHidden: string;
  readonly reveal: string;
  readonly hints: string;
  readonly hintsAreLater: string;
  readonly goldenTests: string;
  readonly goldenPatch: string;
  readonly none: (title: string) => string;
}

/** The HTML document of the panel. Inserts `body`, `source` and `hints` without escaping. */
export function issueDocument(page: IssuePage, resources: PageResources): string {
  const { instance, revealed } = page;
  const { texts } = resources;
  const { title } = splitIssue(instance.issue);
  return documentOf(
    instance.id,
    `<header>
<h1>${inlineCode(title === '' ? instance.id : title)}</h1>
${facts(instance, texts)}
${remarks(instance)}<p class="actions">
${page.canOpen ? button('openInstance', texts.openInstance) : ''}<button type="button" class="quiet" data-do="source" aria-pressed="false">${escapeHtml(texts.plainText)}</button>
${page.canMakeEnvironment ? button('environment', texts.makeEnvironment) : ''}${revealed === undefined ? '' : linkToGitHub(instance, texts)}</p>
</header>
<main>
<article class="text rendered">${page.body}</article>
<article class="text source" hidden>${page.source}</article>
</main>
${revealed === undefined ? hiddenNote(texts) : revealedSections(instance, revealed.hints, texts)}`,
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

function facts(instance: Instance, texts: PageTexts): string {
  const words = instance.issue.split(/\s+/).filter((word) => word !== '').length;
  const recipe = recipeOf(instance.repo, instance.version);
  const all: [name: string, value: string, title?: string][] = [
    [texts.instance, instance.id],
    [texts.repository, instance.repo],
    [texts.version, instance.version],
    ['R', instance.baseCommit.slice(0, 10), texts.baseCommit(instance.baseCommit)],
    [texts.created, instance.createdAt.slice(0, 10), instance.createdAt],
    [texts.length, texts.words(words)],
    ['Python', recipe.python],
    [texts.requirements, requirementsInWords(instance, recipe, texts)],
  ];
  const shown = all
    .filter(([, value]) => value !== '')
    .map(
      ([name, value, title]) =>
        `<div${title === undefined ? '' : ` title="${escapeAttribute(title)}"`}><dt>${escapeHtml(name)}</dt> <dd>${escapeHtml(value)}</dd></div>`,
    );
  return `<dl class="facts">${shown.join('')}</dl>`;
}

/** What the environment of an instance has, and as of which day. */
function requirementsInWords(instance: Instance, recipe: Recipe, texts: PageTexts): string {
  const { requirementFiles, packages, install } = recipe;
  const of = [
    ...(install === 'editable' ? [texts.ofProject] : []),
    ...requirementFiles,
    ...packages,
  ];
  const day = dayOf(instance.createdAt, recipe);
  return day === undefined ? of.join(', ') : texts.asOf(of.join(', '), day);
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
function linkToGitHub(instance: Instance, texts: PageTexts): string {
  const number = /-(\d+)$/.exec(instance.id)?.[1];
  if (number === undefined || instance.repo === bundledProject) return '';
  if (!/^[\w.-]+\/[\w.-]+$/.test(instance.repo)) return '';
  const address = `https://github.com/${instance.repo}/issues/${number}`;
  return `<a href="${escapeAttribute(address)}">${escapeHtml(texts.pullRequest(number))}</a>\n`;
}

const hiddenNote = (texts: PageTexts): string => `<footer class="hidden-part">
<span>${escapeHtml(texts.isHidden)}</span>
<button type="button" class="quiet" data-do="reveal">${escapeHtml(texts.reveal)}</button>
</footer>`;

function revealedSections(instance: Instance, hints: string, texts: PageTexts): string {
  const tests = diffHtml(instance.goldenTests);
  const patch = diffHtml(instance.goldenPatch);
  const changed = (diff: { added: number; removed: number }): string =>
    `+${diff.added} −${diff.removed}`;
  return [
    section(
      'hints',
      texts.hints,
      texts.hintsAreLater,
      instance.hints.trim() === '' ? undefined : `<div class="text">${hints}</div>`,
      texts,
    ),
    section(
      'tests',
      texts.goldenTests,
      changed(tests),
      instance.goldenTests === '' ? undefined : tests.html,
      texts,
    ),
    section(
      'patch',
      texts.goldenPatch,
      changed(patch),
      instance.goldenPatch === '' ? undefined : patch.html,
      texts,
    ),
  ].join('\n');
}

function section(
  id: string,
  title: string,
  aside: string,
  content: string | undefined,
  texts: PageTexts,
): string {
  if (content === undefined) return `<p class="note">${escapeHtml(texts.none(title))}</p>`;
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
