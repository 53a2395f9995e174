/** An existing CAdES file that is augmented: DER, BER or PEM, enveloping or detached, of any size. */

import { DIGEST_BY_OID } from '../asn1/oids.ts';
import { Asn1Error } from '../asn1/read.ts';
import { amendSignedData } from '../cms/amend.ts';
import { parseSignedData, type SignedData, type SignerInfo } from '../cms/parse.ts';
import { openSource, type Source } from '../core/files.ts';
import { CryptoError, type DigestName, type InputFile } from '../core/types.ts';
import { inspectParsedSignedData } from '../validation/signed-data/signed-data-report.ts';
import { integrityFailure } from '../validation/soundness.ts';
import { DIGEST_LENGTH, type HashName } from '../x509/signature-algorithms.ts';
import { signatureSource } from './armor-reader.ts';
import { hashSource } from './content-digests.ts';
import { type ContentInfo, readDetachedContent } from './detached-content.ts';
import { envelopeOf } from './envelope.ts';
import type { SignatureOutput } from './signature-files.ts';

export interface ExistingSignature {
  /** The SignedData without its content. */
  readonly der: Buffer;
  readonly data: SignedData;
  /** Of the unchanged file. */
  readonly sha256: string;
  /** Of the content; undefined for a digest that was not computed, or content that is unavailable. */
  contentDigest(digest: DigestName): Buffer | undefined;
  /** Writes the amended `der` with the content of the file. @throws {CryptoError} `input.changed` */
  write(der: Buffer, output: SignatureOutput): void;
}

/**
 * @param beside content of a detached signature: a path, or an open file
 * @param digests of the content to compute, in addition to those the signature announces
 * @throws {CryptoError} `cms.malformed`; `input.unreadable`, `input.changed`; `request.invalid` when content is given
 * for an enveloping signature
 */
export function readExisting(
  file: Source,
  beside: InputFile | Source | undefined,
  digests: readonly DigestName[] = [],
): ExistingSignature {
  const source = signatureSource(file);
  const { der, content } = orMalformed(file, () => readDetachedContent(source, { digests }));
  const data = orMalformed(file, () => parseSignedData(der));
  if (content !== undefined && beside !== undefined) {
    throw new CryptoError('request.invalid', `${file.path} has its content inside.`);
  }
  const outside = beside === undefined ? undefined : digestsOf(beside, data, digests);
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

/** Converts an `Asn1Error` to `cms.malformed`. */
export function orMalformed<T>({ path }: Pick<Source, 'path'>, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    throw new CryptoError('cms.malformed', `The signature ${path} can't be read: ${error.message}.`);
  }
}

function digestsOf(
  beside: InputFile | Source,
  { signers }: SignedData,
  digests: readonly DigestName[],
): ReadonlyMap<DigestName, Buffer> {
  const named = signers.flatMap(({ digestAlgorithm }) => DIGEST_BY_OID.get(digestAlgorithm) ?? []);
  const source = typeof beside === 'string' || beside instanceof Uint8Array ? openSource(beside) : beside;
  try {
    const { all } = hashSource(source, [...named, ...digests]);
    source.assertUnchanged();
    return all;
  } finally {
    if (source !== beside) source.close();
  }
}

function rewrite(source: Source, content: ContentInfo, amended: Buffer, output: SignatureOutput): void {
  const { head, tail } = envelopeOf(amended, content.length);
  output.write(head);
  const again = readDetachedContent(source, { onContent: (piece) => output.write(piece) });
  const before = content.digests.get('sha256');
  if (before === undefined || again.content?.digests.get('sha256')?.equals(before) !== true) {
    throw new CryptoError('input.changed', `${source.path} changed while it was being read.`);
  }
  output.write(tail);
}

/** Calls `amendSignedData` on an existing file. @throws {CryptoError} `cms.malformed` */
export function amended(
  file: Pick<Source, 'path'>,
  der: Buffer,
  amendment: Parameters<typeof amendSignedData>[1],
): Buffer {
  return orMalformed(file, () => amendSignedData(der, amendment));
}

/**
 * Checks every signature in the file: its value, its time-stamps, and its content when that is available.
 * @throws {CryptoError} `signature.mismatch`; `request.invalid` when there is none, or for CMS signatures that are
 * not CAdES
 */
export function assertIntact(existing: ExistingSignature, file: Pick<Source, 'path'>): void {
  const { faults } = examined(existing, file);
  const [fault] = faults;
  if (fault !== undefined) throw mismatch(fault, file);
}

/**
 * Returns the signatures that can be augmented; invalid ones beside them stay unchanged.
 * @throws {CryptoError} `signature.mismatch` when all are invalid; `request.invalid` as `assertIntact`
 */
export function intactSigners(
  existing: ExistingSignature,
  file: Pick<Source, 'path'>,
): readonly [SignerInfo, ...SignerInfo[]] {
  const { sound, faults } = examined(existing, file);
  const [first, ...more] = sound;
  if (first === undefined) throw mismatch(faults[0] ?? 'it can not be read', file);
  return [first, ...more];
}

function mismatch(fault: string, { path }: Pick<Source, 'path'>): CryptoError {
  return new CryptoError('signature.mismatch', `A signature in ${path} is broken: ${fault}.`);
}

function examined(
  { data, contentDigest }: ExistingSignature,
  { path }: Pick<Source, 'path'>,
): { readonly sound: readonly SignerInfo[]; readonly faults: readonly string[] } {
  if (data.signers.length === 0) throw new CryptoError('request.invalid', `${path} has no signature in it.`);
  if (data.signers.some(({ attributes }) => attributes === undefined)) {
    throw new CryptoError('request.invalid', 'A signature without signed attributes is none of CAdES.');
  }
  const facts = inspectParsedSignedData(data, {
    format: 'Cades',
    scope: { kind: 'content', description: 'the content' },
    contentDigest: (hash) => (isDigestName(hash) ? contentDigest(hash) : undefined),
  });
  const breaks = facts.map((one) =>
    one.certificate === undefined ? 'the certificate of its signer is not inside' : integrityFailure(one),
  );
  return {
    sound: data.signers.filter((_, index) => breaks[index] === undefined),
    faults: breaks.flatMap((fault) => fault ?? []),
  };
}

function isDigestName(hash: HashName): hash is DigestName {
  return Object.hasOwn(DIGEST_LENGTH, hash);
}

/** Archive time-stamps of older forms, and evidence records, cover whole sets, to which nothing may be added. */
const CLOSING_ATTRIBUTES: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.9.16.2.27',
  '1.2.840.113549.1.9.16.2.48',
  '0.4.0.1733.2.2',
  '1.2.840.113549.1.9.16.2.49',
  '1.2.840.113549.1.9.16.2.50',
]);

/** Checks that additions break nothing in the file. @throws {CryptoError} `request.invalid` */
export function assertExtensible({ data }: ExistingSignature, { path }: Pick<Source, 'path'>): void {
  const types = data.signers.flatMap(({ unsignedAttributes }) => unsignedAttributes?.types ?? []);
  if (!types.some((type) => CLOSING_ATTRIBUTES.has(type))) return;
  const message = `${path} has an archive time-stamp of an older form, which covers what would be added to.`;
  throw new CryptoError('request.invalid', message);
}
