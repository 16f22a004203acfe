/**
 * The layers, from the inside out: a folder may import only from the folders named beside it. An
 * import never runs upward, and only editor/ and extension.ts import `vscode`.
 */
const layers = {
  domain: [],
  files: ['domain'],
  python: ['domain', 'files'],
  patch: ['domain', 'python'],
  language: ['domain', 'python', 'patch'],
  dataset: ['domain', 'files', 'patch'],
  repository: ['domain', 'files', 'patch'],
  engine: ['domain', 'files', 'repository'],
  environments: ['domain', 'files', 'repository', 'engine'],
  evaluation: [
    ...['domain', 'files', 'python', 'patch', 'dataset', 'repository', 'engine', 'environments'],
  ],
  validation: ['domain', 'files', 'python', 'dataset', 'repository', 'engine', 'evaluation'],
  mutation: ['domain', 'files', 'python', 'patch', 'engine', 'evaluation'],
  study: ['domain', 'files', 'dataset', 'mutation'],
  results: [
    ...['domain', 'files', 'patch', 'dataset', 'repository', 'engine', 'evaluation'],
    ...['mutation', 'study'],
  ],
  batch: [
    ...['domain', 'files', 'python', 'patch', 'dataset', 'repository', 'engine'],
    ...['evaluation', 'mutation', 'study', 'results'],
  ],
  method: ['domain', 'files', 'python', 'patch', 'dataset', 'repository', 'engine', 'evaluation'],
  repair: [
    ...['domain', 'files', 'python', 'patch', 'dataset', 'repository', 'engine'],
    ...['evaluation', 'study', 'results', 'batch'],
  ],
  trajectory: ['domain', 'files', 'dataset', 'engine', 'study', 'results', 'method'],
  configuration: ['domain', 'files', 'engine', 'method'],
  commands: [
    ...['domain', 'files', 'python', 'patch', 'dataset', 'repository', 'engine', 'evaluation'],
    ...['environments', 'validation', 'mutation', 'study', 'results', 'batch', 'method'],
    ...['repair', 'trajectory', 'configuration'],
  ],
  // Of the other rooms only what runs in a page: the language of filters, tables, and what the
  // viewer computes.
  dashboard: ['domain', 'dataset', 'mutation', 'study', 'trajectory'],
};
const folders = [...Object.keys(layers), 'editor'];

/** A room's top-level files are its interface; its sub-folders are private. */
const halls = (own) =>
  folders
    .filter((room) => room !== own)
    .map((room) => ({
      regex: `^(\\.\\.?/)+${room}/[^/]+/`,
      message: `Import from the files directly in ${room}/: its sub-folders are private.`,
    }));

/**
 * Matches each path but these, from where it stands to the end. Patterns have no look-ahead.
 */
function otherThan(...paths) {
  const letters = [...new Set(paths.flatMap((path) => path.slice(0, 1)))].filter(Boolean);
  const others = letters.length === 0 ? '.' : `[^${letters.join('')}]`;
  const longer = letters.map(
    (letter) =>
      letter +
      otherThan(...paths.flatMap((path) => (path.startsWith(letter) ? [path.slice(1)] : []))),
  );
  return `(?:${[others, ...(paths.includes('') ? [] : ['$']), ...longer].join('|')})`;
}
/** All of evaluation/ but the files that hold nothing of an answer. */
const notTheHint = `evaluation/${otherThan('unrelatedFailure', 'lostTests')}`;

const importRules = (folder, allowed, more = []) => ({
  'no-restricted-imports': [
    'error',
    {
      paths: [
        { name: 'vscode', message: `${folder}/ runs without VS Code: only editor/ imports it.` },
      ],
      patterns: [
        ...folders
          .filter((other) => other !== folder && !allowed.includes(other))
          .map((other) => ({
            regex: `^(\\.\\./)+${other}/`,
            message: `${folder}/ may not import ${other}/: imports run downward only.`,
          })),
        ...halls(folder),
        ...more,
      ],
    },
  ],
});

