import sanitizeHtml from 'sanitize-html';

const wordsIn = (text: string): string[] => text.trim().split(/\s+/);

/** The HTML that issues use: what their Markdown becomes, and what GitHub allows. */
const allowedTags = wordsIn(`
  h1 h2 h3 h4 h5 h6 p div blockquote pre hr br ul ol li dl dt dd details summary table thead
  tbody tfoot tr th td caption a img span code kbd samp var tt sub sup em strong b i u s del ins
  mark small q cite abbr
`);

/** Wrappers that are dropped while their content stays. */
const droppedTags = wordsIn(`
  html body article section header footer main figure figcaption picture source center font big
  strike colgroup col wbr
`);

/** The MathML of formulas that VS Code renders; its tags are dropped, too. */
const mathTags = wordsIn(`
  math semantics annotation mrow mi mo mn ms mtext mspace msup msub msubsup mfrac msqrt mroot
  mtable mtr mtd munder mover munderover mstyle mpadded mphantom menclose
`);

const knownTags = new Set([...allowedTags, ...droppedTags, ...mathTags]);

const options: sanitizeHtml.IOptions = {
  allowedTags,
  allowedAttributes: {
    a: ['href', 'title'],
    img: ['src', 'alt', 'title', 'width', 'height'],
    ol: ['start'],
    th: ['align', 'colspan', 'rowspan'],
    td: ['align', 'colspan', 'rowspan'],
    details: ['open'],
  },
  allowedClasses: Object.fromEntries(
    allowedTags.map((tag) => [tag, [/^hljs(?:-[\w-]+)?$/, /^language-[\w+-]+$/, 'code-line']]),
  ),
  allowedSchemes: ['https'],
  allowedSchemesAppliedToAttributes: ['href', 'src'],
  allowProtocolRelative: false,
  allowedStyles: {},
  disallowedTagsMode: 'discard',
  // The text of these tags is dropped: MathML, and tags that would hold active content.
  nonTextTags: wordsIn(`
    mi mo mn ms mtext script style noscript template textarea option svg object
  `),
  nestingLimit: 100,
  transformTags: {
    a: (tagName, attribs) => ({ tagName, attribs: onlyHttps(attribs, 'href') }),
    img: (tagName, attribs) => ({ tagName, attribs: onlyHttps(attribs, 'src') }),
    // A formula arrives as its source, as MathML and as boxes that need a style sheet. Only the
    // source stays.
    annotation: () => ({ tagName: 'code', attribs: {} }),
    span: (tagName, attribs) => ({
      tagName: / katex-html /.test(` ${attribs['class'] ?? ''} `) ? 'mi' : tagName,
      attribs,
    }),
  },
};

/** Drops relative addresses too: in the panel they would mean files of the extension. */
function onlyHttps(attribs: sanitizeHtml.Attributes, name: string): sanitizeHtml.Attributes {
  if (/^https:\/\//i.test(attribs[name] ?? '')) return attribs;
  return Object.fromEntries(Object.entries(attribs).filter(([each]) => each !== name));
}

/**
 * Reduces untrusted HTML to what an issue needs: no scripts, styles, forms, frames or event
 * handlers, and only https addresses. Disallowed tags become text. An issue about HTML speaks of
 * them; others are no HTML, such as `<module>` in a traceback, or would swallow the rest of the
 * issue.
 *
 * The result is well-formed, which `renderIssue` relies on. `<` and `>` only delimit tags, and text
 * holds no entities but `&amp;`, `&lt;` and `&gt;`.
 */
export function sanitise(html: string): string {
  const kept = html.replace(/<(\/?)([A-Za-z][^\s<>/]*)/g, (tag, slash: string, name: string) =>
    knownTags.has(name.toLowerCase()) ? tag : `&lt;${slash}${name}`,
  );
  return sanitizeHtml(kept, options);
}

/** Escapes text for HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Escapes text for an attribute value in double quotes. */
export function escapeAttribute(text: string): string {
  return escapeHtml(text).replaceAll('"', '&quot;').replaceAll("'", '&#39;');
}
