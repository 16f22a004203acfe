import { z } from 'zod';
import { HumanError } from '../../domain/work';
import { nextPage, pageField, pageOf, pageShape } from './pages';
import { folderField } from './places';
import { fields, toolOf } from './tool';

const entry = fields({
  path: z.string(),
  files: z.int().optional().describe('For a folder: number of files in it and its subfolders'),
});
type Entry = z.infer<typeof entry>;

const entriesOfPage = 300;

export const listFiles = toolOf({
  name: 'list_files',
  title: 'List files',
  description:
    'Lists the files and folders in one folder of the repository, by default its root. Folders end with / and show how many files they contain. To find a file by name, call search_code with kind "file".',
  input: fields({
    folder: folderField('Folder to list, such as tests/unit').optional(),
    page: pageField,
  }),
  output: fields({
    entries: z.array(entry),
    ...pageShape,
  }),
  effect: 'reads',
  usesCandidate: false,
  confirmation: 'Gives the model names of files in the repository.',
  async run({ tree }, { folder = '', page: asked = 1 }) {
    const prefix = folder === '' ? '' : `${folder}/`;
    const below = (await tree.paths()).filter((path) => path.startsWith(prefix));
    if (below.length === 0) {
      const why = await tree.whyNotRead(folder);
      throw new HumanError(
        `${folder} cannot be listed: ${why ?? 'it is a file'}`,
        why === undefined ? 'Read it with read_file' : 'List the root folder first',
      );
    }
    const counts = new Map<string, number>();
    for (const path of below) {
      const rest = path.slice(prefix.length);
      const end = rest.indexOf('/');
      const name = end < 0 ? rest : rest.slice(0, end + 1);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const all = [...counts].map(([name, files]): Entry => {
      const path = prefix + name;
      return name.endsWith('/') ? { path, files } : { path };
    });
    const { items, page, more } = pageOf(all, asked, entriesOfPage);
    const text = [...items.map(lineOf), ...nextPage({ page, more })].join('\n');
    return { text, data: { entries: items, page, more } };
  },
});

const lineOf = ({ path, files }: Entry): string =>
  files === undefined ? path : `${path} (${files} file${files === 1 ? '' : 's'})`;
