// What a person sees, read from the page of VS Code. Each function runs inside the page, so it may
// use nothing outside itself. Names of CSS classes are those of VS Code 1.139; client.ts describes
// the results.

/** @param {{ scope?: string, title?: string }} options a CSS selector, or the title of a view */
function rows({ scope, title }) {
  const clean = (text) => (text ?? '').replaceAll('\u00a0', ' ').trim();
  const shown = (element) => element.getClientRects().length > 0;
  const names = (element) =>
    [...element.classList].filter((name) => /^codicon-(?!modifier)/.test(name));
  const within = () => {
    if (title === undefined) return [...document.querySelectorAll(scope ?? 'body')];
    const pane = [...document.querySelectorAll('.split-view-view .pane')].find(
      (it) => clean(it.querySelector('.pane-header .title')?.textContent) === title,
    );
    return pane ? [pane] : [];
  };
  return within()
    .flatMap((element) => [...element.querySelectorAll('.monaco-list-row')])
    .filter(shown)
    .map((row) => ({ row, top: row.getBoundingClientRect().top }))
    .sort((a, b) => a.top - b.top)
    .map(({ row }) => {
      const label = row.querySelector('.label-name, .label, .monaco-highlighted-label');
      const description = row.querySelector('.test-label-description, .label-description');
      const inLabel = label && description && label.contains(description);
      const labelText = clean(label?.textContent);
      const descriptionText = clean(description?.textContent);
      const buttons = [...row.querySelectorAll('.monaco-action-bar .action-label')];
      return {
        label: inLabel
          ? labelText.slice(0, labelText.length - descriptionText.length).trim()
          : labelText,
        description: descriptionText,
        text: clean(row.textContent),
        aria: row.getAttribute('aria-label') ?? '',
        level: Number(row.getAttribute('aria-level') ?? 1),
        expanded: row.hasAttribute('aria-expanded')
          ? row.getAttribute('aria-expanded') === 'true'
          : null,
        selected: row.classList.contains('selected'),
        icons: [...row.querySelectorAll('.codicon:not(.action-label):not(.monaco-tl-twistie)')]
          .filter(shown)
          .flatMap(names)
          .map((name) => name.replace('codicon-', '')),
        actions: buttons.filter(shown).map((button) => button.getAttribute('aria-label') ?? ''),
      };
    });
}

function panes() {
  return [...document.querySelectorAll('.split-view-view .pane')]
    .filter((pane) => pane.getClientRects().length > 0)
    .map((pane) => {
      const header = pane.querySelector('.pane-header');
      const welcome = pane.querySelector('.welcome-view-content');
      const visible = welcome && welcome.getClientRects().length > 0;
      return {
        title: (header?.querySelector('.title')?.textContent ?? '').trim(),
        expanded: header?.getAttribute('aria-expanded') === 'true',
        welcome: visible ? welcome.innerText.trim() : '',
        buttons: visible
          ? [...welcome.querySelectorAll('.monaco-button')].map((it) => it.textContent.trim())
          : [],
        text: pane.querySelector('.pane-body')?.innerText.trim() ?? '',
      };
    });
}

function statusBar() {
  return [...document.querySelectorAll('.part.statusbar .statusbar-item')]
    .filter((item) => item.getClientRects().length > 0)
    .map((item) => ({
      id: item.id,
      text: item.innerText.replaceAll('\u00a0', ' ').trim(),
      aria: item.querySelector('a, [aria-label]')?.getAttribute('aria-label') ?? '',
      icons: [...item.querySelectorAll('.codicon')].flatMap((icon) =>
        [...icon.classList].filter((name) => name.startsWith('codicon-')).map((n) => n.slice(8)),
      ),
      kind: [...item.classList].find((name) => /-kind$/.test(name))?.replace('-kind', '') ?? '',
      color: getComputedStyle(item.querySelector('a') ?? item).color,
    }));
}

