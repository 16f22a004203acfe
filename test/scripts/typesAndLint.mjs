// Checks the types, then lints with the same programs: both need the types of each expression, and
// `tsc` and `eslint` one after the other compute them twice. `npm run lint` finds the same.
import { join } from 'node:path';
import { ESLint } from 'eslint';
import ts from 'typescript';
import { root } from './setup.mjs';

const host = {
  getCurrentDirectory: () => root,
  getCanonicalFileName: (name) => name,
  getNewLine: () => '\n',
};
const counts = { passed: 0, failed: 0 };

/** The program of a tsconfig.json, as `tsc -p` makes it. */
function programOf(folder) {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(folder, 'tsconfig.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: (each) => {
        throw new Error(ts.formatDiagnostic(each, host));
      },
    },
  );
  const { fileNames: rootNames, options, errors, projectReferences } = config;
  return ts.createProgram({
    ...{ rootNames, options, configFileParsingDiagnostics: errors },
    ...(projectReferences === undefined ? {} : { projectReferences }),
  });
}

function report(name, isGood, text) {
  if (text.trim() !== '') console.log(text);
  counts[isGood ? 'passed' : 'failed'] += 1;
  console.log(`  ${isGood ? '✔' : '✗'} ${name}`);
}

function checkTypes(name, program) {
  const found = ts.getPreEmitDiagnostics(program);
  report(name, found.length === 0, ts.formatDiagnostics(found, host));
}

/** Lints all files; those of each folder with its program, the last that has a file. */
async function lint(...programs) {
  const eslint = new ESLint({
    cwd: root,
    overrideConfig: programs.map(([folder, program]) => ({
      files: [`${folder}**/*.ts`],
      languageOptions: { parserOptions: { projectService: false, programs: [program] } },
    })),
  });
  const results = await eslint.lintFiles(['.']);
  const formatter = await eslint.loadFormatter('stylish');
  const isGood = results.every((each) => each.errorCount === 0);
  report('lint', isGood, await formatter.format(results));
}

const whole = programOf(root);
checkTypes('types', whole);
const page = programOf(join(root, 'src', 'dashboard'));
checkTypes('types of the page', page);
await lint(['', whole], ['src/dashboard/', page]);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed > 0 ? 1 : 0;
