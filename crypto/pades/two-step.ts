/**
 * Two-step PAdES signing with an external key. The state contains the whole update except the signature value,
 * so the second step lays out nothing again and writes exactly the signed bytes.
 */
import { createHash } from 'node:crypto';
import { completeSignedData, prepareSignedData } from '../cms/build.ts';
import {
  type BeginSigningRequest,
  type BegunSigning,
  CryptoError,
  type FinishSigningRequest,
  type InputFile,
  type OutputFile,
  type SignatureAlgorithm,
  type SignatureLevel,
  type SignedFile,
} from '../core/types.ts';
import { authorityFor, type SigningServices, servicesFor } from '../evidence/authorities.ts';
import {
  begunSigning,
  checkedSignatureValue,
  readState,
  type StoredSigner,
  signerFromStored,
  storedSigner,
} from '../keys/stored-signer.ts';
import { fillPlaceholder, type PreparedUpdate, placeholderBytes } from './fields/signatures.ts';
import { openIncrementalFile, writeIncremental } from './incremental-file.ts';
import { appendEvidence } from './levels.ts';
import { type PadesOptions, padesOptions, prepareFirst } from './sign.ts';
import { newestSignatures } from './stored-signatures.ts';
import { appendDocumentTimestamp, attributeSpace, stampedAttribute } from './time-stamping.ts';

const KIND = 'pades/1';

/** Most bytes of a placeholder; a state that claims more is invalid. */
const MAX_PLACEHOLDER_BYTES = 1 << 20;

/** Binary values are Base64. */
interface PadesState {
  readonly kind: typeof KIND;
  readonly level: SignatureLevel;
  readonly signer: StoredSigner;
  readonly original: { readonly sha256: string; readonly length: number };
  /** The update before the placeholder, the bytes of the placeholder, and the update after it. */
  readonly before: string;
  readonly space: number;
  readonly after: string;
  readonly toBeSigned: string;
  readonly algorithm: SignatureAlgorithm;
}

/**
 * Lays out a signature, which shows whether the file can be signed, and computes no digest.
 * @param services as for `beginPades`
 * @throws {CryptoError} as `beginPades`
 */
export function tryPades(
  request: BeginSigningRequest<InputFile>,
  services: SigningServices = {},
): Pick<SignedFile, 'warnings'> {
  const source = openIncrementalFile(request.input, request.password);
  try {
    const { signing } = prepareFirst(source, layoutOptions(request, services));
    source.assertUnchanged();
    return signing;
  } finally {
    source.close();
  }
}

function layoutOptions(request: BeginSigningRequest<InputFile>, services: SigningServices): PadesOptions {
  const { level = 'B' } = request;
  const unsignedLength = level === 'B' ? 0 : attributeSpace(authorityFor(level, services));
  return { unsignedLength, ...padesOptions(request) };
}

/**
 * Lays out the signature and returns the bytes to sign. Reads the file once and writes nothing.
 * @param services from level T on: the authority, for the length of its time-stamp
 * @throws {CryptoError} as `signPades`; `request.invalid` when a service is missing
 */
export function beginPades(
  request: BeginSigningRequest<InputFile>,
  services: SigningServices = {},
): BegunSigning {
  const level = request.level ?? 'B';
  const options = layoutOptions(request, services);
  const source = openIncrementalFile(request.input, request.password);
  try {
    const { prepared, signing } = prepareFirst(source, options);
    const { update, placeholderStart, placeholderEnd } = prepared;
    const original = createHash('sha256');
    const around = createHash(options.digest);
    for (const chunk of source.chunks()) {
      original.update(chunk);
      around.update(chunk);
    }
    source.assertUnchanged();
    const before = update.subarray(0, placeholderStart);
    const after = update.subarray(placeholderEnd);
    const messageDigest = around.update(before).update(after).digest();
    const { toBeSigned, algorithm } = prepareSignedData({ ...options, messageDigest });
    const state: PadesState = {
      kind: KIND,
      level,
      signer: storedSigner(request),
      original: { sha256: original.digest('hex'), length: source.size },
      before: before.toString('base64'),
      space: placeholderBytes(prepared),
      after: after.toString('base64'),
      toBeSigned: toBeSigned.toString('base64'),
      algorithm,
    };
    return { ...begunSigning(toBeSigned, algorithm, state), ...signing };
  } finally {
    source.close();
  }
}

/**
 * Inserts the value and writes the signed file. From level T on the time-stamp goes into the signature, or
 * over the document when it is longer than expected in the first step.
 * @throws {CryptoError} `signature.mismatch` before anything is written; `input.changed` when the file differs from
 * the first step; `request.invalid` for an invalid state, or a missing service; as `signPadesAtLevel`
 */
export async function finishPades(
  request: FinishSigningRequest<InputFile, OutputFile>,
  services: SigningServices = {},
): Promise<SignedFile> {
  const state = readPadesState(request.state);
  const { level, algorithm } = state;
  const { timestamps: authority, evidence } = servicesFor(level, services) ?? {};
  const form = signerFromStored(state.signer);
  const toBeSigned = Buffer.from(state.toBeSigned, 'base64');
  const value = checkedSignatureValue(form.signer, algorithm, toBeSigned, request.value);
  const source = openIncrementalFile(request.input, request.password);
  try {
    if (source.size !== state.original.length) throw changed(source.path);
    return await writeIncremental(source, request, [algorithm.digest], async (file) => {
      if (file.inputDigest !== state.original.sha256) throw changed(source.path);
      const prepared = preparedFrom(state);
      const stamped = authority && (await stampedAttribute(authority, value, algorithm));
      const unsigned = stamped === undefined ? [] : [stamped.attribute];
      const fits = fillPlaceholder(prepared, completeSignedData(form, toBeSigned, value, unsigned));
      if (!fits && !fillPlaceholder(prepared, completeSignedData(form, toBeSigned, value))) {
        throw new CryptoError('request.invalid', 'The state of the first step has no room for a signature.');
      }
      file.append(prepared.update);
      if (authority !== undefined && !fits) {
        await appendDocumentTimestamp(file, authority, algorithm.digest, form.at);
      }
      if (evidence !== undefined) {
        const ours = newestSignatures(file, fits ? 1 : 2);
        await appendEvidence(file, ours, { others: form.signer.chain, source: evidence, at: form.at });
      }
      if (authority !== undefined && level === 'LTA') {
        await appendDocumentTimestamp(file, authority, algorithm.digest, form.at);
      }
    });
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
    Number(space) <= MAX_PLACEHOLDER_BYTES;
  if (isWhole) return state as PadesState;
  throw new CryptoError('request.invalid', 'The state of the first step is not as it was written.');
}

/** Type of parsed JSON: any member, at two depths, may be missing. */
type Unchecked<T> = { readonly [key in keyof T]?: T[key] extends object ? Partial<T[key]> : T[key] };

const LEVELS: readonly string[] = ['B', 'T', 'LT', 'LTA'] satisfies readonly SignatureLevel[];

function preparedFrom({ before, space, after }: PadesState): PreparedUpdate {
  const head = Buffer.from(before, 'base64');
  const tail = Buffer.from(after, 'base64');
  const hole = Buffer.from(`<${'00'.repeat(space)}>`, 'latin1');
  return {
    update: Buffer.concat([head, hole, tail]),
    placeholderStart: head.length,
    placeholderEnd: head.length + hole.length,
  };
}

function changed(path: string): CryptoError {
  return new CryptoError('input.changed', `${path} is not the file of the first step.`);
}
