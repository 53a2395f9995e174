/**
 * CAdES-B-B, enveloping or detached: one pass over the input, one over the output, bounded memory. At the levels above
 * B, the content is hashed once, then the services are called, then the output is written.
 */
import { createHash } from 'node:crypto';
import { buildSignedData, completeSignedData, prepareSignedData } from '../cms/build.ts';
import { IN_MEMORY_BYTES, type Source } from '../core/files.ts';
import {
  CryptoError,
  type InputFile,
  type OutputFile,
  type RemoteSigner,
  type SignAtLevelRequest,
  type SignatureLevel,
  type SignatureParameters,
  type SignedFile,
  type Signer,
  type SignFileRequest,
} from '../core/types.ts';
import { type LevelServices, type SigningServices, servicesFor } from '../evidence/authorities.ts';
import { signatureValue } from '../keys/stored-signer.ts';
import { algorithmOf } from '../x509/signature-algorithms.ts';
import { type ContentDigests, hashSource } from './content-digests.ts';
import {
  type Envelope,
  type EnvelopeRequest,
  envelope,
  indefiniteHead,
  indefiniteTail,
  writeEnveloping,
} from './envelope.ts';
import { raiseLevel } from './raise-level.ts';
import { type FilesDone, type SignatureOutput, withFiles, withFilesMeanwhile } from './signature-files.ts';

/**
 * Signs as `signCades`, at any level. The content of an enveloping signature is read twice, in bounded memory.
 * @throws {CryptoError} as `signCades`; `authority.unreachable`, `authority.refused`, `revocation.missing`,
 * `certificate.revoked`; `request.invalid` when a service that the level needs is not given
 */
export async function signCadesAtLevel(
  request: SignAtLevelRequest<InputFile, OutputFile>,
  services: SigningServices,
): Promise<SignedFile> {
  const { signer, level = 'B', cades = {} } = request;
  const levelServices = servicesFor(level, services);
  return withFilesMeanwhile(request, cades.armor ?? 'der', async (source, output) => {
    const digests = hashSource(source, [algorithmOf(signer, request).digest]);
    const identified = { ...request, contentIdentifier: cades.contentIdentifier };
    const der = await signedDigests(digests, identified, levelServices);
    if (cades.detached === true) output.write(der);
    else writeEnveloping(der, source, digests, output);
    return { sha256: digests.sha256 };
  });
}

/** Signer, parameters and level. */
interface SignedDigestsRequest extends SignatureParameters {
  readonly signer: Signer | RemoteSigner;
  /** @default 'B' */
  readonly level?: SignatureLevel;
  /** As in `CadesFormat`. */
  readonly contentIdentifier?: string | undefined;
}

/**
 * Builds the DER of the SignedData without its content.
 * @param digests of the content; the one of `algorithmOf(signer, request)` among them
 * @throws {CryptoError} those of the key and of the services
 */
export async function signedDigests(
  digests: ContentDigests,
  request: SignedDigestsRequest,
  services: LevelServices | undefined,
): Promise<Buffer> {
  const { signer, at, level: to = 'B' } = request;
  const { digest } = algorithmOf(signer, request);
  const signedData = { messageDigest: digests.of(digest), signingTime: at, ...request };
  const { toBeSigned, algorithm } = prepareSignedData(signedData);
  const value = await signatureValue(signer, toBeSigned, algorithm);
  const baseline = completeSignedData(signedData, toBeSigned, value);
  return raiseLevel(baseline, { to, at, contentDigest: (name) => digests.all.get(name) }, services);
}

/**
 * Signs any file into a CMS SignedData in DER or PEM, enveloping or detached (EN 319 122-1, baseline B).
 * The content is opaque: a CMS file is signed like any other. Lengths above 4 GiB are exact.
 * The output is synced when this returns (unless `sync` is false) and removed when it throws.
 * @throws {CryptoError} `input.unreadable`, `input.empty`, `input.changed`, `output.exists`, `output.unwritable`,
 * `key.unsupported`; `request.invalid` for a level above B (`signCadesAtLevel`) or a policy that can't be written
 */
export function signCades(given: SignFileRequest<InputFile, OutputFile>): SignedFile {
  const { level = 'B', cades = {} } = given;
  const request = { contentIdentifier: cades.contentIdentifier, ...given };
  if (level !== 'B') throw new CryptoError('request.invalid', `Level ${level} needs authorities.`);
  return withFiles(request, cades.armor ?? 'der', (source, output) => {
    if (cades.detached === true) return writeDetached(source, output, request);
    const write = source.size <= IN_MEMORY_BYTES ? writeSmall : writeLarge;
    return write(source, output, request);
  });
}

function writeDetached(source: Source, output: SignatureOutput, request: EnvelopeRequest): FilesDone {
  const { digest } = algorithmOf(request.signer, request);
  const digests = hashSource(source, [digest]);
  const der = buildSignedData({ messageDigest: digests.of(digest), signingTime: request.at, ...request });
  output.write(der);
  return { sha256: digests.sha256 };
}

function writeSmall(source: Source, output: SignatureOutput, request: EnvelopeRequest): FilesDone {
  const content = source.read(0, source.size);
  const { head, tail, messageDigest } = envelopBytes(content, request);
  output.write(head, content, tail);
  const { digest } = algorithmOf(request.signer, request);
  const sha256 = digest === 'sha256' ? messageDigest : createHash('sha256').update(content).digest();
  return { sha256: sha256.toString('hex') };
}

/** Builds the bytes before and after the content of a CAdES-B-B signature made in memory. @throws as `signCades` */
export function envelopBytes(
  content: Buffer,
  request: EnvelopeRequest,
): Envelope & { readonly messageDigest: Buffer } {
  const { digest } = algorithmOf(request.signer, request);
  const messageDigest = createHash(digest).update(content).digest();
  return { messageDigest, ...envelope(request, content.length, messageDigest) };
}

function writeLarge(source: Source, output: SignatureOutput, request: EnvelopeRequest): FilesDone {
  const { digest } = algorithmOf(request.signer, request);
  output.write(indefiniteHead(request, source.size));
  const digests = hashSource(source, [digest], (piece) => output.write(piece));
  output.write(indefiniteTail(request, digests.of(digest)));
  return { sha256: digests.sha256 };
}
