import { z } from 'zod';
import type { RowEnvironment } from '../../domain/instance';
import { asLabel } from '../../domain/text';
import { readTexts } from './readTexts';

const text = z.string().nullish();
/** Accepts any value, since none of these columns makes a row unusable. */
const anything = z.unknown().optional();

/** Columns about the container of the tests, in SWE-bench 5, Live, Pro and similar datasets. */
export const environmentFields = {
  image: anything,
  docker_image: anything,
  image_name: anything,
  dockerhub_tag: anything,
  eval_script: anything,
  log_parser: anything,
  eval_type: anything,
  test_cmds: anything,
  test_cmd: anything,
  selected_test_files_to_run: anything,
  environment_setup_commit: anything,
};

type EnvironmentRow = { readonly [field in keyof typeof environmentFields]?: unknown };

/** Registry, path, tag and digest, as `docker pull` takes them. */
const imageName =
  /^(?=.{1,400}$)[a-z0-9][a-z0-9._-]*(:\d+)?(\/[a-z0-9][a-z0-9._-]*)*(:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/i;

/**
 * The environment that a row names for its tests; undefined if it names none. Unusable values are
 * left out, each with a remark.
 */
export function environmentOf(
  id: string,
  row: EnvironmentRow,
): { environment: RowEnvironment | undefined; remarks: string[] } {
  const remarks: string[] = [];
  const textOf = (value: unknown): string | undefined => {
    const parsed = text.safeParse(value);
    return parsed.success && (parsed.data ?? '').trim() !== '' ? (parsed.data ?? '') : undefined;
  };
  const listOf = (value: unknown): readonly string[] | undefined => {
    if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
    const written = textOf(value);
    if (written === undefined) return undefined;
    const list = readTexts(written);
    return list === 'broken' ? [written] : list;
  };
  const tag = textOf(row.dockerhub_tag);
  const testCommands = listOf(row.test_cmds) ?? listOf(row.test_cmd);
  const image =
    textOf(row.image) ??
    textOf(row.docker_image) ??
    textOf(row.image_name) ??
    // These two have naming schemes of their own: SWE-bench Pro by column, SWE-bench Live by id.
    (tag === undefined ? undefined : `jefzda/sweap-images:${tag}`) ??
    (row.test_cmds === undefined || row.test_cmds === null
      ? undefined
      : `starryzhang/sweb.eval.x86_64.${id.toLowerCase().replace('__', '_1776_')}:latest`);
  const isSound = image === undefined || imageName.test(image);
  if (!isSound) {
    remarks.push(
      `${JSON.stringify(asLabel(image.slice(0, 80)))} is not a valid image name and is ignored`,
    );
  }
  const setupCommit = textOf(row.environment_setup_commit);
  const evalScript = textOf(row.eval_script);
  const logParser = textOf(row.log_parser);
  const evalType = textOf(row.eval_type);
  const testFiles = listOf(row.selected_test_files_to_run);
  const environment: RowEnvironment = {
    ...(image !== undefined && isSound ? { image } : {}),
    ...(tag === undefined ? {} : { folder: '/app' }),
    ...(evalScript === undefined ? {} : { evalScript }),
    ...(logParser === undefined ? {} : { logParser }),
    ...(evalType === undefined ? {} : { evalType }),
    ...(testCommands === undefined || testCommands.length === 0 ? {} : { testCommands }),
    ...(testFiles === undefined || testFiles.length === 0 ? {} : { testFiles }),
    ...(setupCommit !== undefined && /^[0-9a-f]{7,64}$/i.test(setupCommit) ? { setupCommit } : {}),
  };
  return {
    environment: Object.keys(environment).length === 0 ? undefined : environment,
    remarks,
  };
}
