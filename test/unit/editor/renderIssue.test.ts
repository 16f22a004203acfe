import * as l10n from '@vscode/l10n';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { diffHtml, renderIssue } from '../../../src/editor/issue/renderIssue';
import { issueDocument, splitIssue } from '../../../src/editor/issue/issuePage';
import type { Instance } from '../../../src/domain/instance';
import type { ReferenceTarget, ResolveReference } from '../../../src/python/references';
import { everydayRuns } from '../../everyday';

const nowhere: ResolveReference = async () => undefined;
const everywhere: ResolveReference = async (reference) =>
  reference.kind === 'dotted'
    ? { path: 'zoo/cat.py', line: 5 }
    : { path: 'zoo/a"b.py', line: reference.line ?? 1 };

const render = (html: string, resolve = nowhere): Promise<string> => renderIssue(html, resolve, []);

describe('sanitising what a renderer made of an issue', () => {
  it('lets nothing active through and keeps the text', async () => {
    const hostile = [
      '<script>one()</script>',
      '<img src="https://a.b/c.png" onerror="two()">',
      '<a href="javascript:three()">three</a><a href="command:workbench.x">four</a>',
      '<a href=" java&#10;script:x()">five</a><a href="data:text/html,x">six</a>',
      '<a href="//evil.example/x">seven</a><a href="media/issue.js">eight</a><a href="#top">nine</a>',
      '<a href="vscode://x/y">ten</a><a href="http://plain.example">eleven</a>',
      '<img src="data:image/svg+xml,<svg onload=x>"><img src="http://t.example/p.gif"><img src="x.png">',
      '<style>body{display:none}</style><p style="position:fixed">twelve</p>',
      '<iframe src="https://evil.example">thirteen</iframe><object data="x"></object><embed src="x">',
      '<meta http-equiv="refresh" content="0;url=https://evil.example"><base href="https://evil.example/">',
      '<link rel="stylesheet" href="https://evil.example/x.css">',
      '<form action="https://evil.example"><input name="a"><button>fourteen</button></form>',
      '<svg onload="x()"><a xlink:href="javascript:x()">s</a></svg><math><mi>m</mi></math>',
      '<p id="x" class="reference hljs-string quiet" data-reference="0" tabindex="0">fifteen</p>',
      '<details ontoggle="x()" open><summary>sixteen</summary>s</details>',
    ].join('\n');
    const html = await render(hostile);
    // Every remaining tag must have only these names and attributes.
    for (const [tag, name] of html.matchAll(/<\/?([a-z0-9]+)[^>]*>/g)) {
      assert.match(name ?? '', /^(?:a|img|p|details|summary|span)$/, tag);
      assert.match(
        tag,
        /^<\/?[a-z0-9]+(?: (?:(?:href|src)="https:\/\/a\.b\/c\.png"|class="hljs-string"|open(?:="")?))*(?: \/)?>$/,
        tag,
      );
    }
    for (const word of ['three', 'five', 'eight', 'eleven', 'twelve', 'fourteen', 'sixteen']) {
      assert.ok(html.includes(word), word);
    }
  });

  it('is safe and well-formed whatever it is given', async () => {
    const part = fc.constantFrom(
      ...[
        '<',
        '>',
        '"',
        "'",
        '=',
        ' ',
        '/',
        '&',
        '&lt;',
        '&amp;',
        '&quot;',
        '&#60;',
        '<!--',
        '-->',
      ],
      ...[
        '<script>',
        '</script>',
        '<a href="',
        'javascript:x',
        'https://x.y/',
        '<p>',
        '</p>',
        '<pre>',
      ],
      ...[
        '<svg>',
        '<style>',
        '<textarea>',
        '</textarea>',
        '<title>',
        '<math>',
        '<span class="',
        '<br>',
      ],
      ...[
        'a/b.py:3',
        'zoo.Cat',
        'onload=',
        '<noscript>',
        '<template>',
        ']]>',
        '<![CDATA[',
        '</a>',
        '\0',
      ],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 30 }), async (parts) => {
        const html = await render(parts.join(''), everywhere);
        const open: string[] = [];
        for (const piece of html.match(/<[^>]*>|[^<]+|</g) ?? []) {
          const tag =
            /^<(\/?)(a|p|pre|span|br)((?: [a-z-]+="[^"<>]*")*)( \/)?>$/.exec(piece) ?? undefined;
          if (tag === undefined) {
            assert.doesNotMatch(piece, /[<>]|&(?!amp;|lt;|gt;)/);
            continue;
          }
          // Split by attribute, since the text of one may resemble another.
          for (const [, name = '', value = ''] of (tag[3] ?? '').matchAll(
            / ([a-z-]+)="([^"]*)"/g,
          )) {
            assert.doesNotMatch(name, /^on|^style$/);
            if (name === 'href' || name === 'src') assert.match(value, /^https:\/\//i);
          }
          if (tag[1] === '/') assert.equal(open.pop(), tag[2]);
          else if (tag[4] === undefined) open.push(tag[2] ?? '');
          assert.ok(open.filter((name) => name === 'a').length <= 1, 'links do not nest');
        }
        assert.deepEqual(open, []);
      }),
      { numRuns: everydayRuns(1000) },
    );
  });

  it('keeps what markdown makes and words in angle brackets', async () => {
    const html =
      '<h2>A</h2><p>a <code>b</code> <strong>c</strong> &amp;lt; "q"</p><table><tbody><tr><td align="right">1</td></tr></tbody></table>' +
      '<pre><code class="language-python"><span class="hljs-keyword">if</span> x &lt; 1</code></pre>';
    assert.equal(await render(html), html);
    assert.equal(
      await render('<p>in <module> of <Foo object at 0x1> &lt;b&gt; and <textarea> more</p>'),
      '<p>in &lt;module&gt; of &lt;Foo object at 0x1&gt; &lt;b&gt; and &lt;textarea&gt; more</p>',
    );
  });

  it('shows a formula as its source', async () => {
    const html =
      '<p>is <span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>x</mi></mrow>' +
      '<annotation encoding="application/x-tex">x^2</annotation></semantics></math></span>' +
      '<span class="katex-html" aria-hidden="true"><span class="mord">x2</span></span></span>.</p>';
    assert.match(
      (await render(html)).replaceAll(/<\/?span>/g, ''),
      /^<p>is <code>x\^2<\/code>\.<\/p>$/,
    );
  });
});

