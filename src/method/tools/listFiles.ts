import { HumanError } from '../../domain/humanError';
import { folderField } from './places';
import { fields, type Tool } from './tool';

interface Input {
  readonly folder?: string | undefined;
}

const mostEntries = 300;

export const listFiles: Tool<Input> = {
  name: 'list_files',
  title: 'List files',
  description:
    'Lists the files and folders of one folder of the repository; of its root when no folder is named. Folders end with / and tell how many files are below them.',
  input: fields({ folder: folderField('Folder to list, such as tests/unit').optional() }),
  effect: 'reads',
  confirmation: 'Gives the model names of files of the repository.',
  async run({ tree }, { folder = '' }) {
    const prefix = folder === '' ? '' : `${folder}/`;
    const below = (await tree.paths()).filter((path) => path.startsWith(prefix));
    if (below.length === 0) {
      const why = await tree.whyNotRead(folder);
      throw new HumanError(
        `${folder} cannot be listed: ${why ?? 'it is a file'}`,
        why === undefined ? 'Read it with read_file' : 'List the root to see what there is',
      );
    }
    const entries = new Map<string, number>();
    for (const path of below) {
      const rest = path.slice(prefix.length);
      const end = rest.indexOf('/');
      const name = end < 0 ? rest : rest.slice(0, end + 1);
      entries.set(name, (entries.get(name) ?? 0) + 1);
    }
    const lines = [...entries].map(([name, files]) =>
      name.endsWith('/')
        ? `${prefix}${name} (${files} file${files === 1 ? '' : 's'})`
        : prefix + name,
    );
    const more = lines.length - mostEntries;
    return [
      ...lines.slice(0, mostEntries),
      ...(more > 0
        ? [`[${more} more entries are not shown; search_code finds files by what they hold]`]
        : []),
    ].join('\n');
  },
};
