import js from '@eslint/js';
import tseslint from 'typescript-eslint';

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
  evaluation: ['domain', 'files', 'python', 'patch', 'dataset', 'repository', 'engine'],
  validation: ['domain', 'python', 'repository', 'engine', 'evaluation'],
  mutation: ['domain', 'files', 'python', 'patch', 'engine', 'evaluation'],
  results: ['domain', 'files', 'patch', 'dataset', 'repository', 'engine', 'evaluation'],
  batch: [
    ...['domain', 'files', 'python', 'patch', 'dataset', 'repository', 'engine'],
    ...['evaluation', 'mutation', 'results'],
  ],
  study: ['domain', 'dataset', 'results'],
  method: ['domain', 'files', 'python', 'patch', 'dataset', 'repository', 'engine', 'evaluation'],
  repair: [
    ...['domain', 'files', 'python', 'patch', 'dataset', 'repository', 'engine'],
    ...['evaluation', 'results', 'batch', 'study'],
  ],
  trajectory: ['domain', 'files', 'results', 'study', 'method'],
  commands: [
    ...['domain', 'files', 'python', 'patch', 'dataset', 'repository', 'engine', 'evaluation'],
    ...['validation', 'results', 'batch', 'study', 'method', 'repair', 'trajectory'],
  ],
  // Of dataset/ and trajectory/ only what runs in a page: the language of filters, and what the
  // viewer computes.
  dashboard: ['domain', 'dataset', 'trajectory'],
};

const folders = [...Object.keys(layers), 'editor'];

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
  ignores: [
    'src/method/modelView.ts',
    'src/method/runOnR.ts',
    'src/method/oracle.ts',
    'src/method/given/goldenAnswer.ts',
    'src/method/generation.ts',
  ],
  rules: importRules('method', layers.method, [
    {
      regex: '/domain/instance$',
      message: 'A method or tool sees a ModelView, which has no answer in it, never an Instance.',
    },
    {
      regex: '/(?:dataset/|evaluation/(?!hints/unrelatedFailure$)|repository/instanceState$)',
      message: 'A method or tool sees a ModelView: runs and rows of the dataset hold the answer.',
    },
    {
      regex: '/domain/(?:finding|study/)',
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
            regex:
              '/(?:domain/(?:instance$|finding$|study/)|dataset/|mutation/|evaluation/(?!hints/unrelatedFailure$)|repository/instanceState$)',
            message: 'A model sees a ModelView: instances, rows and runs hold the answer.',
          },
          {
            regex:
              '/(?:openInstance|documents|goldenDiff|goldenFiles|compareWithGolden|comparisonDocuments|keptEvaluation)$',
            message: 'What leads to the answer is for the developer: take an InstanceForModels.',
          },
        ],
      },
    ],
  },
};

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.cache/', '.vscode-test/', 'media/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/require-await': 'off',
      eqeqeq: ['error', 'always'],
      // Naming a key beside the rest is the way to drop it from an object.
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
    },
  },
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
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
    },
  },
  ...layerRules,
  neverTheAnswer,
  neverTheAnswerInEditor,
);
