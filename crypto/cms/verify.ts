/** Validates CMS SignedData as a CAdES baseline B signature, with a reason for every check (EN 319 122-1 §6.3). */
import { Asn1Error } from '../asn1/error.ts';
import { DIGEST_BY_OID, OID } from '../asn1/oids.ts';
import { type Element, octets, oidText } from '../asn1/read.ts';
import { readTime } from '../asn1/time.ts';
import { type Certificate, readableCertificates } from '../certificates/certificate.ts';
import { checkChain, checkKeyUsage, checkSigner, checkValidity } from '../certificates/path.ts';
import type { Check, DigestName } from '../types.ts';
import { type Attributes, parseSignedData, type SignedData, type SignerInfo } from './parse.ts';
import { attributesFault } from './signed-attributes.ts';
import { certIdFault, certificateNamed } from './signing-certificate.ts';

export interface VerifySignedDataOptions {
  /** Digest of the detached content, made with the named algorithm. */
  readonly contentDigest: (digest: DigestName) => Buffer;
  /** Time at which certificates must be valid, milliseconds since the epoch. */
  readonly at: number;
  /** DER trust anchors; left out, no chain is asked for. */
  readonly anchors?: readonly Buffer[];
  /** Lower-case hex SHA-256 of the certificate that must have signed. */
  readonly expectedSigner?: string;
  /** Whether a signing-time attribute must be there (CAdES) or must not (PAdES). Left out: either way. */
  readonly signingTime?: 'present' | 'absent';
  /** `'if-present'` lets signatures older than CAdES pass without the attribute. @default 'required' */
  readonly signingCertificate?: 'required' | 'if-present';
}

/** What a SignedData turned out to be. */
export interface SignedDataVerdict {
  readonly checks: readonly Check[];
  /** One per SignerInfo, in order. */
  readonly signers: readonly {
    readonly certificate: Certificate | undefined;
    /** Claimed, milliseconds since the epoch. */
    readonly signingTime: number | undefined;
    readonly digest: DigestName | undefined;
  }[];
}

/**
 * Every check on a detached SignedData. Never throws for bad input: a structure that can't be read is a failed
 * check named `structure`. `der` must be exactly the structure, without padding. What `contentDigest` throws comes
 * through.
 *
 * Checks: structure, detached, and per signer: signer-certificate, signed-attributes, content-type, message-digest,
 * signing-time, signing-certificate, signature-value, certificate-validity, key-usage, chain; then once: signer.
 * @throws {CryptoError} `certificate.malformed` for an anchor that can't be read
 */
export function verifySignedData(der: Buffer, options: VerifySignedDataOptions): Check[] {
  return [...inspectSignedData(der, options).checks];
}

/** As `verifySignedData`, and says who signed. */
export function inspectSignedData(der: Buffer, options: VerifySignedDataOptions): SignedDataVerdict {
  const checks: Check[] = [];
  const signers: SignedDataVerdict['signers'][number][] = [];
  try {
    const data = parseSignedData(der);
    checks.push({
      name: 'structure',
      ok: data.signers.length > 0,
      detail: `SignedData with ${data.signers.length} signers and ${data.certificates.length} certificates.`,
    });
    const detached = data.content === undefined;
    checks.push({
      name: 'detached',
      ok: detached,
      detail: detached ? 'The content is outside.' : 'Content inside takes the place of the signed content.',
    });
    for (const signer of data.signers) signers.push(checkOneSigner(data, signer, options, checks));
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    checks.push({ name: 'structure', ok: false, detail: `Can't be read: ${error.message}.` });
  }
  if (options.expectedSigner !== undefined) checks.push(checkExpected(signers, options.expectedSigner));
  return { checks, signers };
}

/** Signers of one structure have no order, so the expected one may be any of them. */
function checkExpected(signers: SignedDataVerdict['signers'], expected: string): Check {
  const certificates = signers.flatMap(({ certificate }) => (certificate === undefined ? [] : [certificate]));
  const certificate = certificates.find(({ fingerprint }) => fingerprint === expected) ?? certificates[0];
  if (certificate !== undefined) return checkSigner(certificate, expected);
  return { name: 'signer', ok: false, detail: `Signed by an unknown certificate, not by ${expected}.` };
}