describe('linking an issue', () => {
  const link = (index: number, title: string, text: string, first = true): string =>
    `<a class="reference" role="link"${first ? ' tabindex="0"' : ''} data-reference="${index}" title="${title}">${text}</a>`;

  it('links references in text, inline code and over tags of highlighted code', async () => {
    const places: ReferenceTarget[] = [];
    const html = await renderIssue(
      '<p>See <code>zoo.Cat</code>, a/b.py:3 &amp; a&lt;/b.py</p>' +
        '<pre><code>File <span class="hljs-string">"/x/a.py"</span>, line <span class="hljs-number">9</span>, in</code></pre>' +
        '<p>zoo.Cat</p>',
      everywhere,
      places,
    );
    const file = 'zoo/a&quot;b.py';
    assert.equal(
      html,
      `<p>See <code>${link(0, 'zoo/cat.py:5', 'zoo.Cat')}</code>, ${link(1, `${file}:3`, 'a/b.py:3')} &amp; a&lt;${link(2, file, '/b.py')}</p>` +
        `<pre><code>File <span class="hljs-string">"${link(3, `${file}:9`, '/x/a.py"')}</span>` +
        `${link(3, `${file}:9`, ', line ', false)}<span class="hljs-number">${link(3, `${file}:9`, '9', false)}</span>, in</code></pre>` +
        `<p>${link(0, 'zoo/cat.py:5', 'zoo.Cat')}</p>`,
    );
    assert.deepEqual(places, [
      { path: 'zoo/cat.py', line: 5 },
      { path: 'zoo/a"b.py', line: 3 },
      { path: 'zoo/a"b.py', line: 1 },
      { path: 'zoo/a"b.py', line: 9 },
    ]);
  });

  it('does not join words of neighbouring blocks', async () => {
    assert.doesNotMatch(await render('<p>zoo</p><p>.Cat</p>', everywhere), /reference/);
  });

  it('turns a link to a file on GitHub into one into R and leaves the others', async () => {
    const other = '<a href="https://docs.example/a/b.py">a/b.py</a>';
    assert.equal(await render(other, everywhere), other);
    assert.equal(
      await render(
        '<a href="https://github.com/o/zoo/blob/m/a/b.py#L4">the <em>line</em></a>',
        everywhere,
      ),
      link(0, 'zoo/a&quot;b.py:4', 'the <em>line</em>'),
    );
  });

  it('links nothing without a tree, and survives one that fails', async () => {
    assert.equal(await renderIssue('<p>zoo.Cat</p>', undefined, []), '<p>zoo.Cat</p>');
    const failing: ResolveReference = async () => {
      throw new Error('gone');
    };
    assert.equal(await render('<p>zoo.Cat</p>', failing), '<p>zoo.Cat</p>');
  });
});

