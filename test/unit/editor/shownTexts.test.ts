import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import manifest from '../../../package.json';
import englishBundle from '../../../l10n/bundle.l10n.json';
import titles from '../../../package.nls.json';

const root = join(__dirname, '..', '..', '..');
const files = readdirSync(join(root, 'src', 'editor'), { recursive: true, encoding: 'utf8' })
  // The build writes the texts of the manifest to package.nls.json.
  .filter((name) => name.endsWith('.ts') && !name.startsWith('manifest'))
  .map((name) => join(root, 'src', 'editor', name));
const sources = files.map((file) =>
  ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true),
);

/** Properties whose assigned text a person reads. */
const shownProperties =
  /^(label|description|detail|tooltip|title|text|message|name|placeHolder|placeholder|prompt|contentText|openLabel|saveLabel)$/;
/**
 * Functions and classes whose string arguments a person reads; the indices where not all are read.
 */
const shownArguments = new Map<string, readonly number[] | 'all'>(
  Object.entries({
    showInformationMessage: 'all',
    showWarningMessage: 'all',
    showErrorMessage: 'all',
    showQuickPick: 'all',
    withNotification: [0],
    messageDocument: [1],
    createTestController: [1],
    createRunProfile: [0],
    createTestRun: [1],
    createTestItem: [1],
    append: [1],
    appendPlainText: [1],
    appendOutput: [0],
    appendText: [0],
    appendMarkdown: [0],
    HumanError: 'all',
    TestMessage: [0],
    TreeItem: [0],
    MarkdownString: [0],
    Diagnostic: [1],
  } satisfies Record<string, readonly number[] | 'all'>),
);
/** Texts that are the same in every language: icons, names, and filters as typed. */
const names =
  /\$\([\w~-]+\)|swt-?bench|ΔC|pytest|https?:\S+|command:\S+|^(Lite|Lite-S|Verified|Full)$|\b\w+:\S+|\bmatrix$/gi;

interface Text {
  readonly node: ts.Node;
  readonly text: string;
}

