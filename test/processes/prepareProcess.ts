// The other process in tests of locks: prepares the trees of one instance and says how it went.
import { readFileSync } from 'node:fs';
import type { Instance } from '../../src/domain/instance';
import type { TreeSource } from '../../src/repository/source';
import { prepareTrees } from '../../src/repository/trees';

const { instance, source, storage } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as {
  instance: Instance;
  source: TreeSource;
  storage: string;
};

const say = (line: string): void => void process.stdout.write(`${line}\n`);
prepareTrees(instance, source, storage, { reporter: { log: say, progress: say } }).then(
  (trees) => say(`done ${trees.base}`),
  (error: unknown) => say(`failed ${String(error)}`),
);
