/**
 * Scripts, styles and fonts of the portal's pages, below one prefix: the bundles of the build, pdf.js unchanged, and
 * the library that opens certificate files. Compressed where the browser accepts it.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { z } from 'zod';
import type { BrandingService } from '../../../actors/portal/api.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { ASSETS, BRANDING } from '../../../web/pages/portal/page-frame.tsx';
import { type Asset, asset, assetReply } from '../../core/asset.ts';
import { ICON_SVG } from '../../core/icon.ts';
import { assetNames, PAGE_ASSETS, readAsset } from '../../core/page-assets.ts';
import type { AssetReply, EmptyReply, ReplyHeaders } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { portalRoute } from '../route.ts';
import { DECODER_HEADERS, KEY_HEADERS } from './page-policy.ts';

/**
 * `/widget.js`: the script with which other sites embed the signing page. A classic script and not a module, so that
 * it works in any page; see docs/embedding.md.
 */
export function widgetRoutes(): readonly AnyRoute[] {
  const widget = readAsset('portal', 'widget.js');
  return [
    portalRoute({
      method: 'GET',
      path: '/widget.js',
      group: 'Pages',
      summary: 'The script with which other applications show the signing page or the editor.',
      description: 'Shows the page of an `embedUrl` in a frame, and passes its messages on.',
      auth: 'anonymous',
      headers: ['if-none-match'],
      responses: { 200: 'asset' },
      refusals: [],
      handle({ header }) {
        const reply = assetReply(widget, header('if-none-match'));
        // Cross-origin isolated sites load only resources that permit it.
        return {
          ...reply,
          headers: [...(reply.headers ?? []), ['Cross-Origin-Resource-Policy', 'cross-origin']],
        };
      },
    }),
  ];
}

const params = z.object({ id: z.string() });

/** Logo and stylesheet of an organization's pages. Nobody needs a key: both are shown to everybody who gets a link. */
export function brandingAssetRoutes(
  branding: Pick<BrandingService, 'logo' | 'stylesheet'>,
): readonly AnyRoute[] {
  /** @param read returns the asset of an organization; undefined where it has none */
  const route = (
    name: string,
    what: string,
    summary: string,
    read: (id: string) => Promise<ReturnType<typeof asset> | undefined>,
  ) =>
    portalRoute({
      method: 'GET',
      path: `${BRANDING}/{id}/${name}`,
      group: 'Pages',
      summary,
      description: `Part of the pages that everybody with a link sees, so it needs no key. 404 without ${what}.`,
      auth: 'anonymous',
      headers: ['if-none-match'],
      params,
      responses: { 200: 'asset' },
      refusals: ['NotFound'],
      async handle({ params: { id }, header }) {
        const found = await read(id);
        if (found === undefined) throw new PortalRefusal('NotFound');
        return assetReply(found, header('if-none-match'));
      },
    });
  return [
    route('logo', 'a logo', 'The logo on the pages of an organization.', async (id) => {
      const logo = await branding.logo(id);
      return logo && asset(logo.contentType, logo.bytes);
    }),
    route('colors.css', 'colors', 'The colors of the pages of an organization.', async (id) => {
      const rules = await branding.stylesheet(id);
      return rules === undefined ? undefined : asset('text/css; charset=utf-8', rules);
    }),
  ];
}

const JAVASCRIPT = 'text/javascript; charset=utf-8';
const TYPES: { readonly [extension: string]: string } = {
  js: JAVASCRIPT,
  mjs: JAVASCRIPT,
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  wasm: 'application/wasm',
  woff2: 'font/woff2',
};

/** Minimum size for compression, bytes. */
const MIN_COMPRESSED_BYTES = 1_000;
/** Brotli for what the first request waits for. The build packs scripts and styles better, which saves 8 %. */
const QUALITY = 9;
/** Files of the handwritings in the packages `@fontsource/*`. */
const HAND_FILE = /^(caveat|dancing-script|homemade-apple)-(latin|latin-ext)\.woff2$/;
/** Valid file names in the folders of pdf.js. */
const FILE_NAME = /^[A-Za-z0-9][\w.-]*$/;

interface CachedAsset {
  readonly plain: Asset;
  readonly headers: ReplyHeaders;
  /** Created by the first request, where the build has none. */
  readonly packed: Map<Coding, Promise<Asset>>;
}
type Coding = 'br' | 'gzip';
type Bytes = string | Uint8Array;

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** The build puts it here (`scripts/vendor-pdf.mjs`). */
const PDF_JS = fileURLToPath(new URL('../../../vendor/pdfjs-dist', import.meta.url));

