import { join } from 'node:path';
import { z } from 'zod';
import { turnsOf } from '../../domain/work';
import { keepPackedJson, readPackedJson } from '../../files/json';
import { pythonTags } from '../../python/outline';
import { runsFolder } from '../../repository/storage';
import { linesOf } from '../tools/places';
import type { FilesOnR } from './filesOnR';

/** Raised when tags are read differently, so that kept ones are read again. */
const format = 1;

/** Characters of the first line of a definition. */
const longestHeader = 100;

const tagsSchema = z.array(
  z.object({
    path: z.string(),
    definitions: z.array(
      z.object({
        name: z.string(),
        /** 1-based. */
        line: z.number(),
        /** The first line, with its indentation. */
        header: z.string(),
        /** Place in this list of the definition around it. */
        around: z.number().optional(),
      }),
    ),
    /** Names that the file calls, and how often. */
    calls: z.array(z.tuple([z.string(), z.number()])),
  }),
);

/** What the Python files of R define and call, in the order of their paths. */
export type RepoTags = z.infer<typeof tagsSchema>;

/** The tags of R. They are read once for a tree and kept with the runs of the instance. */
export async function repoTags(files: FilesOnR, signal?: AbortSignal): Promise<RepoTags> {
  const { tree, keptIn } = files;
  const name = `${tree.digest}-tags-${format}.json.gz`;
  const path = join(runsFolder(keptIn.storage, keptIn.instance), 'retrieval', name);
  const kept = await readPackedJson(path, (data) => tagsSchema.parse(data));
  if (kept !== undefined) return kept;
  const tags = await readTags(files, signal);
  await keepPackedJson(path, tags);
  return tags;
}

async function readTags({ tree, python }: FilesOnR, signal?: AbortSignal): Promise<RepoTags> {
  const turns = turnsOf(signal);
  const tags: RepoTags = [];
  for (const path of (await tree.paths()).filter((each) => each.endsWith('.py'))) {
    await turns.pause();
    const source = await tree.read(path);
    if (source === undefined) continue;
    const { definitions, calls } = pythonTags(python, source);
    const lines = linesOf(source);
    tags.push({
      path,
      definitions: definitions.map(({ name, defLine: line, parent }) => ({
        ...{ name, line, header: (lines[line - 1] ?? '').slice(0, longestHeader) },
        ...(parent !== undefined && { around: definitions.indexOf(parent) }),
      })),
      calls: [...calls],
    });
  }
  return tags;
}