const layerRules = Object.entries(layers).map(([folder, allowed]) => ({
  files: [`src/${folder}/**/*.ts`],
  rules: importRules(folder, allowed),
}));

/**
 * A method or a tool may know an instance only as a ModelView. An Instance is visible only to the
 * files that make one, to those for the developer (the oracle of Pass@k, the run over instances),
 * and to the settings of Table 5 that are marked as oracle.
 */
const neverTheAnswer = {
  files: ['src/method/**/*.ts'],
  excludeFiles: [
    'src/method/modelView.ts',
    'src/method/view/runOnR.ts',
    'src/method/view/oracle.ts',
    'src/method/given/goldenAnswer.ts',
    'src/method/estimate/instanceSteps.ts',
  ],
  rules: importRules('method', layers.method, [
    {
      regex: '/domain/instance$',
      message: 'A method or tool sees a ModelView, which has no answer in it, never an Instance.',
    },
    {
      regex: `/(?:dataset/|${notTheHint}|repository/instanceState$)`,
      message: 'A method or tool sees a ModelView: runs and rows of the dataset hold the answer.',
    },
    {
      regex: '/(?:domain/finding$|study/)',
      message: 'Findings, mutants and entries of runs tell of R∘X*: they are for the developer.',
    },
  ]),
};

/**
 * The same in the editor: chat and tools for agents see only what `InstanceForModels` has of the
 * open instance.
 */
const neverTheAnswerInEditor = {
  files: ['src/editor/tools/**/*.ts', 'src/editor/chat/**/*.ts'],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            regex: `/(?:domain/(?:instance$|finding$)|study/|dataset/|mutation/|${notTheHint}|repository/instanceState$)`,
            message: 'A model sees a ModelView: instances, rows and runs hold the answer.',
          },
          {
            regex:
              '/(?:openInstance|documents|documentText|goldenDiff|compareWithGolden|mutants|storedEvaluation)$',
            message: 'What leads to the answer is for the developer: take an InstanceForModels.',
          },
        ],
      },
    ],
  },
};

/** What is wrong in any language. These are the recommended rules of ESLint and typescript-eslint. */
const everywhere = [
  'for-direction',
  'no-async-promise-executor',
  'no-case-declarations',
  'no-compare-neg-zero',
  'no-constant-binary-expression',
  'no-constant-condition',
  'no-control-regex',
  'no-debugger',
  'no-delete-var',
  'no-dupe-else-if',
  'no-duplicate-case',
  'no-empty',
  'no-empty-character-class',
  'no-empty-pattern',
  'no-empty-static-block',
  'no-ex-assign',
  'no-extra-boolean-cast',
  'no-fallthrough',
  'no-global-assign',
  'no-invalid-regexp',
  'no-irregular-whitespace',
  'no-loss-of-precision',
  'no-misleading-character-class',
  'no-nonoctal-decimal-escape',
  'no-prototype-builtins',
  'no-regex-spaces',
  'no-self-assign',
  'no-shadow-restricted-names',
  'no-sparse-arrays',
  'no-unexpected-multiline',
  'no-unsafe-finally',
  'no-unsafe-optional-chaining',
  'no-unused-labels',
  'no-unused-private-class-members',
  'no-useless-backreference',
  'no-useless-catch',
  'no-useless-escape',
  'require-yield',
  'use-isnan',
  'valid-typeof',
];