function packageFolder(name: string): string {
  return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
}

type Source = () => Promise<{
  readonly bytes: Bytes;
  readonly headers?: ReplyHeaders;
  /** The same in Brotli, where the build has made it. */
  readonly brotli?: Uint8Array;
}>;

/** File of each asset. */
function sources(): ReadonlyMap<string, Source> {
  const pdf = PDF_JS;
  const forge = packageFolder('node-forge');
  const file = (path: string, headers: ReplyHeaders = []): Source => {
    return async () => ({ bytes: await readFile(path), headers });
  };
  const packed = (path: string, headers: ReplyHeaders = []): Source => {
    return async () => ({ bytes: await readFile(path), headers, brotli: await readFile(`${path}.br`) });
  };
  const bundled = (name: string): Source =>
    (name.endsWith('.woff2') ? file : packed)(
      fileURLToPath(new URL(`portal/${name}`, PAGE_ASSETS)),
      name === 'key-worker.js' ? KEY_HEADERS : [],
    );
  return new Map<string, Source>([
    ['icon.svg', async () => ({ bytes: ICON_SVG })],
    ...assetNames('portal').map((name) => [name, bundled(name)] as const),
    ['pdf.min.mjs', packed(join(pdf, 'build', 'pdf.min.mjs'))],
    ['pdf.worker.min.mjs', packed(join(pdf, 'build', 'pdf.worker.min.mjs'), DECODER_HEADERS)],
    ['old-pdf.min.mjs', packed(join(pdf, 'legacy', 'build', 'pdf.min.mjs'))],
    ['old-pdf.worker.min.mjs', packed(join(pdf, 'legacy', 'build', 'pdf.worker.min.mjs'), DECODER_HEADERS)],
    // The UMD build expects a window, and a worker loads it.
    [
      'forge.min.js',
      async () => ({
        bytes: `const window = globalThis;\n${await readFile(join(forge, 'dist', 'forge.min.js'), 'utf8')}`,
      }),
    ],
  ]);
}

/** Each asset is read once, when it is asked for first. */
class PortalAssets {
  readonly #sources = sources();
  readonly #kept = new Map<string, Promise<CachedAsset>>();

  /** A part of the pages themselves. Refusals: `NotFound`. */
  named(name: string): Promise<CachedAsset> {
    const source = this.#sources.get(name);
    if (source === undefined) throw unknownPart();
    return this.#keep(name, async () => {
      const { bytes, headers = [], brotli } = await source();
      const found = cachedAsset(name, bytes, headers);
      if (brotli !== undefined)
        found.packed.set('br', Promise.resolve(packedAsset(found.plain, 'br', brotli)));
      return found;
    });
  }

  /** A file of pdf.js. Refusals: `NotFound`. */
  ofPdfJs(folder: string, name: string): Promise<CachedAsset> {
    if (!FILE_NAME.test(name)) throw unknownPart();
    const headers = name.endsWith('.js') ? DECODER_HEADERS : [];
    return this.#keep(`${folder}/${name}`, async () =>
      cachedAsset(name, await readPart(join(PDF_JS, folder, name)), headers),
    );
  }

  /** A handwriting font. Refusals: `NotFound`. */
  font(name: string): Promise<CachedAsset> {
    const [, hand = '', subset = ''] = HAND_FILE.exec(name) ?? [];
    if (hand === '') throw unknownPart();
    return this.#keep(`fonts/${name}`, async () => {
      const file = `${hand}-${subset}-400-normal.woff2`;
      return cachedAsset(name, await readPart(join(packageFolder(`@fontsource/${hand}`), 'files', file)), []);
    });
  }

  #keep(name: string, load: () => Promise<CachedAsset>): Promise<CachedAsset> {
    const there = this.#kept.get(name);
    if (there !== undefined) return there;
    const loading = load();
    this.#kept.set(name, loading);
    // A file that could not be read now may exist later.
    loading.catch(() => this.#kept.delete(name));
    return loading;
  }
}

function unknownPart(): PortalRefusal {
  return new PortalRefusal('NotFound', 'The pages have no such part.');
}

function readPart(path: string): Promise<Buffer> {
  return readFile(path).catch(() => {
    throw unknownPart();
  });
}