/** Every visible text editor with what it draws beside its text. */
function editors() {
  const unquote = (content) => {
    const strings = content.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
    return strings
      .map((it) =>
        it.slice(1, -1).replace(/\\([0-9a-f]{1,6} ?|.)/gi, (_, code) => {
          const digits = code.trim();
          return /^[0-9a-f]+$/i.test(digits) ? String.fromCodePoint(parseInt(digits, 16)) : code;
        }),
      )
      .join('')
      .replaceAll('\u00a0', ' ');
  };
  const drawn = (element, pseudo) => {
    const content = getComputedStyle(element, pseudo).content;
    return content === 'none' || content === 'normal' ? '' : unquote(content);
  };
  const icon = (element) => {
    const image = getComputedStyle(element).backgroundImage;
    const address = /url\("(.*)"\)/.exec(image)?.[1];
    if (address === undefined || address.startsWith('data:')) return address ?? '';
    // Files of the extension come as .../vscode-remote-resource?path=<path>&...
    const url = new URL(address);
    const path = url.searchParams.get('path') ?? decodeURIComponent(url.pathname);
    return path.split('/').pop();
  };
  const shown = [...document.querySelectorAll('.monaco-editor[data-uri]')].filter(
    (editor) => editor.getClientRects().length > 0 && editor.querySelector('.view-lines'),
  );
  return shown.map((editor) => {
    const top = (element) => Math.round(element.getBoundingClientRect().top);
    const margins = [...editor.querySelectorAll('.margin-view-overlays > div')].map((margin) => ({
      top: top(margin),
      number: Number(margin.querySelector('.line-numbers')?.textContent ?? NaN),
      classes: [...margin.querySelectorAll('.cldr, .cmdr, .line-numbers')].flatMap((it) => [
        ...it.classList,
      ]),
    }));
    // In a diff's inline view the original side exists, but only its line numbers are visible.
    const { right } = editor.getBoundingClientRect();
    const numberAt = (y) => margins.find((margin) => Math.abs(margin.top - y) < 4)?.number ?? null;
    const overlays = [...editor.querySelectorAll('.view-overlays > div')].map((overlay) => ({
      top: top(overlay),
      classes: [...overlay.querySelectorAll('.cdr')].flatMap((it) => [...it.classList]),
    }));
    const lines = [...editor.querySelectorAll('.view-lines > .view-line')]
      .map((line) => ({ line, y: top(line) }))
      .sort((a, b) => a.y - b.y)
      .map(({ line, y }) => {
        const spans = [...line.querySelectorAll('span')];
        const near = (list) => list.filter((it) => Math.abs(it.top - y) < 4);
        return {
          number: numberAt(y),
          text: line.textContent.replaceAll('\u00a0', ' ').replaceAll('\u200b', ''),
          before: spans.map((span) => drawn(span, '::before')).filter(Boolean),
          after: spans
            .filter((span) => span.getBoundingClientRect().left < right)
            .map((span) => drawn(span, '::after'))
            .filter(Boolean),
          marks: [
            ...new Set([...near(overlays), ...near(margins)].flatMap((it) => it.classes)),
          ].filter(
            (name) =>
              !/^(c[lm]?dr|codicon|lh-(odd|even)|.*line-numbers?|current-line.*)$/.test(name),
          ),
        };
      });
    const gutter = [...editor.querySelectorAll('.glyph-margin-widgets > *')]
      .map((glyph) => ({
        line: numberAt(top(glyph)),
        icon: icon(glyph),
        classes: [...glyph.classList].filter((name) => name !== 'cgmr' && name !== 'codicon'),
      }))
      .sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
    const lenses = [...editor.querySelectorAll('.codelens-decoration')]
      .filter((lens) => lens.getClientRects().length > 0)
      .map((lens) => ({
        above:
          margins.filter((it) => it.top >= top(lens)).sort((a, b) => a.top - b.top)[0]?.number ??
          null,
        text: lens.innerText.replaceAll('\u00a0', ' ').trim(),
      }));
    const testMessages = [...editor.querySelectorAll('.test-error-content-widget')]
      .filter((widget) => widget.getClientRects().length > 0)
      .map((widget) => ({ line: numberAt(top(widget)), text: widget.innerText.trim() }));
    const side = editor.closest('.monaco-diff-editor')
      ? editor.closest('.editor.original')
        ? 'original'
        : 'modified'
      : 'single';
    return { uri: editor.dataset.uri, side, lines, gutter, lenses, testMessages };
  });
}

