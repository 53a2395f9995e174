/**
 * Signs at the higher levels with a local authority, and asks programs of others what came out.
 */
import { createHash, X509Certificate } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { OID } from '#crypto/asn1/oids.js';
import { encoded } from '#crypto/asn1/read.js';
import { parseSignedData } from '#crypto/cms/parse.js';
import type { SignatureLevel, SignedFile, SignFileRequest } from '#crypto/core/types.js';
import type { SigningServices, TimestampAuthority } from '#crypto/evidence/authorities.js';
import { signPadesAtLevel } from '#crypto/pades/levels.js';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';
import { mutool, opensslCms, pdfsig, qpdf, runTool } from '../../verifiers/index.ts';
import { inspect, type QpdfDict, rawSignatures } from './inspect.ts';
import { freshPath, put } from './validation/verdicts.ts';

export const TOOLS = ['pdfsig', 'certutil', 'mutool', 'qpdf', 'openssl'] as const;

export interface SignedAt {
  readonly input: string;
  readonly output: string;
  readonly result: SignedFile;
}

/** An authority that is waited for as long as a busy machine needs to answer. */
export async function patientAuthority(): Promise<TestAuthority> {
  const authority = await startAuthority();
  const freshServices: TestAuthority['freshServices'] = (options) =>
    authority.freshServices({ timeoutMs: 60_000, ...options });
  return { ...authority, services: freshServices(), freshServices };
}

export async function signAt(
  authority: TestAuthority,
  level: SignatureLevel,
  input: string,
  more: Partial<SignFileRequest> & { readonly services?: SigningServices } = {},
): Promise<SignedAt> {
  const { services = authority.services, ...request } = more;
  const output = freshPath(`${level}.pdf`);
  const result = await signPadesAtLevel(
    {
      format: 'Pades',
      input,
      output,
      signer: authority.pki.signer('p-256'),
      at: Date.now(),
      level,
      ...request,
    },
    services,
  );
  return { input, output, result };
}

/** An authority that says it needs less room than it does, for so many tokens. */
export function understating(
  authority: TimestampAuthority,
  tokens: number,
): TimestampAuthority & { readonly asked: number } {
  let asked = 0;
  return {
    name: authority.name,
    get tokenLength() {
      return asked < tokens ? 200 : authority.tokenLength;
    },
    get asked() {
      return asked;
    },
    stamp(imprint, digest) {
      asked++;
      return authority.stamp(imprint, digest);
    },
  };
}

/** The signature-time-stamp tokens of a CMS, and the value they are over. */
export function tokensOf(cms: Buffer): { readonly tokens: readonly Buffer[]; readonly value: Buffer } {
  const [signer] = parseSignedData(cms).signers;
  return {
    tokens: (signer?.unsignedAttributes?.values.get(OID.signatureTimestamp) ?? []).map(encoded),
    value: signer?.signature ?? Buffer.alloc(0),
  };
}

/** True when openssl finds a token good for this content. */
export async function isStampedBy(
  authority: TestAuthority,
  token: Buffer,
  content: Buffer,
): Promise<boolean> {
  const { rootFile, stampingFile } = authority.pki;
  const paths = { token: put(token, 'token.der'), content: put(content, 'stamped.bin') };
  const { exit, stdout, stderr } = await runTool('openssl', [
    'ts',
    '-verify',
    '-token_in',
    '-in',
    paths.token,
    '-data',
    paths.content,
    '-CAfile',
    rootFile,
    '-untrusted',
    stampingFile,
  ]);
  return exit === 0 && `${stdout}${stderr}`.includes('Verification: OK');
}

/**
 * Every program accepts the first `signatures` signatures and, by openssl, the document time-stamps behind them.
 */
export async function acceptedAt(
  t: ExecutionContext,
  authority: TestAuthority,
  { input, output }: Pick<SignedAt, 'input' | 'output'>,
  shape: { readonly signatures?: number; readonly documentTimestamps?: number } = {},
): Promise<void> {
  const { signatures = 1, documentTimestamps = 0 } = shape;
  const verdicts = await pdfsig(output, authority.pki);
  const own = verdicts.filter(({ type }) => type === 'ETSI.CAdES.detached');
  // Some versions of pdfsig know what a document time-stamp is, none verifies one.
  const stamps = verdicts.filter(({ type }) => type === 'ETSI.RFC3161' || type === 'unknown');
  t.is(own.length, signatures);
  t.is(stamps.length, documentTimestamps);
  t.true(
    own.every(({ okEarlier }) => okEarlier),
    JSON.stringify(verdicts),
  );
  const judged = await mutool(output);
  t.true(judged.filter(({ unchanged, editedSince }) => unchanged || editedSince).length >= signatures);
  const before = await qpdf(input);
  const after = await qpdf(output);
  t.true(after.exit <= before.exit, after.text);
  const raw = rawSignatures(output);
  t.is(raw.length, signatures + documentTimestamps);
  for (const { content, signature } of raw) {
    if (isToken(signature)) {
      t.true(await isStampedBy(authority, signature, content));
      t.false(await isStampedBy(authority, signature, Buffer.concat([content, Buffer.from(' ')])));
    } else {
      const paths = { signature: put(signature, 'sig.der'), content: put(content, 'tbs.bin') };
      const verdict = await opensslCms({ ...paths, ca: authority.pki.rootFile });
      t.true(verdict.ok, verdict.text);
    }
  }
}

function isToken(signature: Buffer): boolean {
  return parseSignedData(signature).contentType !== OID.data;
}

/** Returns the contents of the document security store. */
export interface Store {
  readonly certificates: readonly Buffer[];
  readonly crls: readonly Buffer[];
  /** OCSPResponse. */
  readonly ocsps: readonly Buffer[];
  /** By key of the VRI entry. */
  readonly vri: ReadonlyMap<
    string,
    {
      readonly certificates: readonly Buffer[];
      readonly crls: readonly Buffer[];
      readonly ocsps: readonly Buffer[];
    }
  >;
}

export async function storeIn(path: string): Promise<Store> {
  const file = await inspect(path);
  const store = file.dict(file.catalog['/DSS']);
  const streams = (value: unknown) => file.array(value).map((item) => file.stream(item));
  const vri = Object.entries(file.dict(store['/VRI'])).filter(([key]) => key !== '/Type');
  const own = (entry: QpdfDict) => ({
    certificates: streams(entry['/Cert']),
    crls: streams(entry['/CRL']),
    ocsps: streams(entry['/OCSP']),
  });
  return {
    certificates: streams(store['/Certs']),
    crls: streams(store['/CRLs']),
    ocsps: streams(store['/OCSPs']),
    vri: new Map(vri.map(([key, value]) => [key.slice(1), own(file.dict(value))])),
  };
}

/** Subjects of certificates, sorted. */
export function subjects(certificates: readonly Buffer[]): readonly string[] {
  return certificates.map((der) => /CN=(.*)/.exec(new X509Certificate(der).subject)?.[1] ?? '').sort();
}

/** Key of the VRI entry of a signature, computed here from what the standard says. */
export function vriKey(contents: Buffer): string {
  return createHash('sha1').update(contents).digest('hex').toUpperCase();
}