describe('the page of an issue', () => {
  const instance: Instance = {
    id: 'octo__cat-7',
    repo: 'octo/cat',
    baseCommit: 'abcdef0123456789abcdef0123456789abcdef01',
    version: '1.0"><b>',
    issue: 'It `does not` <b>purr</b>\nAt all, at night',
    hints: 'HINT',
    createdAt: '2023-01-02T03:04:05Z',
    goldenPatch:
      'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n--- <i>\n+++ PATCH\ndiff --git a/y b/y\n',
    goldenTests: 'diff --git a/t b/t\n--- a/t\n+++ b/t\n@@ -1 +1 @@\n-a\n+TESTS\n',
    failToPass: ['SECRET_TEST'],
    passToPass: undefined,
  };
  const resources = {
    ...{ script: 's.js', style: 's.css', cspSource: 'https://w.v', nonce: 'n0nce' },
    language: 'en',
  };
  before(() =>
    l10n.config({
      contents: {
        Length: 'Length <b>',
        'Open Instance': 'Open <it>',
        'from the project': 'its own',
      },
    }),
  );
  after(() => l10n.config({ contents: {} }));
  const page = (hints?: string, canMakeEnvironment = false, canOpen = false): string =>
    issueDocument(
      {
        instance,
        body: '<p>BODY</p>',
        source: '',
        revealed: hints === undefined ? undefined : { hints },
        canMakeEnvironment,
        canOpen,
      },
      resources,
    );

  it('says which Python and requirements it needs, and offers them where it is open', () => {
    assert.match(page(), /<dt>Python<\/dt> <dd>3\.9<\/dd>/);
    assert.match(page(), /<dt>Requirements<\/dt> <dd>its own, as of 2023-01-02<\/dd>/);
    assert.doesNotMatch(page(), /data-do="environment"/);
    assert.match(page(undefined, true), /data-do="environment">Create Environment</);
  });

  it('offers to open an instance that is not open', () => {
    assert.doesNotMatch(page(), /data-do="openInstance"/);
    assert.match(page(undefined, false, true), /data-do="openInstance">Open &lt;it&gt;</);
  });

  it('shows title and facts, escaped, under a strict policy', () => {
    const html = page();
    assert.match(html, /<h1>It <code>does not<\/code> &lt;b&gt;purr&lt;\/b&gt;<\/h1>/);
    assert.match(html, /<dd>octo__cat-7<\/dd>.*abcdef0123<.*2023-01-02<.*8 words/s);
    assert.doesNotMatch(html, /<b>/);
    assert.ok(
      html
        .replaceAll('&#39;', "'")
        .includes(
          "\"default-src 'none'; img-src https:; style-src https://w.v; script-src 'nonce-n0nce'\"",
        ),
    );
  });

  it('holds nothing of the fix until it is revealed', () => {
    const html = page();
    for (const secret of ['HINT', 'PATCH', 'TESTS', 'SECRET_TEST', 'github.com', '/7']) {
      assert.ok(!html.includes(secret), secret);
    }
    assert.match(html, /data-do="reveal"/);
    const revealed = page('<p>HINT</p>');
    for (const shown of ['HINT', 'PATCH', 'TESTS', 'https://github.com/octo/cat/issues/7']) {
      assert.ok(revealed.includes(shown), shown);
    }
    assert.doesNotMatch(revealed, /data-do="reveal"|SECRET_TEST/);
  });

  it('tells the lines of a diff apart, also those that look like headers', () => {
    const { html, added, removed } = diffHtml(instance.goldenPatch);
    assert.deepEqual([added, removed], [1, 1]);
    assert.match(
      html,
      /<span class="removed">--- &lt;i&gt;\n<\/span><span class="added">\+\+\+ PATCH/,
    );
    assert.equal(html.match(/class="file"/g)?.length, 4);
  });

  it('takes the first line for the title unless it begins a block', () => {
    assert.deepEqual(splitIssue('\n  A title \r\nbody\r\n'), { title: 'A title', body: 'body\n' });
    assert.deepEqual(splitIssue('## A title\n\nbody'), { title: 'A title', body: '\nbody' });
    assert.deepEqual(splitIssue('```py\nx\n```'), { title: '', body: '```py\nx\n```' });
    assert.deepEqual(splitIssue('`subs` fails'), { title: '`subs` fails', body: '' });
    assert.deepEqual(splitIssue(''), { title: '', body: '' });
  });
});
