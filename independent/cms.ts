/**
 * Verifies CMS signatures (RFC 5652) by pkijs on the runtime's Web Crypto: content digest, signed attributes and
 * signature value of each signer, and signature time-stamps (RFC 3161). Chains and revocation are not checked.
 */
import { createHash, webcrypto } from 'node:crypto';
import type { ObjectIdentifier } from 'asn1js';
import * as pkijs from 'pkijs';
import { type IndependentSignature, notComparable } from './types.ts';

const engine = new pkijs.CryptoEngine({ name: 'node', crypto: webcrypto as never });

/** Limit of signers in one CMS object, as in the engine. */
const MAX_SIGNERS = 500;
/** Limit of bytes to hash in one CMS object: the library hashes the content for each signer anew. */
const MAX_HASHED = 2 ** 30;
/** Limit of time-stamps of one signer. */
const MAX_TOKENS = 32;
const TIMESTAMP_CONTENT = '1.2.840.113549.1.9.16.1.4';
const TIMESTAMP_ATTRIBUTE = '1.2.840.113549.1.9.16.2.14';

/** Digests of Web Crypto: SHA-1 and SHA-2. */
const DIGESTS = /^(1\.3\.14\.3\.2\.26|2\.16\.840\.1\.101\.3\.4\.2\.[123])$/;
/** RSA PKCS#1 v1.5 (also named by the key alone), RSA-PSS, ECDSA. */
const SIGNATURES = /^(1\.2\.840\.113549\.1\.1\.(1|5|10|11|12|13)|1\.2\.840\.10045\.4\.(1|3\.[234]))$/;
const KEYS = /^(1\.2\.840\.113549\.1\.1\.1|1\.2\.840\.10045\.2\.1)$/;
/** P-256, P-384, P-521. */
const CURVES = /^(1\.2\.840\.10045\.3\.1\.7|1\.3\.132\.0\.3[45])$/;

/** Limit of CMS objects inside each other, and of layers of Base64 around one. */
const MAX_DEPTH = 4;

/**
 * Verifies every signer of a CMS object, and of a CMS object that is its content.
 * @param detached the content when it is not encapsulated
 */
export async function judgeCms(
  der: Buffer,
  detached: Buffer | undefined,
  at: number,
  depth = 1,
): Promise<readonly IndependentSignature[]> {
  const signed = parse(der);
  if (signed === undefined) return [notComparable('The library cannot read the CMS structure.')];
  const isToken = signed.encapContentInfo.eContentType === TIMESTAMP_CONTENT;
  const kind = isToken ? 'document-timestamp' : 'signature';
  if (signed.signerInfos.length > MAX_SIGNERS)
    return [notComparable(`There are more than ${MAX_SIGNERS} signers.`, kind)];
  const data = detached ?? Buffer.alloc(0);
  if (signed.signerInfos.length * (der.length + data.length) > MAX_HASHED)
    return [notComparable('Its signers take too much work.', kind)];
  const signatures: IndependentSignature[] = [];
  for (const [index, signer] of signed.signerInfos.entries()) {
    signatures.push(await judgeSigner(signed, index, { data, kind, at }));
    signatures.push(...(await judgeTokens(signer, at)));
  }
  const inside = isToken || depth === MAX_DEPTH ? undefined : signedInside(signed);
  return inside === undefined
    ? signatures
    : [...signatures, ...(await judgeCms(inside, undefined, at, depth + 1))];
}

/** Returns the content when it is itself a signature with content; undefined otherwise. */
function signedInside({ encapContentInfo: { eContent } }: pkijs.SignedData): Buffer | undefined {
  if (eContent === undefined) return undefined;
  const content = withoutArmor(Buffer.from(eContent.getValue()));
  const signed = content[0] === SEQUENCE ? parse(content) : undefined;
  if (signed === undefined || signed.signerInfos.length === 0) return undefined;
  const { eContentType, eContent: inner } = signed.encapContentInfo;
  return inner === undefined || eContentType === TIMESTAMP_CONTENT ? undefined : content;
}

const SEQUENCE = 0x30;