describe('texts that are shown', () => {
  it('go through vscode.l10n', () => {
    const found = sources.flatMap((source) => shownTexts(source).map(whereAndWhat));
    assert.deepEqual(found, []);
  });

  it('are literals with a placeholder for each argument where they do', () => {
    for (const call of sources.flatMap(translations)) {
      const [message, ...given] = call.arguments;
      assert.ok(
        message !== undefined && ts.isStringLiteralLike(message),
        `${whereAndWhat({ node: call, text: call.getText() })}: nothing can find this text`,
      );
      const placeholders = new Set(
        [...message.text.matchAll(/\{(\d+)\}/g)].map(([, index]) => Number(index)),
      );
      assert.deepEqual(
        [...placeholders].sort(),
        given.map((_, index) => index),
        whereAndWhat({ node: call, text: message.text }),
      );
    }
  });

  it('are all in l10n/bundle.l10n.json, which "npm run l10n" writes', () => {
    const texts = sources
      .flatMap(translations)
      .flatMap((call) => call.arguments.slice(0, 1))
      .filter((message) => ts.isStringLiteralLike(message))
      .map((message) => message.text);
    const listed = new Set(Object.keys(englishBundle));
    assert.deepEqual(
      {
        missing: [...new Set(texts)].filter((text) => !listed.has(text)),
        left: [...listed].filter((text) => !texts.includes(text)),
      },
      { missing: [], left: [] },
    );
  });

  it('of settings speak of settings, and not of options of the command line', () => {
    const ofSettings = Object.entries(titles).filter(([key]) => key.startsWith('setting.'));
    assert.ok(ofSettings.length > 60);
    const wrong = ofSettings.filter(([, text]) => /(?:^|[\s`(])--[a-z]|command line/i.test(text));
    assert.deepEqual(wrong, []);
  });

  it('stand in package.nls.json where the manifest shows them', () => {
    const keys = [...JSON.stringify(manifest).matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key);
    assert.deepEqual(Object.keys(titles).sort(), [...new Set(keys)].sort());
    const shown = /^(title|description|markdownDescription|name|contents|altText)$/;
    const inPlace = (value: unknown, key: string): string[] => {
      if (typeof value === 'string') {
        return shown.test(key) &&
          !/^%[\w.-]+%$/.test(value) &&
          /[a-z]{2}/.test(value.replace(names, ''))
          ? [`${key}: ${value}`]
          : [];
      }
      if (typeof value !== 'object' || value === null) return [];
      // Values of settings, such as names of products, are the same in all languages.
      return Object.entries(value).flatMap(([name, inner]) =>
        name === 'default' ? [] : inPlace(inner, name),
      );
    };
    // Texts for models are always English.
    const tools = manifest.contributes.languageModelTools.map(
      ({ displayName: title, userDescription: description }) => ({ title, description }),
    );
    // So are the names of requests, and what a person types behind @ and /.
    const participants = manifest.contributes.chatParticipants.map((each) => ({
      ...{ ...each, name: '', disambiguation: [] },
      commands: each.commands.map((command) => ({ ...command, name: '', disambiguation: [] })),
    }));
    const contributes = {
      ...manifest.contributes,
      languages: [],
      languageModelTools: tools,
      chatParticipants: participants,
    };
    assert.deepEqual(inPlace(contributes, ''), []);
    assert.deepEqual(inPlace(manifest.capabilities, ''), []);
  });
});

/** Every string that a person would see untranslated. */
function shownTexts(source: ts.SourceFile): Text[] {
  const found: Text[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && shownProperties.test(node.name.getText())) {
      found.push(...stringsOf(node.initializer));
    } else if (
      ts.isBinaryExpression(node) &&
      node.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
      ts.isPropertyAccessExpression(node.left) &&
      shownProperties.test(node.left.name.text)
    ) {
      found.push(...stringsOf(node.right));
    } else if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const shown = shownArguments.get(nameOf(node.expression));
      for (const [index, argument] of (node.arguments ?? []).entries()) {
        if (shown === 'all' || shown?.includes(index)) found.push(...stringsOf(argument));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/**
 * The strings that an expression may evaluate to, if they are literals in it and not translated.
 */
function stringsOf(node: ts.Expression): Text[] {
  if (ts.isStringLiteralLike(node)) return worded(node, node.text);
  if (ts.isTemplateExpression(node)) {
    return [
      ...worded(
        node,
        [node.head, ...node.templateSpans.map((span) => span.literal)]
          .map((each) => each.text)
          .join(' '),
      ),
      ...node.templateSpans.flatMap((span) => stringsOf(span.expression)),
    ];
  }
  if (ts.isParenthesizedExpression(node) || ts.isSpreadElement(node)) {
    return stringsOf(node.expression);
  }
  if (ts.isConditionalExpression(node)) {
    return [...stringsOf(node.whenTrue), ...stringsOf(node.whenFalse)];
  }
  if (ts.isBinaryExpression(node)) {
    const { kind } = node.operatorToken;
    const joins = [
      ts.SyntaxKind.PlusToken,
      ts.SyntaxKind.QuestionQuestionToken,
      ts.SyntaxKind.BarBarToken,
    ];
    return joins.includes(kind) ? [...stringsOf(node.left), ...stringsOf(node.right)] : [];
  }
  if (ts.isArrayLiteralExpression(node)) return node.elements.flatMap(stringsOf);
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    // `[…].join(' ')` and the like.
    return isTranslation(node) ? [] : stringsOf(node.expression.expression);
  }
  return [];
}

const worded = (node: ts.Node, text: string): Text[] =>
  /[a-z]{2}/.test(text.replace(names, '')) ? [{ node, text }] : [];

function translations(source: ts.SourceFile): ts.CallExpression[] {
  const found: ts.CallExpression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isTranslation(node)) found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const isTranslation = (node: ts.CallExpression): boolean =>
  /(^|\.)l10n\.t$/.test(node.expression.getText());

const nameOf = (expression: ts.Expression): string =>
  ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText();

function whereAndWhat({ node, text }: Text): string {
  const source = node.getSourceFile();
  const { line } = source.getLineAndCharacterOfPosition(node.getStart());
  return `${relative(root, source.fileName)}:${line + 1}: ${text}`;
}
