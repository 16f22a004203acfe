import { Option } from 'commander';
import { HumanError } from '../../domain/work';
import { plural } from '../../domain/text';
import { connect, pushImage, dockerSettings, prebuiltName } from '../../engine/docker';
import { imageUse, type ImageUse } from '../../environments/imageBudget';
import { EXIT, terminalReporter, type CommandContext } from '../context';
import { dockerHostOption } from '../options/dockerOptions';
import { valuesOf } from '../options/engineOptions';
import { list } from '../options/optionValues';
import { storageOption } from '../options/sharedOptions';
import type { RegisterCommand } from '../registerCommand';

interface PushOptions {
  registry: string;
  ids?: string[];
  dockerHost?: string;
  storage: string;
}

/** Registers the command `images push`. */
export const registerImages: RegisterCommand = (command, context, finish) => {
  command
    .command('push')
    .description('push instance images built on this machine so that pods can pull them')
    .addOption(
      new Option(
        '--registry <place>',
        'registry and namespace, such as registry.example.org/tests',
      ).makeOptionMandatory(),
    )
    .option('--ids <a,b>', 'only images of these instances', list)
    .addOption(dockerHostOption())
    .addOption(storageOption())
    .action(async (options: PushOptions) => finish(await pushImagesCommand(options, context)));
};

/**
 * `swt-bench images push`: pushes images of instances under the names that `--prebuilt PLACE` asks
 * for.
 */
async function pushImagesCommand(options: PushOptions, context: CommandContext): Promise<number> {
  const { storage, ids } = options;
  const place = checkedPlace(options.registry);
  const reporter = terminalReporter(context);
  const work = { signal: context.signal, reporter };
  const connection = await connect({
    host: valuesOf(dockerSettings, options).host,
    signal: work.signal,
  });
  try {
    const images = latestOf(await imageUse(connection, storage), ids);
    for (const [at, { instance, id }] of images.entries()) {
      const name = prebuiltName(instance, place);
      reporter.progress(`Pushing ${name} (${at + 1} of ${images.length})`);
      await pushImage(connection, { image: id, name }, work);
      reporter.log(`pushed ${name}`);
    }
    reporter.clear();
    context.stdout(
      `${plural(images.length, 'image')} pushed. Use them in pods with: --engine kubernetes --prebuilt ${place}\n`,
    );
    return EXIT.done;
  } finally {
    await connection.close();
  }
}

/** @throws HumanError when it names no registry */
function checkedPlace(written: string): string {
  const place = written.replace(/\/+$/, '');
  if (/^([a-z0-9.-]+(:\d+)?)(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/.test(place)) return place;
  throw new HumanError(
    `${JSON.stringify(written)} is not a valid --registry`,
    'Write a registry and namespace, such as registry.example.org/tests or docker.io/name',
  );
}

/**
 * The image of each instance that was used last.
 *
 * @throws HumanError when there is none, or none of an instance that was asked for
 */
function latestOf(images: readonly ImageUse[], ids: readonly string[] | undefined): ImageUse[] {
  const latest = new Map<string, ImageUse>();
  for (const image of images) {
    if (image.kind !== 'instance' || (ids !== undefined && !ids.includes(image.instance))) continue;
    const known = latest.get(image.instance);
    if (known === undefined || known.lastUsed < image.lastUsed) latest.set(image.instance, image);
  }
  const missing = (ids ?? []).filter((id) => !latest.has(id));
  if (missing.length === 0 && latest.size > 0) return [...latest.values()];
  throw new HumanError(
    missing.length === 0
      ? 'No instance images were built on this machine'
      : `No images were built on this machine for ${missing.join(', ')}`,
    'Evaluate or validate the instances with --engine docker to build their images',
  );
}
