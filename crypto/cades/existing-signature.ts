/** An existing CAdES file that is augmented: DER, BER or PEM, enveloping or detached, of any size. */
import { Asn1Error } from '../asn1/asn1-error.ts';
import { DIGEST_BY_OID } from '../asn1/oids.ts';
import { amendSignedData } from '../cms/amend.ts';
import { parseSignedData, type SignedData } from '../cms/parse.ts';
import { CryptoError, type DigestName } from '../core/types.ts';
import { openSource, type Source } from '../files/source.ts';
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
  beside: string | Source | undefined,
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
  beside: string | Source,
  { signers }: SignedData,
  digests: readonly DigestName[],
): ReadonlyMap<DigestName, Buffer> {
  const named = signers.flatMap(({ digestAlgorithm }) => DIGEST_BY_OID.get(digestAlgorithm) ?? []);
  const source = typeof beside === 'string' ? openSource(beside) : beside;
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
