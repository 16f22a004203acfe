import { localSettings } from '../../engine/local/localDescriptor';
import type { EngineSettings } from '../shell/settings';

/** What decides which Python instances of a list have. */
interface ListedInstances {
  readonly ids: readonly string[];
  /** The instance whose workspace the window has; undefined where it is no such workspace. */
  readonly open: string | undefined;
  /** The setting of the user alone; empty where there is none. */
  readonly ofUser: string;
}

/**
 * The settings of the engine for instances of a list. The Python that the workspace of an instance
 * names was made or chosen for that instance, so that others have the one of the user.
 */
export function pythonOfListed<Settings extends Pick<EngineSettings, 'values' | 'isPythonNamed'>>(
  settings: Settings,
  { ids, open, ofUser }: ListedInstances,
): Settings {
  const isOwn = open === undefined || ids.every((id) => id === open);
  if (isOwn) return settings;
  const python = ofUser === '' ? undefined : ofUser;
  const values = localSettings.with(settings.values, { python });
  return { ...settings, values, isPythonNamed: python !== undefined };
}
