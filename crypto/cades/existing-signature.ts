/** A CAdES file that is to be added to: DER, BER or PEM, content inside or beside it, of any size. */
import { Asn1Error } from '../asn1/error.ts';
import { DIGEST_BY_OID, OID } from '../asn1/oids.ts';
import { octets } from '../asn1/read.ts';
import { readableCertificates } from '../certificates/certificate.ts';
import { amendSignedData } from '../cms/amend.ts';
import { HASH_BY_OID } from '../cms/hashes.ts';
import { parseSignedData, type SignedData, type SignerInfo } from '../cms/parse.ts';
import { attributesFault } from '../cms/signed-attributes.ts';
import { certificateNamed } from '../cms/signing-certificate.ts';
import { openSource, type Source } from '../files/source.ts';
import { CryptoError, type DigestName } from '../types.ts';
import { armoredSource, isArmored } from './armor-reader.ts';
import { hashSource } from './content-digests.ts';
import { type ContentFacts, detachContent } from './detach.ts';
import { envelopeOf } from './envelope.ts';
import type { SignatureOutput } from './signature-files.ts';

export interface ExistingSignature {
  /** The SignedData with its content left out. */
  readonly der: Buffer;
  readonly data: SignedData;
  /** Of the file as it is. */
  readonly sha256: string;
  /** Of the content, inside or beside; undefined for a digest that wasn't taken, or content that isn't at hand. */
  contentDigest(digest: DigestName): Buffer | undefined;
  /** Writes what `der` has become, with the content that was inside. @throws {CryptoError} `input.changed` */
  write(der: Buffer, output: SignatureOutput): void;
}

/**
 * @param contentPath what a detached signature is over
 * @param digests to take of the content, besides those the signature announces
 * @throws {CryptoError} `cms.malformed`; `input.unreadable`, `input.changed`; `request.invalid` when content is named
 *   for a signature that has its own
 */
export function readExisting(
  file: Source,
  contentPath: string | undefined,
  digests: readonly DigestName[] = [],
): ExistingSignature {
  const source = isArmored(file) ? armoredSource(file) : file;
  const { der, content } = orMalformed(file, () => detachContent(source, { digests }));
  const data = orMalformed(file, () => parseSignedData(der));
  if (content !== undefined && contentPath !== undefined) {
    throw new CryptoError('request.invalid', `${file.path} has its content inside.`);
  }
  const outside = contentPath === undefined ? undefined : digestsOf(contentPath, data, digests);
  return {
    der,
    data,
    sha256: hashSource(file, []).sha256,
    contentDigest: (digest) => (content?.digests ?? outside)?.get(digest),
    write(amended, output) {
      if (content === undefined) output.write(amended);
      else rewrite(source, content, amended, output);
    },
  };
}

/** Turns what is wrong with the bytes of a signature into a refusal. */
export function orMalformed<T>({ path }: Pick<Source, 'path'>, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    throw new CryptoError('cms.malformed', `The signature ${path} can't be read: ${error.message}.`);
  }
}

function digestsOf(
  path: string,
  { signers }: SignedData,
  digests: readonly DigestName[],
): ReadonlyMap<DigestName, Buffer> {
  const named = signers.flatMap(({ digestAlgorithm }) => DIGEST_BY_OID.get(digestAlgorithm) ?? []);
  const source = openSource(path);
  try {
    const { all } = hashSource(source, [...named, ...digests]);
    source.assertUnchanged();
    return all;
  } finally {
    source.close();
  }
}

function rewrite(source: Source, content: ContentFacts, amended: Buffer, output: SignatureOutput): void {
  const { head, tail } = envelopeOf(amended, content.length);
  output.write(head);
  const again = detachContent(source, { onContent: (piece) => output.write(piece) });
  const before = content.digests.get('sha256');
  if (before === undefined || again.content?.digests.get('sha256')?.equals(before) !== true) {
    throw new CryptoError('input.changed', `${source.path} changed while it was being read.`);
  }
  output.write(tail);
}

/**
 * Nothing is built on a signature that is broken: its value has to be right, and its content when that is at hand.
 * @throws {CryptoError} `signature.mismatch`; `request.invalid` for CMS signatures that are not CAdES; `cms.malformed`
 */
export function assertSound(existing: ExistingSignature, { path }: Pick<Source, 'path'>): void {
  const { data } = existing;
  if (data.signers.length === 0) throw new CryptoError('request.invalid', `${path} has no signature in it.`);
  for (const signer of data.signers) {
    const fault = orMalformed({ path }, () => faultIn(existing, signer));
    if (fault !== undefined)
      throw new CryptoError('signature.mismatch', `A signature in ${path} is broken: ${fault}.`);
  }
}

function faultIn(existing: ExistingSignature, signer: SignerInfo): string | undefined {
  const { attributes, digestAlgorithm } = signer;
  if (attributes === undefined) {
    throw new CryptoError('request.invalid', 'A signature without signed attributes is none of CAdES.');
  }
  const certificates = existing.data.certificates.flatMap(readableCertificates);
  const certificate = certificateNamed(signer.id, certificates);
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

/** As `amendSignedData`, for the bytes of an existing file. @throws {CryptoError} `cms.malformed` */
export function amended(
  file: Pick<Source, 'path'>,
  der: Buffer,
  amendment: Parameters<typeof amendSignedData>[1],
): Buffer {
  return orMalformed(file, () => amendSignedData(der, amendment));
}
