/** Time-stamped XML signatures, and an independent check of the data their time-stamps cover. */
import { readFileSync } from 'node:fs';
import { openSource } from '#crypto/core/files.js';
import type { AugmentFileRequest, SignatureLevel, SignFileRequest, XadesFormat } from '#crypto/core/types.js';
import { readTimestampToken } from '#crypto/evidence/timestamp-reader.js';
import { validateSignatures } from '#crypto/validation/validate-signature.js';
import { augmentXades } from '#crypto/xades/augment.js';
import { signXadesAtLevel } from '#crypto/xades/sign.js';
import { inspectXades } from '#crypto/xades/validate.js';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';
import type { KeyKind } from '../../pki/pki.ts';
import { runTool, type XmlsecVerdict, xmlsec1 } from '../../verifiers/index.ts';
import { canonicalByXmllint, NOW, newFile, newPath } from './signing.ts';

let started: Promise<TestAuthority> | undefined;

/** Returns the authority of this process. */
export function authority(): Promise<TestAuthority> {
  started ??= startAuthority();
  return started;
}

/** The next file of this process that needs one starts another. */
export async function closeAuthority(): Promise<void> {
  const ended = await started;
  started = undefined;
  await ended?.close();
}

export interface Leveled {
  readonly input: string;
  readonly path: string;
  readonly bytes: Buffer;
}

/** Signs at the level in one call. */
export async function signAt(
  document: string | Buffer,
  level: SignatureLevel,
  xades: XadesFormat = {},
  more: Partial<SignFileRequest> & { readonly kind?: KeyKind; readonly extension?: string } = {},
): Promise<Leveled> {
  const { services, pki } = await authority();
  const { kind = 'p-256', extension, ...rest } = more;
  const input = newFile(document, extension);
  const path = newPath();
  const signer = pki.signer(kind);
  await signXadesAtLevel(
    { format: 'Xades', input, output: path, signer, at: NOW, level, xades, ...rest },
    services,
  );
  return { input, path, bytes: readFileSync(path) };
}

export async function augmented(
  input: string,
  to: AugmentFileRequest['to'],
  content?: string,
): Promise<Leveled> {
  const { services } = await authority();
  const path = newPath();
  const request = { format: 'Xades', input, output: path, to, at: NOW } as const;
  await augmentXades({ ...request, ...(content !== undefined && { content }) }, services);
  return { input, path, bytes: readFileSync(path) };
}

export async function byXmlsecAt(path: string, cwdFile?: string): Promise<XmlsecVerdict> {
  const { pki } = await authority();
  return xmlsec1({
    file: cwdFile ?? path,
    ca: pki.rootFile,
    idAttributes: [
      ['Id', 'a'],
      ['Id', 'http://www.w3.org/2000/09/xmldsig#:Object'],
      ['Id', 'http://www.w3.org/2000/09/xmldsig#:SignatureValue'],
    ],
  });
}

/** Lists local names of the unsigned properties of the last signature that has some, in order. */
export function unsignedProperties(bytes: Buffer): string[] {
  const text = bytes.toString('latin1');
  const start = text.lastIndexOf(
    'UnsignedSignatureProperties',
    text.lastIndexOf('UnsignedSignatureProperties>') - 1,
  );
  const inside = text.slice(text.indexOf('>', start) + 1, text.lastIndexOf('UnsignedSignatureProperties>'));
  const names: string[] = [];
  let depth = 0;
  for (const [tag, slash, name] of inside.matchAll(/<(\/?)(?:[A-Za-z0-9]+:)?([A-Za-z0-9]+)[^>]*>/g)) {
    if (slash === '/') depth--;
    else {
      if (depth === 0) names.push(name ?? '');
      if (!tag.endsWith('/>')) depth++;
    }
  }
  return names;
}

/** Lists the tokens in properties of that name, in order. */
export function tokensIn(bytes: Buffer, local: string): Buffer[] {
  const pattern = new RegExp(`<[a-z0-9]+:${local}[ >].*?EncapsulatedTimeStamp[^>]*>([^<]*)<`, 'gs');
  return [...bytes.toString('latin1').matchAll(pattern)].map(([, text]) => Buffer.from(text ?? '', 'base64'));
}

/** True if `openssl ts` accepts the token over the bytes. */
export async function tokenIsOver(token: Buffer, data: Buffer): Promise<boolean> {
  const { pki } = await authority();
  readTimestampToken(token);
  const paths = [newFile(token, 'tst'), newFile(data, 'bin')] as const;
  const { exit, stdout, stderr } = await runTool('openssl', [
    'ts',
    '-verify',
    '-token_in',
    '-in',
    paths[0],
    '-data',
    paths[1],
    '-CAfile',
    pki.rootFile,
    '-untrusted',
    pki.stampingFile,
  ]);
  return exit === 0 && /Verification: OK/.test(stdout + stderr);
}

/**
 * Builds the bytes that an archive time-stamp covers (EN 319 132-1 §5.5.2), canonicalized by xmllint.
 * @param data content of the first reference
 */
export async function archivedByXmllint(
  path: string,
  data: Buffer,
  {
    before,
    object,
    around,
  }: {
    /** Number of unsigned properties before the time-stamp. */
    readonly before: number;
    readonly object?: string | undefined;
    readonly around?: { readonly [prefix: string]: string } | undefined;
  },
): Promise<Buffer> {
  const part = (xpath: string): Promise<Buffer> => canonicalByXmllint(path, xpath, around);
  const local = (name: string): string => `//*[local-name()='${name}']`;
  const parts = [data];
  for (const name of ['SignedProperties', 'SignedInfo', 'SignatureValue', 'KeyInfo']) {
    parts.push(await part(`(${local(name)})[1]`));
  }
  for (let index = 1; index <= before; index++) {
    parts.push(await part(`${local('UnsignedSignatureProperties')}/*[${index}]`));
  }
  if (object !== undefined) parts.push(await part(object));
  return Buffer.concat(parts);
}

/** Returns the level of a signature that passes validation without warnings; otherwise the findings. */
export async function judgedLevel(path: string, content?: string): Promise<string | undefined> {
  const { trust } = await authority();
  const sources = [path, ...(content === undefined ? [] : [content])].map((path) => openSource(path));
  const [file, beside] = sources;
  if (file === undefined) return undefined;
  const facts = inspectXades(file, beside === undefined ? {} : { content: beside });
  for (const source of sources) source.close();
  // A few seconds later, so that new time-stamps are in the past.
  const embedded = readFileSync(path, 'latin1').includes('RevocationValues');
  const offline = {
    anchors: trust.anchors,
    intermediates: trust.intermediates ?? [],
    // At T, the file has no revocation information; from LT on, only embedded information is used.
    revocation: embedded ? trust.revocation : 'none',
  } as const;
  const report = validateSignatures('Xades', facts, { trust: offline, at: Date.now() + 60_000 });
  const [signature] = report.signatures;
  if (report.indication === 'TOTAL-PASSED') return signature?.level;
  return JSON.stringify([
    report.results.errors,
    signature?.indication,
    signature?.subIndication,
    signature?.results,
  ]);
}
