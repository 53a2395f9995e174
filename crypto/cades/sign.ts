/**
 * CAdES-B-B, enveloping or detached: one pass over the input, one over the output, bounded memory. At the levels above
 * B, the content is hashed once, then the services are called, then the output is written.
 */
import { createHash } from 'node:crypto';
import { OID } from '../asn1/oids.ts';
import { buildSignedData, completeSignedData, prepareSignedData } from '../cms/build.ts';
import { IN_MEMORY_BYTES, type Source } from '../core/files.ts';
import { assertRequest } from '../core/request-checks.ts';
import {
  type CadesFormat,
  CryptoError,
  type DigestName,
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
import { algorithmOf, DIGEST_LENGTH } from '../x509/signature-algorithms.ts';
import { hashSource } from './content-digests.ts';
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
    const { digest } = algorithmOf(signer, request);
    const digests = hashSource(source, [digest]);
    const der = await signedDigest(
      { ...request, ...cades, contentDigest: digests.of(digest) },
      levelServices,
    );
    if (cades.detached === true) output.write(der);
    else writeEnveloping(der, source, digests, output);
    return { sha256: digests.sha256 };
  });
}

/** Digest of the content, signer, parameters and level. */
export interface SignDigestRequest extends SignatureParameters, Pick<CadesFormat, 'contentIdentifier'> {
  readonly signer: Signer | RemoteSigner;
  /** The bytes of the digest, made with `digest`; with SHA-512 for Ed25519. */
  readonly contentDigest: Uint8Array;
  /** @default 'B' */
  readonly level?: SignatureLevel;
}

/**
 * Signs content that is elsewhere, of any size, by its digest. Resolves with the DER of the detached signature, which
 * equals that of `signFileAtLevel` over the file. The key signs attributes that hold the digest, never the digest
 * itself: nobody gets a signature over another structure by giving its digest (RFC 5652 §5.4).
 * @throws {CryptoError} `request.invalid` when the digest is text or its length is that of another algorithm;
 * `input.empty` for that of a file without content; those of `signFileAtLevel` about key and services
 */
export async function signCadesDigest(
  request: SignDigestRequest,
  services: SigningServices = {},
): Promise<Buffer> {
  assertRequest(undefined, request, ['at', 'signer']);
  const { signer, level = 'B' } = request;
  const { digest } = algorithmOf(signer, request);
  const contentDigest = checkedDigest(request.contentDigest, digest);
  return signedDigest({ ...request, contentDigest }, servicesFor(level, services));
}

/** Digits of a digest by another algorithm can have the length of this one; a digest has such bytes alone by no chance. */
const TEXT = /^[\w+/=-]*$/;

function checkedDigest(given: Uint8Array, digest: DigestName): Buffer {
  const lengths = new Map<string, number>(Object.entries(DIGEST_LENGTH));
  const bytes = given instanceof Uint8Array ? Buffer.from(given) : undefined;
  if (bytes === undefined || bytes.length !== lengths.get(digest) || TEXT.test(bytes.toString('latin1'))) {
    const known = [...lengths].map(([name, length]) => `${name} ${length}`).join(', ');
    throw new CryptoError(
      'request.invalid',
      `\`contentDigest\` is no digest by ${digest}: give its bytes, not digits (${known}), and their algorithm in \`digest\`.`,
    );
  }
  if (bytes.equals(createHash(digest).digest()))
    throw new CryptoError('input.empty', 'The digest is that of an empty file.');
  return bytes;
}

/**
 * Builds the DER of the SignedData without its content.
 * @param request with the digest of `algorithmOf(signer, request)`
 * @throws {CryptoError} those of the key and of the services
 */
export async function signedDigest(
  request: SignDigestRequest & { readonly contentDigest: Buffer },
  services: LevelServices | undefined,
): Promise<Buffer> {
  const { signer, at, level: to = 'B', contentDigest } = request;
  // Last: members that an untyped caller passes on must not make the key sign another type or digest.
  const fixed = { contentType: OID.data, messageDigest: contentDigest, signingTime: at };
  const signedData = { ...request, ...fixed };
  const { toBeSigned, algorithm } = prepareSignedData(signedData);
  const value = await signatureValue(signer, toBeSigned, algorithm);
  const baseline = completeSignedData(signedData, toBeSigned, value);
  const archived = (name: DigestName) => (name === algorithm.digest ? contentDigest : undefined);
  return raiseLevel(baseline, { to, at, contentDigest: archived }, services);
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
