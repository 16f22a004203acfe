import type { Option } from 'commander';
import { dockerSettings } from '../../engine/docker';
import { optionOf } from './engineOptions';

// Options of commands that use a Docker engine without running tests.

export const dockerHostOption = (): Option =>
  optionOf(dockerSettings, dockerSettings.named('host')).hideHelp(false);

export const imageBudgetOption = (): Option =>
  optionOf(dockerSettings, dockerSettings.named('budgetGb')).hideHelp(false);
