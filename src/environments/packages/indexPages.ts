import { z } from 'zod';

/**
 * A file that an index lists for a project.
 * https://packaging.python.org/en/latest/specifications/simple-repository-api/
 */
export interface IndexFile {
  readonly filename: string;
  /** Absolute address. */
  readonly url: string;
  /** SHA-256 as the index publishes it; undefined where it publishes none. */
  readonly sha256: string | undefined;
  readonly requiresPython: string | undefined;
  /**
   * Whether its metadata is published beside it, with the SHA-256 of the metadata where that is
   * published.
   */
  readonly metadata: boolean | { readonly sha256: string };
  /** ISO 8601. */
  readonly uploadTime: string | undefined;
  readonly size: number | undefined;
  readonly yanked: boolean | string;
}

/** Accepted content types, the preferred one first. */
export const pageTypes = [
  'application/vnd.pypi.simple.v1+json',
  'application/vnd.pypi.simple.v1+html;q=0.2',
  'text/html;q=0.1',
].join(', ');

const digest = /^[0-9a-f]{64}$/;
const metadataField = z.union([z.boolean(), z.record(z.string(), z.string())]).nullish();

const jsonPage = z.object({
  files: z.array(
    z.object({
      filename: z.string(),
      url: z.string(),
      hashes: z.record(z.string(), z.string()).nullish(),
      'requires-python': z.string().nullish(),
      'core-metadata': metadataField,
      'dist-info-metadata': metadataField,
      'upload-time': z.string().nullish(),
      size: z.number().nullish(),
      yanked: z.union([z.boolean(), z.string()]).nullish(),
    }),
  ),
});

/** Names of archives; all other names are left out. */
const plainFile = /^[A-Za-z0-9][\w.+!%-]{0,250}$/;

/**
 * Files on an index's page for one project. Unusable entries are left out.
 *
 * @param url address of the page, the base of relative addresses
 * @throws Error when the text is no such page
 */
export function readIndexPage(text: string, type: string, url: string): IndexFile[] {
  const files = /json/i.test(type) ? readJson(text, url) : readHtml(text, url);
  return files.filter(({ filename, url: address }) => {
    return plainFile.test(filename) && /^https?:\/\//.test(address);
  });
}

function readJson(text: string, base: string): IndexFile[] {
  return jsonPage.parse(JSON.parse(text)).files.flatMap((file): IndexFile[] => {
    const url = resolved(file.url, base);
    if (url === undefined) return [];
    const metadata = file['core-metadata'] ?? file['dist-info-metadata'] ?? false;
    return [
      {
        filename: file.filename,
        url,
        sha256: plainDigest(file.hashes?.['sha256']),
        requiresPython: file['requires-python'] ?? undefined,
        metadata: typeof metadata === 'boolean' ? metadata : metadataOf(metadata['sha256']),
        uploadTime: file['upload-time'] ?? undefined,
        size: file.size ?? undefined,
        yanked: file.yanked ?? false,
      },
    ];
  });
}

function readHtml(text: string, base: string): IndexFile[] {
  const place = /<base\s[^>]*href\s*=\s*["']([^"']+)["']/i.exec(text)?.[1];
  const root = place === undefined ? base : (resolved(unescaped(place), base) ?? base);
  return [...text.matchAll(/<a\s([^>]*)>([^<]*)<\/a\s*>/gi)].flatMap(
    ([, written = '', name = '']): IndexFile[] => {
      const attributes = new Map(
        [...written.matchAll(/([\w-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)].map(
          ([, key = '', ...values]) =>
            [
              key.toLowerCase(),
              unescaped(values.find((each) => each !== undefined) ?? ''),
            ] as const,
        ),
      );
      const url = resolved(attributes.get('href') ?? '', root);
      if (url === undefined) return [];
      const { hash } = new URL(url);
      const told =
        attributes.get('data-core-metadata') ?? attributes.get('data-dist-info-metadata');
      return [
        {
          filename: unescaped(name).trim(),
          url: url.slice(0, url.length - hash.length),
          sha256: plainDigest(/^#sha256=(.*)$/i.exec(hash)?.[1]),
          requiresPython: attributes.get('data-requires-python'),
          metadata:
            told === undefined || told === 'false'
              ? false
              : metadataOf(/^sha256=(.*)$/i.exec(told)?.[1]),
          uploadTime: undefined,
          size: undefined,
          yanked: attributes.get('data-yanked') || attributes.has('data-yanked'),
        },
      ];
    },
  );
}

const metadataOf = (sha256: string | undefined): IndexFile['metadata'] => {
  const plain = plainDigest(sha256);
  return plain === undefined ? true : { sha256: plain };
};

const plainDigest = (text: string | undefined): string | undefined => {
  const lower = text?.toLowerCase();
  return lower !== undefined && digest.test(lower) ? lower : undefined;
};

function resolved(address: string, base: string): string | undefined {
  try {
    return new URL(address, base).href;
  } catch {
    return undefined;
  }
}

const entities: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" },
};

const unescaped = (text: string): string =>
  text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (typeof name === 'string') return entities[name.toLowerCase()] ?? whole;
    const code = typeof decimal === 'string' ? Number(decimal) : Number.parseInt(String(hex), 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** The page of a project as a client wants it, with addresses of files below `placeOf`. */
export function writeIndexPage(
  name: string,
  files: readonly IndexFile[],
  placeOf: (file: IndexFile) => string,
  isJson: boolean,
): { readonly type: string; readonly text: string } {
  if (isJson) {
    const listed = files.map((file) => ({
      filename: file.filename,
      url: placeOf(file),
      hashes: file.sha256 === undefined ? {} : { sha256: file.sha256 },
      'requires-python': file.requiresPython,
      'core-metadata': file.metadata,
      'upload-time': file.uploadTime,
      size: file.size,
      yanked: file.yanked,
    }));
    return {
      type: 'application/vnd.pypi.simple.v1+json',
      text: JSON.stringify({ meta: { 'api-version': '1.1' }, name, files: listed }),
    };
  }
  const lines = files.map((file) => {
    const hash = file.sha256 === undefined ? '' : `#sha256=${file.sha256}`;
    const attributes = [
      `href="${escaped(placeOf(file))}${hash}"`,
      ...(file.requiresPython === undefined
        ? []
        : [`data-requires-python="${escaped(file.requiresPython)}"`]),
      ...(file.yanked === false
        ? []
        : [`data-yanked="${file.yanked === true ? '' : escaped(file.yanked)}"`]),
    ];
    return `<a ${attributes.join(' ')}>${escaped(file.filename)}</a><br>`;
  });
  const text = `<!DOCTYPE html>\n<html><body>\n${lines.join('\n')}\n</body></html>\n`;
  return { type: 'text/html', text };
}
