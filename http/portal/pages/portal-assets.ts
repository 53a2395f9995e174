/**
 * Scripts, styles and fonts of the portal's pages, all below one prefix: the compiled files of `client/`, pdf.js as it
 * comes, and the library that opens certificate files. Sent compressed where the browser takes it.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { z } from 'zod';
import { PortalRefusal } from '../../../machines/portal-refusals.ts';
import { type Asset, asset, assetReply } from '../../asset.ts';
import type { AssetReply, EmptyReply, ReplyHeaders } from '../../reply.ts';
import type { AnyRoute } from '../../router.ts';
import { portalRoute } from '../route.ts';
import { ASSETS } from './frame.ts';
import { DECODER_HEADERS, KEY_HEADERS } from './page-policy.ts';
import { PORTAL_STYLE } from './styles.ts';

/** Compiled files of `client/`. */
const SCRIPTS = [
  'afterwards.js',
  'certificate.js',
  'document-view.js',
  'dom.js',
  'drawing.js',
  'electronic.js',
  'forge.js',
  'initials.js',
  'key-worker.js',
  'mark-boxes.js',
  'marks.js',
  'outcome.js',
  'page-data.js',
  'pager.js',
  'password-secrets.js',
  'parent-window.js',
  'pdf-library.js',
  'pdf-view.js',
  'pkcs12.js',
  'requests.js',
  'signing.js',
] as const;

const JAVASCRIPT = 'text/javascript; charset=utf-8';
const TYPES: { readonly [extension: string]: string } = {
  js: JAVASCRIPT,
  mjs: JAVASCRIPT,
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  wasm: 'application/wasm',
};

/** A seal: a disc with a check mark. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="15" fill="#1b5fb4"/>
<path d="M9 16.5l5 5 9-10" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round"/></svg>
`;

/** The line about the sources, which are not served. */
const SOURCE_MAP = /\n\/\/# sourceMappingURL=\S+\s*$/;
/** Files below this gain nothing worth the work. */
const WORTH_COMPRESSING = 1_000;
/**
 * Brotli. Who asks first does not wait for the better one, which takes three seconds of processor for pdf.js and saves
 * 8 %: it is made afterwards, for files at least so long.
 */
const QUICK = 9;
const THOROUGH = 10;
const WORTH_THOROUGH = 100_000;
/** Names that the folders of pdf.js can hold. */
const FILE_NAME = /^[A-Za-z0-9][\w.-]*$/;

interface Kept {
  readonly plain: Asset;
  readonly headers: ReplyHeaders;
  /** Made when first asked for. */
  readonly packed: Map<Coding, Promise<Asset>>;
}
type Coding = 'br' | 'gzip';
type Bytes = string | Uint8Array;

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

function packageFolder(name: string): string {
  return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
}

type Source = () => Promise<{ readonly bytes: Bytes; readonly headers?: ReplyHeaders }>;

/** Where each of our names comes from. */
function sources(): ReadonlyMap<string, Source> {
  const pdf = packageFolder('pdfjs-dist');
  const forge = packageFolder('node-forge');
  const file = (path: string, headers: ReplyHeaders = []): Source => {
    return async () => ({ bytes: await readFile(path), headers });
  };
  const compiled = (name: string): Source => {
    const headers = name === 'key-worker.js' ? KEY_HEADERS : [];
    return async () => ({ bytes: await readScript(name), headers });
  };
  return new Map<string, Source>([
    ['icon.svg', async () => ({ bytes: ICON })],
    ['pages.css', async () => ({ bytes: PORTAL_STYLE })],
    ...SCRIPTS.map((name) => [name, compiled(name)] as const),
    ['pdf.min.mjs', file(join(pdf, 'build', 'pdf.min.mjs'))],
    ['pdf.worker.min.mjs', file(join(pdf, 'build', 'pdf.worker.min.mjs'), DECODER_HEADERS)],
    ['old-pdf.min.mjs', file(join(pdf, 'legacy', 'build', 'pdf.min.mjs'))],
    ['old-pdf.worker.min.mjs', file(join(pdf, 'legacy', 'build', 'pdf.worker.min.mjs'), DECODER_HEADERS)],
    // Written for pages, and loaded by a thread that has no window.
    [
      'forge.min.js',
      async () => ({
        bytes: `const window = globalThis;\n${await readFile(join(forge, 'dist', 'forge.min.js'), 'utf8')}`,
      }),
    ],
  ]);
}

/** A compiled script of `client/`, as browsers get it. */
export async function readScript(name: string): Promise<string> {
  const text = await readFile(new URL(`./client/${name}`, import.meta.url), 'utf8');
  return text.replace(SOURCE_MAP, '\n');
}

