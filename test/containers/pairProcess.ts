// The process that the test kills: opens a pair, starts tests that do not end, and reports when
// both sides run.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { environments } from '../../src/environments/environments';
import type { Instance } from '../../src/domain/instance';
import { silent } from '../../src/domain/work';
import { engines } from '../../src/engine/engines';
import { openEngine } from '../../src/engine/sandbox';
import type { Trees } from '../../src/repository/trees';
import { runCode } from '../contract/run';
import { testSettings } from './dockerForTests';

const { instance, trees, storage } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as {
  instance: Instance;
  trees: Trees;
  storage: string;
};

async function main(): Promise<void> {
  const assets = resolve('src/engine');
  const engine = await openEngine({
    engines,
    environments,
    name: 'docker',
    storage,
    assets,
    values: { docker: testSettings() },
  });
  const place = await engine.prepare(instance, trees, { reporter: silent });
  const pair = await place.openPair({ reporter: silent });
  const code = 'import time; print("started", flush=True); time.sleep(600)';
  let started = 0;
  const onOutput = (): void => {
    started += 1;
    if (started === 2) process.stdout.write('started\n');
  };
  await Promise.all(
    [pair.base, pair.fixed].map((each) => runCode(each, code, { timeoutSeconds: 600, onOutput })),
  );
}

void main();