/** Routes of every asset of the pages. */
export function portalAssetRoutes(): readonly AnyRoute[] {
  const assets = new PortalAssets();
  const inFolder = (folder: string) => (name: string) => assets.ofPdfJs(folder, name);
  return [
    assetRoute(
      '{name}',
      {
        summary: 'A script or style of the pages.',
        description:
          'Loaded by the pages. A browser that has it asks with `If-None-Match` whether it has changed.',
      },
      (name) => assets.named(name),
    ),
    assetRoute(
      'cmaps/{name}',
      {
        summary: 'A character map of pdf.js.',
        description: 'Loaded when a PDF names it without embedding it.',
      },
      inFolder('cmaps'),
    ),
    assetRoute(
      'standard-fonts/{name}',
      {
        summary: 'A font of pdf.js.',
        description: 'Loaded when a PDF uses a standard font without embedding it.',
      },
      inFolder('standard_fonts'),
    ),
    assetRoute(
      'fonts/{name}',
      {
        summary: 'A handwriting font for typed signatures.',
        description: 'One file for each set of characters; only those that a name needs are loaded.',
      },
      (name) => assets.font(name),
    ),
    assetRoute(
      'wasm/{name}',
      {
        summary: 'A decoder of pdf.js.',
        description:
          'Loaded when a page has pictures of its format. Its headers allow the thread of pdf.js to run it.',
      },
      inFolder('wasm'),
    ),
  ];
}

function assetRoute(
  path: string,
  texts: Pick<AnyRoute, 'summary' | 'description'>,
  find: (name: string) => Promise<CachedAsset>,
): AnyRoute {
  return portalRoute({
    method: 'GET',
    path: `${ASSETS}/${path}`,
    group: 'Pages',
    ...texts,
    auth: 'anonymous',
    headers: ['if-none-match', 'accept-encoding'],
    params: z.object({ name: z.string() }),
    responses: { 200: 'asset' },
    refusals: ['NotFound'],
    handle: async ({ params, header }) =>
      compressedReply(await find(params.name), header('if-none-match'), header('accept-encoding')),
  });
}

function cachedAsset(name: string, bytes: Bytes, headers: ReplyHeaders): CachedAsset {
  const extension = name.slice(name.lastIndexOf('.') + 1);
  const plain = asset(TYPES[extension] ?? 'application/octet-stream', bytes);
  return { plain, headers, packed: new Map() };
}

/** The asset in a coding that the browser accepts. */
async function compressedReply(
  { plain, headers, packed }: CachedAsset,
  ifNoneMatch: string,
  accepted: string,
): Promise<AssetReply | EmptyReply> {
  const coding = Buffer.byteLength(plain.body) < MIN_COMPRESSED_BYTES ? undefined : codingFor(accepted);
  if (coding === undefined) return withHeaders(assetReply(plain, ifNoneMatch), headers);
  let packing = packed.get(coding);
  if (packing === undefined) {
    packing = compress(plain, coding);
    packed.set(coding, packing);
  }
  return withHeaders(assetReply(await packing, ifNoneMatch), [...headers, ['Content-Encoding', coding]]);
}

async function compress(plain: Asset, coding: Coding): Promise<Asset> {
  const { body } = plain;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const packed =
    coding === 'br'
      ? await brotli(bytes, {
          params: {
            [constants.BROTLI_PARAM_QUALITY]: QUALITY,
            [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
          },
        })
      : await zip(bytes, { level: 9 });
  return packedAsset(plain, coding, packed);
}

/** A tag different from that of the uncompressed bytes. */
function packedAsset({ contentType, etag }: Asset, coding: Coding, body: Uint8Array): Asset {
  return { contentType, body, etag: etag.replace(/"$/, `-${coding}"`) };
}

function withHeaders(reply: AssetReply | EmptyReply, headers: ReplyHeaders): AssetReply | EmptyReply {
  return { ...reply, headers: [...(reply.headers ?? []), ...headers, ['Vary', 'Accept-Encoding']] };
}

/** RFC 9110 §12.5.3; a coding with quality 0 is not acceptable. */
export function codingFor(accepted: string): Coding | undefined {
  const taken = accepted.split(',').map((entry) => entry.trim().toLowerCase());
  const takes = (name: string) =>
    taken.some((entry) => entry.split(';')[0]?.trim() === name && !/;\s*q=0(\.0*)?$/.test(entry));
  if (takes('br')) return 'br';
  return takes('gzip') ? 'gzip' : undefined;
}