/** Routes of everything the pages load. */
export function portalAssetRoutes(): readonly AnyRoute[] {
  const known = sources();
  const kept = new Map<string, Promise<Kept>>();
  const pdf = packageFolder('pdfjs-dist');
  const keep = (name: string, load: () => Promise<Kept>): Promise<Kept> => {
    const there = kept.get(name);
    if (there !== undefined) return there;
    const loading = load();
    kept.set(name, loading);
    // A file that could not be read now may be there next time.
    loading.catch(() => kept.delete(name));
    return loading;
  };
  const named = (name: string) => {
    const source = known.get(name);
    if (source === undefined) throw new PortalRefusal('NotFound', 'The pages have no such part.');
    return keep(name, async () => {
      const { bytes, headers = [] } = await source();
      return keptOf(name, bytes, headers);
    });
  };
  const inFolder = (folder: string) => (name: string) => {
    if (!FILE_NAME.test(name)) throw new PortalRefusal('NotFound', 'The pages have no such part.');
    return keep(`${folder}/${name}`, async () => {
      const bytes = await readFile(join(pdf, folder, name)).catch(() => {
        throw new PortalRefusal('NotFound', 'The pages have no such part.');
      });
      const headers = name.endsWith('.js') ? DECODER_HEADERS : [];
      return keptOf(name, bytes, headers);
    });
  };
  return [
    assetRoute('{name}', 'A script or style of the pages.', named),
    assetRoute('cmaps/{name}', 'A character map of pdf.js.', inFolder('cmaps')),
    assetRoute('standard-fonts/{name}', 'A font of pdf.js.', inFolder('standard_fonts')),
    assetRoute('wasm/{name}', 'A decoder of pdf.js.', inFolder('wasm')),
  ];
}

function assetRoute(path: string, summary: string, find: (name: string) => Promise<Kept>): AnyRoute {
  return portalRoute({
    method: 'GET',
    path: `${ASSETS}/${path}`,
    summary,
    auth: 'anonymous',
    headers: ['if-none-match', 'accept-encoding'],
    params: z.object({ name: z.string() }),
    responses: { 200: 'asset' },
    refusals: ['NotFound'],
    handle: async ({ params, header }) =>
      packedReply(await find(params.name), header('if-none-match'), header('accept-encoding')),
  });
}

function keptOf(name: string, bytes: Bytes, headers: ReplyHeaders): Kept {
  const extension = name.slice(name.lastIndexOf('.') + 1);
  const plain = asset(TYPES[extension] ?? 'application/octet-stream', bytes);
  return { plain, headers, packed: new Map() };
}

/** The part as the browser takes it. */
async function packedReply(
  { plain, headers, packed }: Kept,
  ifNoneMatch: string,
  accepted: string,
): Promise<AssetReply | EmptyReply> {
  const coding = Buffer.byteLength(plain.body) < WORTH_COMPRESSING ? undefined : codingFor(accepted);
  if (coding === undefined) return withHeaders(assetReply(plain, ifNoneMatch), headers);
  let packing = packed.get(coding);
  if (packing === undefined) {
    packing = pack(plain, coding, QUICK);
    packed.set(coding, packing);
    if (coding === 'br' && Buffer.byteLength(plain.body) >= WORTH_THOROUGH) {
      void packing
        .then(() => pack(plain, coding, THOROUGH))
        .then((better) => packed.set(coding, Promise.resolve(better)))
        .catch(() => undefined);
    }
  }
  return withHeaders(assetReply(await packing, ifNoneMatch), [...headers, ['Content-Encoding', coding]]);
}

/** Another tag than the plain one has: they are different bytes. */
async function pack({ contentType, body, etag }: Asset, coding: Coding, quality: number): Promise<Asset> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const packed =
    coding === 'br'
      ? await brotli(bytes, {
          params: {
            [constants.BROTLI_PARAM_QUALITY]: quality,
            [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
          },
        })
      : await zip(bytes, { level: 9 });
  return { contentType, body: packed, etag: etag.replace(/"$/, `-${coding}${quality}"`) };
}

function withHeaders(reply: AssetReply | EmptyReply, headers: ReplyHeaders): AssetReply | EmptyReply {
  return { ...reply, headers: [...(reply.headers ?? []), ...headers, ['Vary', 'Accept-Encoding']] };
}

/** RFC 9110 §12.5.3; a coding with quality 0 is not taken. */
export function codingFor(accepted: string): Coding | undefined {
  const taken = accepted.split(',').map((entry) => entry.trim().toLowerCase());
  const takes = (name: string) =>
    taken.some((entry) => entry.split(';')[0]?.trim() === name && !/;\s*q=0(\.0*)?$/.test(entry));
  if (takes('br')) return 'br';
  return takes('gzip') ? 'gzip' : undefined;
}
