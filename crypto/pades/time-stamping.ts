/**
 * Time-stamps in PDF signatures: as an attribute of the signature itself (ETSI EN 319 142-1, clause 6.3, and
 * EN 319 122-1, clause 5.3), and as a signature of their own over the whole document (clause 5.4.3).
 */
import { createHash } from 'node:crypto';
import type { SigningServices, TimestampAuthority } from '../authorities.ts';
import { completeSignedData, prepareSignedData } from '../cms/build.ts';
import { signatureTimestampAttribute } from '../cms/unsigned-attributes.ts';
import { type ByteSource, withPdf } from '../pdf/index.ts';
import { CryptoError, type DigestName, type SignatureAlgorithm } from '../types.ts';
import { Draft } from './draft.ts';
import { updateField } from './field-update.ts';
import { surveyForm, targetField } from './form-survey.ts';
import type { GrowingPdf } from './growing-pdf.ts';
import { type PadesOptions, preparePades } from './prepare.ts';
import { FILTER } from './seed-value.ts';
import type { SignPadesOptions } from './sign.ts';
import { fillHole, type PreparedUpdate, signatureValue, writeUpdate } from './signature-dictionary.ts';

/** @throws {CryptoError} `request.invalid` when there is none */
export function timestampsOf({ timestamps }: SigningServices, level: string): TimestampAuthority {
  if (timestamps !== undefined) return timestamps;
  throw new CryptoError('request.invalid', `Level ${level} needs a time-stamp authority.`);
}

/**
 * Tokens of one authority differ by a few bytes: serial numbers and ECDSA integers with and without a leading zero,
 * times with and without a fraction. Less than this, bytes.
 */
const TOKEN_VARIANCE = 48;

/** How often room is made for a token that came longer than those before it. */
const TRIES = 3;

/** Most bytes the next token is expected to have. */
function tokenSpace(authority: TimestampAuthority, seen = 0): number {
  return Math.max(authority.tokenLength, seen) + TOKEN_VARIANCE;
}

/** Bytes of the attribute that carries the next token. */
export function attributeSpace(authority: TimestampAuthority, seen?: number): number {
  return signatureTimestampAttribute(Buffer.alloc(tokenSpace(authority, seen))).length;
}

/** Over a signature value, which is hashed here; DER of the attribute. @throws {CryptoError} as `stamp` */
export async function stampedAttribute(
  authority: TimestampAuthority,
  value: Buffer,
  { digest }: SignatureAlgorithm,
): Promise<{ readonly attribute: Buffer; readonly tokenLength: number }> {
  const token = await authority.stamp(createHash(digest).update(value).digest(), digest);
  return { attribute: signatureTimestampAttribute(token), tokenLength: token.length };
}

/**
 * Signs with a signature-time-stamp. A token without room in the update makes it be laid out and signed anew.
 * @param first layout for these options with `attributeSpace`
 * @returns the update to append
 * @throws {CryptoError} as `stamp`, `key.*`; `authority.refused` when the tokens become longer each time
 */
export async function signedAndStamped(
  file: GrowingPdf,
  options: SignPadesOptions,
  first: PreparedUpdate,
  authority: TimestampAuthority,
): Promise<Buffer> {
  let prepared = first;
  for (let tries = 0; tries < TRIES; tries++) {
    const request = { ...options, messageDigest: file.digestAround(prepared, options.digest) };
    const { toBeSigned, algorithm } = prepareSignedData(request);
    const value = options.signer.key.sign(toBeSigned, algorithm);
    const { attribute, tokenLength } = await stampedAttribute(authority, value, algorithm);
    if (fillHole(prepared, completeSignedData(options, toBeSigned, value, [attribute]))) {
      return prepared.update;
    }
    const unsignedLength = attributeSpace(authority, tokenLength);
    prepared = preparePades(file, { ...options, unsignedLength } satisfies PadesOptions);
  }
  throw growing(authority);
}

/**
 * Appends a document time-stamp over everything so far. It changes nothing that any signature could forbid
 * (ISO 32000-2, 12.8.2.2.1).
 * @param at milliseconds since the epoch; tells this revision from others
 * @throws {CryptoError} `pdf.*`; as `stamp`; `authority.refused` as `signedAndStamped`
 */
export async function appendDocumentTimestamp(
  file: GrowingPdf,
  authority: TimestampAuthority,
  digest: DigestName,
  at: number,
): Promise<void> {
  let space = tokenSpace(authority);
  for (let tries = 0; tries < TRIES; tries++) {
    const prepared = layOutTimestamp(file, space, at);
    const token = await authority.stamp(file.digestAround(prepared, digest), digest);
    if (fillHole(prepared, token)) {
      file.append(prepared.update);
      return;
    }
    space = tokenSpace(authority, token.length);
  }
  throw growing(authority);
}

function layOutTimestamp(source: ByteSource, space: number, at: number): PreparedUpdate {
  return withPdf(source, (pdf) => {
    const draft = new Draft(pdf);
    const reference = draft.reserve();
    updateField(draft, targetField(pdf, surveyForm(pdf, {}), {}), reference);
    const start = `/Type/DocTimeStamp/Filter/${FILTER}/SubFilter/ETSI.RFC3161`;
    const value = signatureValue(source.size, start, space, '');
    const lastByte = source.read(source.size - 1, 1)[0];
    const seed = `${at} document time-stamp`;
    return writeUpdate({ pdf, size: source.size, lastByte, seed }, draft, { ...value, reference });
  });
}

function growing({ name }: TimestampAuthority): CryptoError {
  return new CryptoError(
    'authority.refused',
    `The time-stamps of ${name} became longer each time room was made for one.`,
  );
}