function tabs() {
  return [...document.querySelectorAll('.editor-group-container .tab')].map((tab) => ({
    label: ['.label-name', '.label-suffix']
      .map((part) => tab.querySelector(part)?.textContent ?? '')
      .join(''),
    description: tab.querySelector('.label-description')?.textContent ?? '',
    active: tab.classList.contains('active'),
    dirty: tab.classList.contains('dirty'),
  }));
}

function notifications() {
  const rows = [...document.querySelectorAll('.notifications-center .monaco-list-row')]
    .filter((row) => row.getClientRects().length > 0)
    .map((row) => [row.dataset.index, row]);
  // While a list is redrawn, a row may occur twice.
  return [...new Map(rows).values()]
    .map((row) => row.querySelector('.notification-list-item'))
    .filter(Boolean)
    .map((item) => ({
      message: item.querySelector('.notification-list-item-message')?.textContent ?? '',
      source: (item.querySelector('.notification-list-item-source')?.textContent ?? '').replace(
        /^Source: /,
        '',
      ),
      buttons: [
        ...item.querySelectorAll('.notification-list-item-buttons-container .monaco-button'),
      ]
        .map((button) => button.textContent.trim())
        .filter(Boolean),
      severity:
        ['error', 'warning', 'info'].find((name) =>
          item.querySelector(`.notification-list-item-icon.codicon-${name}, .codicon-${name}`),
        ) ?? '',
    }));
}

function hovers() {
  return [...document.querySelectorAll('.monaco-hover, .workbench-hover')]
    .filter((hover) => hover.getClientRects().length > 0 && hover.innerText.trim())
    .map((hover) => hover.innerText.replaceAll('\u00a0', ' ').trim());
}

function quickInput() {
  const widget = document.querySelector('.quick-input-widget');
  if (!widget || widget.getClientRects().length === 0) return null;
  return {
    title: widget.querySelector('.quick-input-title')?.textContent ?? '',
    placeholder:
      widget.querySelector('input[type=text], input.input')?.getAttribute('placeholder') ?? '',
    value: widget.querySelector('input[type=text], input.input')?.value ?? '',
    message: widget.querySelector('.quick-input-message')?.textContent ?? '',
    items: [...widget.querySelectorAll('.monaco-list-row')].map((row) => ({
      label:
        row.querySelector('.quick-input-list-label .label-name')?.textContent ?? row.textContent,
      description: row.querySelector('.label-description')?.textContent ?? '',
    })),
  };
}

/** The modal dialog of VS Code. */
function dialog() {
  const box = document.querySelector('.monaco-dialog-box');
  if (!box) return null;
  const text = (selector) => box.querySelector(selector)?.innerText.trim() ?? '';
  return {
    message: text('.dialog-message-text') || text('.dialog-message-detail'),
    detail: text('.dialog-message-text') && text('.dialog-message-detail'),
    buttons: [...box.querySelectorAll('.dialog-buttons .monaco-button')]
      .map((it) => it.innerText.trim())
      .sort(),
  };
}

/** @param {{ selector: string }} options */
function texts({ selector }) {
  return [...document.querySelectorAll(selector)]
    .filter((element) => element.getClientRects().length > 0)
    .map((element) => (element.innerText ?? element.textContent).replaceAll('\u00a0', ' ').trim());
}

/** @param {{ selector: string }} options */
function html({ selector }) {
  return [...document.querySelectorAll(selector)].map((element) => element.outerHTML);
}

/**
 * The elements of a page, and whether its edges or their own cut some of each off.
 * @param {string} selector
 */
export function elements(selector) {
  const { clientWidth, clientHeight } = document.documentElement;
  return [...document.querySelectorAll(selector)].map((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const isOutside = left < 0 || top < 0 || right > clientWidth || bottom > clientHeight;
    const isClipped = [element, ...element.querySelectorAll('*')].some(
      (each) => each.clientWidth > 0 && each.scrollWidth > each.clientWidth + 1,
    );
    return { text: element.innerText ?? '', isCut: isOutside || isClipped };
  });
}

/** The queries that the tests may ask, by name. */
export const queries = {
  rows,
  panes,
  statusBar,
  editors,
  tabs,
  notifications,
  hovers,
  quickInput,
  dialog,
  texts,
  html,
};
