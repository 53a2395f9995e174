/**
 * Time-stamps of PDF signatures: as an unsigned attribute (ETSI EN 319 142-1, clause 6.3, and
 * EN 319 122-1, clause 5.3), and as a document time-stamp (clause 5.4.3).
 */
import { createHash } from 'node:crypto';
import { signatureTimestampAttribute } from '../cms/attributes-template.ts';
import { completeSignedData, prepareSignedData } from '../cms/build.ts';
import {
  CryptoError,
  type DigestName,
  type RemoteSigner,
  type SignatureAlgorithm,
  type Signer,
} from '../core/types.ts';
import type { TimestampAuthority } from '../evidence/authorities.ts';
import { signatureValue } from '../keys/stored-signer.ts';
import { type ByteSource, withPdf } from '../pdf/index.ts';
import { IncrementalUpdate } from '../pdf/update/incremental-update.ts';
import { surveyForm, targetField, updateField } from './fields/field-update.ts';
import { FILTER } from './fields/seed-value.ts';
import {
  fillPlaceholder,
  type PreparedUpdate,
  signatureValue as placedValue,
  writeUpdate,
} from './fields/signatures.ts';
import type { IncrementalFile } from './incremental-file.ts';
import { longerThanComputed, type PadesOptions, preparePades } from './sign.ts';

/**
 * Variance of the token length of one authority: serial numbers and ECDSA integers with and without a leading zero,
 * times with and without a fraction. An upper bound, bytes.
 */
const TOKEN_VARIANCE = 48;

/** Most layouts when each token is longer than the previous one. */
const MAX_ATTEMPTS = 3;

/** Returns the expected maximum of the next token, bytes. */
function tokenSpace(authority: TimestampAuthority, seen = 0): number {
  return Math.max(authority.tokenLength, seen) + TOKEN_VARIANCE;
}

/** Returns the bytes of the attribute with the next token. */
export function attributeSpace(authority: TimestampAuthority, seen?: number): number {
  return signatureTimestampAttribute(Buffer.alloc(tokenSpace(authority, seen))).length;
}

/** Requests a time-stamp over a signature value; returns the DER of the attribute. @throws {CryptoError} as `stamp` */
export async function stampedAttribute(
  authority: TimestampAuthority,
  value: Buffer,
  { digest }: SignatureAlgorithm,
): Promise<{ readonly attribute: Buffer; readonly tokenLength: number }> {
  const token = await authority.stamp(createHash(digest).update(value).digest(), digest);
  return { attribute: signatureTimestampAttribute(token), tokenLength: token.length };
}

/**
 * Signs, with a signature-time-stamp where there is an authority. When its token does not fit, lays out and signs the
 * update again.
 * @param first layout for these options with `attributeSpace`
 * @returns the update to append
 * @throws {CryptoError} as `stamp`, `key.*`; `authority.refused` when the tokens become longer each time
 */
export async function signedUpdate(
  file: IncrementalFile,
  options: PadesOptions & { readonly signer: Signer | RemoteSigner },
  first: PreparedUpdate,
  authority: TimestampAuthority | undefined,
): Promise<Buffer> {
  let prepared = first;
  for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
    const request = { ...options, messageDigest: file.digestAround(prepared, options.digest) };
    const { toBeSigned, algorithm } = prepareSignedData(request);
    const value = await signatureValue(options.signer, toBeSigned, algorithm);
    const stamped = authority && (await stampedAttribute(authority, value, algorithm));
    const unsigned = stamped === undefined ? [] : [stamped.attribute];
    if (fillPlaceholder(prepared, completeSignedData(options, toBeSigned, value, unsigned))) {
      return prepared.update;
    }
    if (stamped === undefined || authority === undefined) throw longerThanComputed();
    const unsignedLength = attributeSpace(authority, stamped.tokenLength);
    prepared = preparePades(file, { ...options, unsignedLength } satisfies PadesOptions);
  }
  throw authority === undefined ? longerThanComputed() : growing(authority);
}

/**
 * Appends a document time-stamp over the whole file. Every signature permits this change
 * (ISO 32000-2, 12.8.2.2.1).
 * @param at milliseconds since the epoch; distinguishes this revision
 * @throws {CryptoError} `pdf.*`; as `stamp`; `authority.refused` when the tokens become longer each time
 */
export async function appendDocumentTimestamp(
  file: IncrementalFile,
  authority: TimestampAuthority,
  digest: DigestName,
  at: number,
): Promise<void> {
  let space = tokenSpace(authority);
  for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
    const prepared = layOutTimestamp(file, space, at);
    const token = await authority.stamp(file.digestAround(prepared, digest), digest);
    if (fillPlaceholder(prepared, token)) {
      file.append(prepared.update);
      return;
    }
    space = tokenSpace(authority, token.length);
  }
  throw growing(authority);
}

function layOutTimestamp(source: ByteSource, space: number, at: number): PreparedUpdate {
  return withPdf(source, (pdf) => {
    const draft = new IncrementalUpdate(pdf);
    const reference = draft.reserve();
    updateField(draft, targetField(pdf, surveyForm(pdf, {}), {}), reference);
    const start = `/Type/DocTimeStamp/Filter/${FILTER}/SubFilter/ETSI.RFC3161`;
    const value = placedValue(source.size, start, space, '');
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
