import { z } from 'zod';
import { plural } from '../../../../domain/text';

/**
 * One line of the engine's stream while it pulls.
 * https://docs.docker.com/reference/api/engine/ (ImageCreate)
 */
const pullLine = z.object({
  status: z.string().optional(),
  id: z.string().optional(),
  progressDetail: z
    .object({ current: z.number().optional(), total: z.number().optional() })
    .nullish(),
  error: z.string().optional(),
  errorDetail: z.object({ message: z.string().optional() }).nullish(),
});

interface Layer {
  current: number;
  total: number;
  /** Whether the layer is completely here and unpacked. */
  isDone: boolean;
}

/** Collects what the stream of a pull reports, to show it on one line. */
export class PullProgress {
  readonly #layers = new Map<string, Layer>();
  #rest = '';
  #error: string | undefined;
  #digest: string | undefined;
  #retry: string | undefined;

  /** Adds the next bytes of the stream. */
  add(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
  }

  /** Handles the end of the stream. */
  end(): void {
    this.#line(this.#rest);
    this.#rest = '';
  }

  /** The engine's error; undefined when there is none. */
  get error(): string | undefined {
    return this.#error;
  }

  /** Digest that the registry has for the name. */
  get digest(): string | undefined {
    return this.#digest;
  }

  /** Bytes received over the network. */
  get bytes(): number {
    return [...this.#layers.values()].reduce((sum, { current }) => sum + current, 0);
  }

  /**
   * The progress in words, such as `12.3 of 45.6 MB, 3 of 7 layers`. Totals cover only the layers
   * that have begun.
   */
  describe(): string {
    const layers = [...this.#layers.values()];
    if (layers.length === 0) return 'contacting the registry';
    const total = layers.reduce((sum, layer) => sum + layer.total, 0);
    const done = layers.filter(({ isDone }) => isDone).length;
    const text = `${megabytes(this.bytes)} of ${megabytes(total)} MB, ${done} of ${plural(layers.length, 'layer')}`;
    return this.#retry === undefined ? text : `${text}, ${this.#retry}`;
  }

  #line(text: string): void {
    if (text.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return;
    }
    const read = pullLine.safeParse(value);
    if (!read.success) return;
    const { status = '', id, progressDetail, error, errorDetail } = read.data;
    if (error !== undefined || errorDetail)
      this.#error = errorDetail?.message ?? error ?? 'unknown';
    this.#digest = /^Digest: (\S+)$/.exec(status)?.[1] ?? this.#digest;
    if (id === undefined) return;
    this.#retry = /^Retrying in /.test(status) ? status.toLowerCase() : undefined;
    // A line "Pulling from" has the tag as its id, and the last line of Podman the image's own id.
    const known = this.#layers.get(id);
    if (known === undefined && !layerStatus.test(status)) return;
    const layer = known ?? { current: 0, total: 0, isDone: false };
    this.#layers.set(id, layer);
    const { current, total } = progressDetail ?? {};
    if (/^Downloading/.test(status)) {
      layer.current = current ?? layer.current;
      layer.total = Math.max(total ?? 0, layer.total, layer.current);
    } else if (/^(Verifying Checksum|Download complete|Extracting|Pull complete)/.test(status)) {
      layer.current = layer.total;
    }
    layer.isDone ||= /^(Pull complete|Already exists)/.test(status);
  }
}

const layerStatus =
  /^(Pulling fs layer|Waiting|Downloading|Verifying Checksum|Download complete|Extracting|Pull complete|Already exists|Retrying)/;

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
