/** What has to be true of an existing CAdES file before anything is added to it. */
import { DIGEST_BY_OID, OID } from '../asn1/oids.ts';
import { octets } from '../asn1/read.ts';
import { type Certificate, readableCertificates } from '../certificates/certificate.ts';
import { DIGEST_LENGTH } from '../cms/algorithm-identifier.ts';
import { timestampsOf } from '../cms/facts-timestamps.ts';
import { HASH_BY_OID, type HashName } from '../cms/hashes.ts';
import type { SignerInfo } from '../cms/parse.ts';
import { attributesFault } from '../cms/signed-attributes.ts';
import { signerCertificate } from '../cms/signing-certificate.ts';
import type { Source } from '../files/source.ts';
import { CryptoError, type DigestName } from '../types.ts';
import { type ExistingSignature, orMalformed } from './existing-signature.ts';

/**
 * Nothing is built on a signature that is broken: its value and its time-stamps have to be right, and its content when
 * that is at hand.
 * @throws {CryptoError} `signature.mismatch`; `request.invalid` for CMS signatures that are not CAdES; `cms.malformed`
 */
export function assertSound(existing: ExistingSignature, { path }: Pick<Source, 'path'>): void {
  const { data } = existing;
  const certificates = data.certificates.flatMap(readableCertificates);
  if (data.signers.length === 0) throw new CryptoError('request.invalid', `${path} has no signature in it.`);
  for (const signer of data.signers) {
    const fault = orMalformed(
      { path },
      () => faultIn(existing, signer, certificates) ?? timestampFault(existing, signer, certificates),
    );
    if (fault === undefined) continue;
    throw new CryptoError('signature.mismatch', `A signature in ${path} is broken: ${fault}.`);
  }
}

function faultIn(
  existing: ExistingSignature,
  signer: SignerInfo,
  certificates: readonly Certificate[],
): string | undefined {
  const { attributes, digestAlgorithm } = signer;
  if (attributes === undefined) {
    throw new CryptoError('request.invalid', 'A signature without signed attributes is none of CAdES.');
  }
  const certificate = signerCertificate(signer, certificates);
  if (certificate === undefined) return 'the certificate of its signer is not inside';
  const hash = HASH_BY_OID.get(digestAlgorithm);
  if (hash === undefined) return `its digest algorithm ${digestAlgorithm} is not known`;
  const fault = attributesFault(signer, attributes, hash, certificate);
  if (fault !== undefined) return fault;
  const digest = DIGEST_BY_OID.get(digestAlgorithm);
  const actual = digest === undefined ? undefined : existing.contentDigest(digest);
  const [signed, ...more] = attributes.values.get(OID.messageDigest) ?? [];
  if (signed === undefined || more.length > 0) return 'it has not exactly one message digest';
  return actual === undefined || octets(signed).equals(actual)
    ? undefined
    : 'the content is not what was signed';
}

/** Sub-indications that say a time-stamp is not one over this signature, rather than one that can't be told. */
const BROKEN: ReadonlySet<string | undefined> = new Set(['HASH_FAILURE', 'SIG_CRYPTO_FAILURE']);

function timestampFault(
  { data, contentDigest }: ExistingSignature,
  signer: SignerInfo,
  certificates: readonly Certificate[],
): string | undefined {
  const { timestamps } = timestampsOf({
    data,
    signer,
    certificates,
    contentDigest: (hash) => (isDigestName(hash) ? contentDigest(hash) : undefined),
  });
  const findings = timestamps.flatMap((stamp) => stamp.findings);
  return findings.find(({ subIndication }) => BROKEN.has(subIndication))?.message.replace(/\.$/, '');
}

function isDigestName(hash: HashName): hash is DigestName {
  return Object.hasOwn(DIGEST_LENGTH, hash);
}

/** Archive time-stamps of older forms, and evidence records, cover whole sets that must not grow any more. */
const CLOSING: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.9.16.2.27',
  '1.2.840.113549.1.9.16.2.48',
  '0.4.0.1733.2.2',
  '1.2.840.113549.1.9.16.2.49',
  '1.2.840.113549.1.9.16.2.50',
]);

/** @throws {CryptoError} `request.invalid` when something in the file would break if anything were added */
export function assertOpen({ data }: ExistingSignature, { path }: Pick<Source, 'path'>): void {
  const types = data.signers.flatMap(({ unsignedAttributes }) => unsignedAttributes?.types ?? []);
  if (!types.some((type) => CLOSING.has(type))) return;
  const message = `${path} has an archive time-stamp of an older form, which covers what would be added to.`;
  throw new CryptoError('request.invalid', message);
}
