/**
 * Signing in two steps, for a key that is elsewhere. The state between them holds the whole update but the signature,
 * so the second step lays out nothing again, and what was signed is what gets written.
 */
import { createHash } from 'node:crypto';
import type { SigningServices } from '../authorities.ts';
import { completeSignedData, prepareSignedData } from '../cms/build.ts';
import { acceptedValue } from '../two-steps/foreign-value.ts';
import { readState, type StoredSigner, signerFromStored, storedSigner } from '../two-steps/stored-signer.ts';
import {
  type BeginSigningRequest,
  type BegunSigning,
  CryptoError,
  type DigestName,
  type FinishSigningRequest,
  type SignatureAlgorithm,
  type SignatureLevel,
  type SignedFile,
} from '../types.ts';
import { appendEvidence, evidenceOf } from './evidence.ts';
import { GrowingPdf, openPdfFile } from './growing-pdf.ts';
import { preparePades } from './prepare.ts';
import { padesOptions } from './sign.ts';
import { fillHole, type PreparedUpdate, spaceIn } from './signature-dictionary.ts';
import { newestSignatures } from './stored-signatures.ts';
import { appendDocumentTimestamp, attributeSpace, stampedAttribute, timestampsOf } from './time-stamping.ts';

const KIND = 'pades/1';

/** No signature comes near this many bytes; a state that claims more is not one of ours. */
const MAX_SPACE = 1 << 20;

/** Binary values are Base64. */
interface PadesState {
  readonly kind: typeof KIND;
  readonly level: SignatureLevel;
  readonly signer: StoredSigner;
  readonly original: { readonly sha256: string; readonly length: number };
  /** The update up to the signature, the bytes the signature has room for, and the update behind it. */
  readonly before: string;
  readonly space: number;
  readonly after: string;
  readonly toBeSigned: string;
  readonly algorithm: SignatureAlgorithm;
}

/**
 * Lays out the signature and says what the key has to sign. Reads the file once and writes nothing.
 * @param services from level T on: the authority, for the space its time-stamp will take
 * @throws {CryptoError} as `signPades`; `request.invalid` when a service is missing
 */
export function beginPades(request: BeginSigningRequest, services: SigningServices = {}): BegunSigning {
  const level = request.level ?? 'B';
  const unsignedLength = level === 'B' ? 0 : attributeSpace(timestampsOf(services, level));
  const source = openPdfFile(request.input);
  try {
    const options = { ...padesOptions(request), unsignedLength };
    const prepared = preparePades(source, options);
    const { update, holeStart, holeEnd } = prepared;
    const original = createHash('sha256');
    const around = createHash(options.digest);
    for (const chunk of source.chunks()) {
      original.update(chunk);
      around.update(chunk);
    }
    source.assertUnchanged();
    const [before, after] = [update.subarray(0, holeStart), update.subarray(holeEnd)];
    const messageDigest = around.update(before).update(after).digest();
    const { toBeSigned, algorithm } = prepareSignedData({ ...options, messageDigest });
    const state: PadesState = {
      kind: KIND,
      level,
      signer: storedSigner(request),
      original: { sha256: original.digest('hex'), length: source.size },
      before: before.toString('base64'),
      space: spaceIn(prepared),
      after: after.toString('base64'),
      toBeSigned: toBeSigned.toString('base64'),
      algorithm,
    };
    const hash = createHash(algorithm.digest).update(toBeSigned).digest();
    return { toBeSigned, hash, algorithm, state: JSON.stringify(state) };
  } finally {
    source.close();
  }
}

/**
 * Puts the value into its place and writes the signed file. From level T on the time-stamp goes into the signature, or
 * over the document when it is longer than was known in the first step.
 * @throws {CryptoError} `signature.mismatch` before anything is written; `input.changed` when the file is not the one
 *   of the first step; `request.invalid` for a state that is none, or a missing service; as `signPadesAtLevel`
 */
export async function finishPades(
  request: FinishSigningRequest,
  services: SigningServices = {},
): Promise<SignedFile> {
  const state = readPadesState(request.state);
  const { level, algorithm } = state;
  const authority = level === 'B' ? undefined : timestampsOf(services, level);
  const evidence = level === 'B' || level === 'T' ? undefined : evidenceOf(services, level);
  const form = signerFromStored(state.signer);
  const toBeSigned = Buffer.from(state.toBeSigned, 'base64');
  const value = acceptedValue(form.signer, algorithm, toBeSigned, request.value);
  const source = openPdfFile(request.input);
  try {
    if (source.size !== state.original.length) throw changed(request.input);
    const digests: readonly DigestName[] = [algorithm.digest];
    const file = new GrowingPdf(source, request.output, digests);
    try {
      if (file.inputDigest !== state.original.sha256) throw changed(request.input);
      const prepared = preparedFrom(state);
      const stamped = authority && (await stampedAttribute(authority, value, algorithm));
      const unsigned = stamped === undefined ? [] : [stamped.attribute];
      const fits = fillHole(prepared, completeSignedData(form, toBeSigned, value, unsigned));
      if (!fits && !fillHole(prepared, completeSignedData(form, toBeSigned, value))) {
        throw new CryptoError('request.invalid', 'The state of the first step has no room for a signature.');
      }
      file.append(prepared.update);
      if (authority !== undefined && !fits) {
        await appendDocumentTimestamp(file, authority, algorithm.digest, form.at);
      }
      if (evidence !== undefined) {
        const ours = newestSignatures(file, fits ? 1 : 2);
        await appendEvidence(file, ours, form.signer.chain, evidence, form.at);
      }
      if (authority !== undefined && level === 'LTA') {
        await appendDocumentTimestamp(file, authority, algorithm.digest, form.at);
      }
      return file.finish(request.sync ?? true);
    } catch (error) {
      file.discard();
      throw error;
    }
  } finally {
    source.close();
  }
}

/** @throws {CryptoError} `request.invalid` when it is not as `beginPades` wrote it */
function readPadesState(text: string): PadesState {
  const state: Unchecked<PadesState> = readState<PadesState>(text, KIND);
  const { level, signer, original, space, algorithm } = state;
  const texts = [state.before, state.after, state.toBeSigned, state.signer?.certificate, algorithm?.digest];
  const isWhole =
    texts.every((value) => typeof value === 'string') &&
    LEVELS.includes(level ?? '') &&
    Array.isArray(signer?.chain) &&
    signer.chain.every((value) => typeof value === 'string') &&
    typeof signer.parameters === 'object' &&
    typeof original?.sha256 === 'string' &&
    Number.isSafeInteger(space) &&
    Number(space) > 0 &&
    Number(space) <= MAX_SPACE;
  if (isWhole) return state as PadesState;
  throw new CryptoError('request.invalid', 'The state of the first step is not as it was written.');
}

/** What JSON has instead of a type: any member, at two depths, may be missing. */
type Unchecked<T> = { readonly [key in keyof T]?: T[key] extends object ? Partial<T[key]> : T[key] };

const LEVELS: readonly string[] = ['B', 'T', 'LT', 'LTA'] satisfies readonly SignatureLevel[];

function preparedFrom({ before, space, after }: PadesState): PreparedUpdate {
  const [head, tail] = [Buffer.from(before, 'base64'), Buffer.from(after, 'base64')];
  const hole = Buffer.from(`<${'00'.repeat(space)}>`, 'latin1');
  return {
    update: Buffer.concat([head, hole, tail]),
    holeStart: head.length,
    holeEnd: head.length + hole.length,
  };
}

function changed(path: string): CryptoError {
  return new CryptoError('input.changed', `${path} is not the file of the first step.`);
}
