/** Signs and verifies documents in files of a temporary folder. */
import { constants, createHash, verify, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  SignatureParameters,
  SignedFile,
  Signer,
  VerificationReport,
  XadesFormat,
} from '#crypto/core/types.js';
import { signatureMethodOf } from '#crypto/xades/elements/identifiers.js';
import { signXades } from '#crypto/xades/sign.js';
import { verifyXades } from '#crypto/xades/verify.js';
import { pki } from '../../pki/pki.ts';
import { runTool, type XmlsecVerdict, xmlsec1 } from '../../verifiers/index.ts';

export const NOW = Date.now();

const folder = mkdtempSync(join(tmpdir(), 'sealwright-xades-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

export interface SignedDocument {
  readonly original: Buffer;
  readonly inputPath: string;
  readonly path: string;
  readonly file: SignedFile;
  readonly bytes: Buffer;
}

/** Returns a new path in the folder. */
export function newPath(extension = 'xml'): string {
  return join(folder, `${++files}.${extension}`);
}

/** Creates a file with these bytes and returns its path. */
export function newFile(content: string | Buffer, extension = 'xml'): string {
  const path = newPath(extension);
  writeFileSync(path, content);
  return path;
}

export interface SigningOptions extends Partial<SignatureParameters> {
  readonly signer?: Signer;
  readonly xades?: XadesFormat;
  /** Extension of the input's name. @default 'xml' */
  readonly extension?: string;
}

export function signDocument(document: string | Buffer, options: SigningOptions = {}): SignedDocument {
  const original = Buffer.from(document);
  const { signer = pki().signer('p-256'), at = NOW, extension, ...rest } = options;
  const inputPath = newFile(original, extension);
  const path = newPath();
  const file = signXades({
    digest: 'sha256',
    ...rest,
    format: 'Xades',
    input: inputPath,
    output: path,
    signer,
    at,
  });
  return { original, inputPath, path, file, bytes: readFileSync(path) };
}

/** Verifies with every optional check. */
export function verdict(path: string, original: Buffer, signer = pki().signer('p-256')): VerificationReport {
  const sha256 = createHash('sha256').update(original).digest('hex');
  return verifyXades({
    format: 'Xades',
    path,
    signer: signer.fingerprint,
    content: { sha256, length: original.length },
    anchors: [pki().root.certificate],
    at: NOW,
  });
}

/** Lists the names of failed checks. */
export function failed(report: VerificationReport): string[] {
  return report.checks.filter(({ ok }) => !ok).map(({ name }) => name);
}

/** Verifies a file by xmlsec1. */
export function byXmlsec(
  path: string,
  more: { readonly nodeId?: string; readonly idAttributes?: readonly (readonly [string, string])[] } = {},
): Promise<XmlsecVerdict> {
  return xmlsec1({ file: path, ca: pki().rootFile, ...more });
}

/** Namespaces that the product's signatures declare around their parts. */
const AROUND = { ds: 'http://www.w3.org/2000/09/xmldsig#', xades: 'http://uri.etsi.org/01903/v1.3.2#' };

const nameOf = (prefix: string): string => (prefix === '' ? 'xmlns' : `xmlns:${prefix}`);

/** Canonicalizes (exclusive) by xmllint the one element that the XPath names. */
export async function canonicalByXmllint(
  path: string,
  xpath: string,
  around: { readonly [prefix: string]: string } = AROUND,
): Promise<Buffer> {
  // xmllint canonicalizes whole documents only; the inherited namespaces are added to the element.
  const { stdout, stderr, exit } = await runTool('xmllint', ['--huge', '--xpath', xpath, path]);
  if (exit !== 0) throw new Error(`xmllint: ${stderr}`);
  const text = stdout.replace(/\n$/, '');
  const name = /^<([^\s/>]+)/.exec(text)?.[1] ?? '';
  const declared = text.slice(0, text.indexOf('>'));
  const missing = Object.entries(around).filter(([prefix]) => !declared.includes(` ${nameOf(prefix)}=`));
  const alone = newFile(
    `<${name}${missing.map(([prefix, uri]) => ` ${nameOf(prefix)}="${uri}"`).join('')}${text.slice(1 + name.length)}`,
  );
  const canonical = await runTool('xmllint', ['--huge', '--exc-c14n', alone]);
  if (canonical.exit !== 0) throw new Error(`xmllint: ${canonical.stderr}`);
  return Buffer.from(canonical.stdout);
}

/** Builds the XPath of the last element of XML Signature or XAdES with that local name. */
export function elementPath(local: string): string {
  return `(//*[local-name()='${local}'])[last()]`;
}

/** True if OpenSSL, through Node, accepts the last signature's value over SignedInfo canonicalized by xmllint. */
export async function valueIsRight(
  path: string,
  change: (signedInfo: Buffer) => Buffer = (same) => same,
): Promise<boolean> {
  const text = readFileSync(path, 'latin1');
  const last = (pattern: RegExp): string => [...text.matchAll(pattern)].at(-1)?.[1] ?? '';
  const signedInfo = await canonicalByXmllint(path, elementPath('SignedInfo'));
  const method = signatureMethodOf(
    /<ds:SignatureMethod Algorithm="([^"]+)"/.exec(signedInfo.toString())?.[1] ?? '',
  );
  if (method === undefined) return false;
  const certificate = last(/<ds:X509Data><ds:X509Certificate>([^<]+)</g);
  const value = Buffer.from(last(/<ds:SignatureValue[^>]*>([^<]+)</g), 'base64');
  const key = new X509Certificate(Buffer.from(certificate, 'base64')).publicKey;
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  return verify(
    method.scheme === 'ed25519' ? null : method.digest,
    change(signedInfo),
    { key, dsaEncoding: 'ieee-p1363', ...(method.scheme === 'rsa-pss' && pss) },
    value,
  );
}

/** Lists the digest values in SignedInfo of the last signature, in order. */
export function digestValues(bytes: Buffer): string[] {
  const info = bytes.toString('latin1').split('<ds:SignedInfo').at(-1)?.split('</ds:SignedInfo>')[0] ?? '';
  return [...info.matchAll(/<ds:DigestValue>([^<]*)</g)].map(([, value]) => value ?? '');
}