function checkOneSigner(
  data: SignedData,
  signer: SignerInfo,
  options: VerifySignedDataOptions,
  checks: Check[],
): SignedDataVerdict['signers'][number] {
  const certificate = certificateNamed(signer.id, data.certificates.flatMap(readableCertificates));
  const digest = DIGEST_BY_OID.get(signer.digestAlgorithm);
  checks.push({
    name: 'signer-certificate',
    ok: certificate !== undefined,
    detail: certificate === undefined ? "The signer's certificate is not inside." : certificate.fingerprint,
  });
  const { attributes } = signer;
  checks.push({
    name: 'signed-attributes',
    ok: attributes !== undefined && digest !== undefined,
    detail:
      digest === undefined
        ? `The digest algorithm ${signer.digestAlgorithm} is not accepted.`
        : `${attributes?.encodings.length ?? 0} signed attributes, digest ${digest}.`,
  });
  if (attributes === undefined || digest === undefined) {
    return { certificate, signingTime: undefined, digest };
  }
  const signingTime = timeOf(attributes);
  checks.push(checkContentType(data, attributes));
  checks.push(checkMessageDigest(attributes, digest, options.contentDigest(digest)));
  if (options.signingTime !== undefined) {
    checks.push({
      name: 'signing-time',
      ok: (options.signingTime === 'present') === (signingTime !== undefined),
      detail: signingTime === undefined ? 'Not given.' : `Claimed ${new Date(signingTime).toISOString()}.`,
    });
  }
  if (certificate !== undefined) {
    const essential = checkSigningCertificate(attributes, certificate, options.signingCertificate);
    checks.push(essential, checkSignatureValue(signer, attributes, digest, certificate));
    checks.push(checkValidity(certificate, options.at), checkKeyUsage(certificate));
    if (options.anchors !== undefined) {
      checks.push(checkChain(certificate, data.certificates, options.anchors, options.at));
    }
  }
  return { certificate, signingTime, digest };
}

/** The only value of an attribute that may appear once with one value (RFC 5652 §11). @throws {Asn1Error} */
function single(attributes: Attributes, type: string): Element | undefined {
  const values = attributes.values.get(type);
  if (values === undefined) return undefined;
  if (values.length !== 1) throw new Asn1Error(`attribute ${type} must have one value`, 0);
  return values[0];
}

function timeOf(attributes: Attributes): number | undefined {
  const value = single(attributes, OID.signingTime);
  return value === undefined ? undefined : readTime(value);
}

function checkContentType(data: SignedData, attributes: Attributes): Check {
  const value = single(attributes, OID.contentType);
  const named = value === undefined ? 'none' : oidText(value);
  return {
    name: 'content-type',
    ok: named === data.contentType && named === OID.data,
    detail: `Attribute ${named}, content ${data.contentType}.`,
  };
}

function checkMessageDigest(attributes: Attributes, digest: DigestName, actual: Buffer): Check {
  const value = single(attributes, OID.messageDigest);
  const ok = value !== undefined && octets(value).equals(actual);
  return {
    name: 'message-digest',
    ok,
    detail: ok ? `The content has the signed ${digest} digest.` : `The content has another ${digest} digest.`,
  };
}

function checkSignatureValue(
  signer: SignerInfo,
  attributes: Attributes,
  digest: DigestName,
  certificate: Certificate,
): Check {
  const fault = attributesFault(signer, attributes, digest, certificate);
  return {
    name: 'signature-value',
    ok: fault === undefined,
    detail: fault === undefined ? 'The key of the certificate made it.' : `Wrong: ${fault}.`,
  };
}

function checkSigningCertificate(
  attributes: Attributes,
  certificate: Certificate,
  need: 'required' | 'if-present' = 'required',
): Check {
  const name = 'signing-certificate';
  const value = single(attributes, OID.signingCertificateV2);
  if (value !== undefined) {
    const fault = certIdFault(value, certificate);
    return { name, ok: fault === undefined, detail: fault ?? 'The attribute names the certificate.' };
  }
  const old = single(attributes, OID.signingCertificate);
  if (old !== undefined && need === 'if-present') {
    const fault = certIdFault(old, certificate, 'sha1');
    return { name, ok: fault === undefined, detail: fault ?? 'The older attribute names the certificate.' };
  }
  return { name, ok: need === 'if-present', detail: 'signing-certificate-v2 is not there.' };
}