/** What is wrong in TypeScript; most of these rules need the types of expressions. */
const ofTypes = [
  'typescript/await-thenable',
  'typescript/ban-ts-comment',
  'typescript/consistent-type-imports',
  'no-array-constructor',
  'typescript/no-array-delete',
  'typescript/no-base-to-string',
  'typescript/no-duplicate-enum-values',
  'typescript/no-duplicate-type-constituents',
  'typescript/no-empty-object-type',
  'typescript/no-explicit-any',
  'typescript/no-extra-non-null-assertion',
  'typescript/no-floating-promises',
  'typescript/no-for-in-array',
  'typescript/no-implied-eval',
  'typescript/no-misused-new',
  'typescript/no-misused-promises',
  'typescript/no-namespace',
  'typescript/no-non-null-asserted-optional-chain',
  'typescript/no-redundant-type-constituents',
  'typescript/no-require-imports',
  'typescript/no-this-alias',
  'typescript/no-unnecessary-type-assertion',
  'typescript/no-unnecessary-type-constraint',
  'typescript/no-unsafe-argument',
  'typescript/no-unsafe-assignment',
  'typescript/no-unsafe-call',
  'typescript/no-unsafe-declaration-merging',
  'typescript/no-unsafe-enum-comparison',
  'typescript/no-unsafe-function-type',
  'typescript/no-unsafe-member-access',
  'typescript/no-unsafe-return',
  'typescript/no-unsafe-unary-minus',
  'no-unused-expressions',
  'no-var',
  'typescript/no-wrapper-object-types',
  'typescript/only-throw-error',
  'typescript/prefer-as-const',
  'prefer-const',
  'typescript/prefer-namespace-keyword',
  'typescript/prefer-promise-reject-errors',
  'prefer-rest-params',
  'prefer-spread',
  'typescript/restrict-plus-operands',
  'typescript/restrict-template-expressions',
  'typescript/switch-exhaustiveness-check',
  'typescript/triple-slash-reference',
  'typescript/unbound-method',
];

/** What the compiler finds in TypeScript. */
const withoutTypes = [
  'constructor-super',
  'getter-return',
  'no-class-assign',
  'no-const-assign',
  'no-dupe-class-members',
  'no-dupe-keys',
  'no-func-assign',
  'no-import-assign',
  'no-new-native-nonconstructor',
  'no-obj-calls',
  'no-redeclare',
  'no-setter-return',
  'no-this-before-super',
  'no-undef',
  'no-unreachable',
  'no-unsafe-negation',
  'no-with',
];

const asErrors = (rules) => Object.fromEntries(rules.map((rule) => [rule, 'error']));

export default {
  plugins: ['typescript'],
  categories: { correctness: 'off' },
  // The compiler's own findings come from the same program, so that types are computed once.
  options: { typeAware: true, typeCheck: true },
  ignorePatterns: ['dist/', 'node_modules/', '.cache/', '.vscode-test/', 'media/'],
  rules: { ...asErrors(everywhere), 'no-cond-assign': ['error', 'except-parens'] },
  overrides: [
    {
      files: ['**/*.ts'],
      rules: {
        ...asErrors(ofTypes),
        eqeqeq: ['error', 'always'],
        // Naming a key beside the rest is the way to drop it from an object.
        'no-unused-vars': ['error', { ignoreRestSiblings: true }],
      },
    },
    {
      files: ['**/*.{js,mjs,cjs}'],
      globals: {
        console: 'readonly',
        process: 'readonly',
        URL: 'readonly',
        require: 'readonly',
        module: 'writable',
        __dirname: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        fetch: 'readonly',
        Buffer: 'readonly',
      },
      rules: { ...asErrors(withoutTypes), 'no-unused-vars': 'error' },
    },
    { files: ['**/*.cjs'], globals: { exports: 'readonly' } },
    {
      // Its functions run in a page.
      files: ['test/windows/host/queries.mjs'],
      globals: { document: 'readonly', getComputedStyle: 'readonly' },
    },
    {
      // `cli.ts` makes what strangers wrote harmless before it reaches the terminal.
      files: ['src/**/*.ts'],
      excludeFiles: ['src/cli.ts'],
      rules: {
        'no-console': 'error',
        'no-restricted-properties': [
          'error',
          ...['stdout', 'stderr'].map((property) => ({
            ...{ object: 'process', property },
            message: 'Print with stdout, data or stderr of the CommandContext.',
          })),
        ],
      },
    },
    ...layerRules,
    neverTheAnswer,
    neverTheAnswerInEditor,
  ],
};
