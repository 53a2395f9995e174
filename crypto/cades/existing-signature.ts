/** A CAdES file that is to be added to: DER, BER or PEM, content inside or beside it, of any size. */
import { Asn1Error } from '../asn1/error.ts';
import { DIGEST_BY_OID } from '../asn1/oids.ts';
import { amendSignedData } from '../cms/amend.ts';
import { parseSignedData, type SignedData } from '../cms/parse.ts';
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
 * @param beside what a detached signature is over: a path, or a file that is open
 * @param digests to take of the content, besides those the signature announces
 * @throws {CryptoError} `cms.malformed`; `input.unreadable`, `input.changed`; `request.invalid` when content is named
 *   for a signature that has its own
 */
export function readExisting(
  file: Source,
  beside: string | Source | undefined,
  digests: readonly DigestName[] = [],
): ExistingSignature {
  const source = isArmored(file) ? armoredSource(file) : file;
  const { der, content } = orMalformed(file, () => detachContent(source, { digests }));
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

/** As `amendSignedData`, for the bytes of an existing file. @throws {CryptoError} `cms.malformed` */
export function amended(
  file: Pick<Source, 'path'>,
  der: Buffer,
  amendment: Parameters<typeof amendSignedData>[1],
): Buffer {
  return orMalformed(file, () => amendSignedData(der, amendment));
}