/** Verifies the signature time-stamps of a signer, which cover the signature value. */
async function judgeTokens(
  { unsignedAttrs, signature }: pkijs.SignerInfo,
  at: number,
): Promise<readonly IndependentSignature[]> {
  const kind = 'signature-timestamp';
  const judged: IndependentSignature[] = [];
  for (const { type, values } of unsignedAttrs?.attributes.slice(0, MAX_TOKENS) ?? []) {
    if (type !== TIMESTAMP_ATTRIBUTE) continue;
    for (const value of values.slice(0, MAX_TOKENS)) {
      const token = parse(Buffer.from((value as { toBER(): ArrayBuffer }).toBER()));
      if (token === undefined) judged.push(notComparable('The library cannot read the token.', kind));
      else
        judged.push(
          await judgeSigner(token, 0, { data: Buffer.from(signature.valueBlock.valueHexView), kind, at }),
        );
    }
  }
  return judged;
}

function parse(der: Buffer): pkijs.SignedData | undefined {
  try {
    const info = pkijs.ContentInfo.fromBER(Uint8Array.from(der).buffer);
    return new pkijs.SignedData({ schema: info.content });
  } catch {
    return undefined;
  }
}

async function judgeSigner(
  signed: pkijs.SignedData,
  index: number,
  {
    data,
    kind,
    at,
  }: { readonly data: Buffer; readonly kind: IndependentSignature['kind']; readonly at: number },
): Promise<IndependentSignature> {
  const info = signed.signerInfos[index];
  if (info === undefined) return notComparable('There is no signer.', kind);
  const value = Buffer.from(info.signature.valueBlock.valueHexView).toString('base64');
  const lack = lackOf(info);
  if (lack !== undefined) return { ...notComparable(lack, kind), value };
  try {
    const result = await signed.verify(
      {
        signer: index,
        data: Uint8Array.from(data).buffer,
        checkDate: new Date(at),
        checkChain: false,
        extendedMode: true,
      } as pkijs.SignedDataVerifyParams & { extendedMode: true },
      engine,
    );
    const ok = result.signatureVerified === true;
    const reason = ok ? '' : 'The signature value does not fit the signed attributes and the certificate.';
    return { kind, verdict: ok ? 'valid' : 'invalid', reason, value, ...signerOf(result.signerCertificate) };
  } catch (error) {
    if (!(error instanceof pkijs.SignedDataVerifyError)) throw error;
    const found = signerOf(error.signerCertificate);
    const unknown = UNDECIDED.has(error.code) ? error.message : lackOfKey(error.signerCertificate);
    if (unknown !== undefined) return { ...notComparable(unknown, kind), value, ...found };
    return { kind, verdict: 'invalid', reason: error.message, value, ...found };
  }
}

/** Codes of the library for: no certificates, signer's certificate not found, algorithm unknown, content not given. */
const UNDECIDED: ReadonlySet<number> = new Set([2, 3, 4, 7, 8]);

function lackOf({ digestAlgorithm, signatureAlgorithm }: pkijs.SignerInfo): string | undefined {
  const digest = digestAlgorithm.algorithmId;
  if (!DIGESTS.test(digest)) return `The library lacks the digest algorithm ${digest}.`;
  const signature = signatureAlgorithm.algorithmId;
  return SIGNATURES.test(signature) ? undefined : `The library lacks the signature algorithm ${signature}.`;
}

function lackOfKey(certificate: pkijs.Certificate | null): string | undefined {
  if (certificate === null) return undefined;
  const { algorithmId, algorithmParams } = certificate.subjectPublicKeyInfo.algorithm;
  if (!KEYS.test(algorithmId)) return `The library lacks the key algorithm ${algorithmId}.`;
  if (!algorithmId.startsWith('1.2.840.10045')) return undefined;
  const curve = (algorithmParams as ObjectIdentifier | undefined)?.valueBlock.toString() ?? 'of its own';
  return CURVES.test(curve) ? undefined : `The library lacks the curve ${curve}.`;
}

function signerOf(certificate: pkijs.Certificate | null | undefined): { readonly signer?: string } {
  if (!certificate) return {};
  const der = Buffer.from(certificate.toSchema().toBER(false));
  return { signer: createHash('sha256').update(der).digest('hex') };
}

/** Removes PEM labels and Base64 around a CMS object; returns other bytes unchanged. */
export function withoutArmor(bytes: Buffer): Buffer {
  let inner = bytes;
  for (let layer = 1; layer < MAX_DEPTH && inner[0] !== SEQUENCE; layer++) {
    const text = inner.toString('latin1').replace(/-----[^-]{0,64}-----|\s+/g, '');
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) break;
    inner = Buffer.from(text, 'base64');
  }
  return inner;
}
