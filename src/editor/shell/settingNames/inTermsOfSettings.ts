import { settingKeys } from '../names';

/** Advice that names options of the command line, and the same about settings. */
const advice: readonly (readonly [option: RegExp, setting: string])[] = [
  [
    /Give --source (\S+)=PATH_OR_URL of a repository/g,
    `Give $1 in the setting ${settingKeys.repositorySources} the path or address of a repository`,
  ],
  [
    /Write --source owner\/name=PATH_OR_URL or --source PATH/g,
    `Write owner/name and a path or address in the setting ${settingKeys.repositorySources}`,
  ],
  [/with --source\b/g, `in the setting ${settingKeys.repositorySources}`],
  [/--source\b/g, `the setting ${settingKeys.repositorySources}`],
  [/with --python or the setting swt-bench\.python/g, `with the setting ${settingKeys.python}`],
];

/** The text of an error for the editor, where a person has settings in place of options. */
export const inTermsOfSettings = (text: string): string =>
  advice.reduce((said, [option, setting]) => said.replace(option, setting), text);
