/** Adds parallel signatures over the same content to a CAdES file (RFC 5652 §5.1). */

import { DIGEST_BY_OID } from '../asn1/oids.ts';
import { completeSignerInfo, prepareSignedData } from '../cms/build.ts';
import { openSource, type Source } from '../core/files.ts';
import { assertRequest } from '../core/request-checks.ts';
import {
  CryptoError,
  type InputFile,
  type OutputFile,
  type RemoteSigner,
  type SignatureAlgorithm,
  type SignatureLevel,
  type SignatureParameters,
  type SignedFile,
  type Signer,
} from '../core/types.ts';
import { type LevelServices, type SigningServices, servicesFor } from '../evidence/authorities.ts';
import { signatureValue } from '../keys/stored-signer.ts';
import { algorithmOf, digestIdentifier } from '../x509/signature-algorithms.ts';
import {
  amended,
  assertExtensible,
  assertIntact,
  type ExistingSignature,
  readExisting,
} from './existing-signature.ts';
import { raiseLevel } from './raise-level.ts';
import { type FileNames, withFiles, withFilesMeanwhile } from './signature-files.ts';

/** One more signature for an existing CAdES file. */
export interface AddCadesSignerRequest<Input extends InputFile = string, Output extends OutputFile = string>
  extends SignatureParameters,
    FileNames<Input, Output> {
  readonly signer: Signer;
  /** The content of a detached signature; required for one. */
  readonly content?: Input;
  /** Level of the new signature; the others stay unchanged. @default 'B' */
  readonly level?: SignatureLevel;
  /** As in `CadesFormat`. */
  readonly contentIdentifier?: string | undefined;
}

/**
 * Adds a signature of level B. The file keeps its encoding, and every earlier signature its bytes.
 * Source: RFC 5652 §5.1; EN 319 122-1 §6.
 * @throws {CryptoError} as `augmentCades` without services; `key.unsupported`; `request.invalid` for a level above B
 * (`addCadesSignerAtLevel`)
 */
export function addCadesSigner(request: AddCadesSignerRequest<InputFile, OutputFile>): SignedFile {
  assertRequest(undefined, request, ['at', 'signer']);
  const { level = 'B' } = request;
  if (level !== 'B') throw new CryptoError('request.invalid', `Level ${level} needs authorities.`);
  return withFiles(request, 'as-input', (source, output) => {
    const { existing, toBeSigned, algorithm, complete } = prepareSigner(source, request);
    existing.write(complete(request.signer.key.sign(toBeSigned, algorithm)), output);
    return { sha256: existing.sha256 };
  });
}

/** As `AddCadesSignerRequest`, with a key that may be elsewhere. */
interface AddCadesSignerAtLevelRequest extends Omit<AddCadesSignerRequest<InputFile, OutputFile>, 'signer'> {
  readonly signer: Signer | RemoteSigner;
}

/**
 * Adds a signature as `addCadesSigner`, at any level. Source: EN 319 122-1 §6.3.
 * @throws {CryptoError} also those of the services
 */
export async function addCadesSignerAtLevel(
  request: AddCadesSignerAtLevelRequest,
  services: SigningServices = {},
): Promise<SignedFile> {
  assertRequest(undefined, request, ['at', 'signer']);
  const { level = 'B' } = request;
  const levelServices = servicesFor(level, services);
  return withFilesMeanwhile(request, 'as-input', async (source, output) => {
    const { existing, der } = await raisedSigner(source, request, levelServices);
    existing.write(der, output);
    return { sha256: existing.sha256 };
  });
}

/** `AddCadesSignerAtLevelRequest` for open files. */
type AddedSignerRequest = Omit<
  AddCadesSignerAtLevelRequest,
  keyof FileNames<InputFile, OutputFile> | 'content'
> & {
  readonly content?: InputFile | Source;
};

/** Returns the DER of a detached signature with one more signer. @throws {CryptoError} as `addCadesSignerAtLevel` */
export async function addedSigner(
  source: Source,
  request: AddedSignerRequest,
  services: SigningServices,
): Promise<Buffer> {
  const { der } = await raisedSigner(source, request, servicesFor(request.level ?? 'B', services));
  return der;
}

async function raisedSigner(
  source: Source,
  request: AddedSignerRequest,
  services: LevelServices | undefined,
): Promise<{ readonly existing: ExistingSignature; readonly der: Buffer }> {
  const { level: to = 'B', at } = request;
  const { existing, toBeSigned, algorithm, complete } = prepareSigner(source, request);
  const signature = await signatureValue(request.signer, toBeSigned, algorithm);
  const der = complete(signature);
  const { contentDigest } = existing;
  return {
    existing,
    der: await raiseLevel(der, { to, at, signatures: [signature], contentDigest }, services),
  };
}

interface PreparedSigner {
  readonly existing: ExistingSignature;
  readonly toBeSigned: Buffer;
  readonly algorithm: SignatureAlgorithm;
  /** Returns the SignedData with the new signature and without content. */
  complete(signature: Buffer): Buffer;
}

function prepareSigner(source: Source, request: AddedSignerRequest): PreparedSigner {
  const { signer, at, content, includeChain = true } = request;
  const { digest } = algorithmOf(signer, request);
  const existing = readExisting(source, content, [digest]);
  assertIntact(existing, source);
  assertExtensible(existing, source);
  const messageDigest = existing.contentDigest(digest);
  if (messageDigest === undefined) {
    throw new CryptoError('request.invalid', `${source.path} is detached, and its content is not given.`);
  }
  const { contentType } = existing.data;
  const signedData = { ...request, messageDigest, signingTime: at, contentType };
  const { toBeSigned, algorithm } = prepareSignedData(signedData);
  return {
    existing,
    toBeSigned,
    algorithm,
    complete: (signature) =>
      amended(source, existing.der, {
        digestAlgorithms: [digestIdentifier(digest)],
        certificates: includeChain ? [signer.certificate, ...signer.chain] : [signer.certificate],
        signers: [completeSignerInfo(signedData, toBeSigned, signature)],
      }),
  };
}

/** Joins the signers of two detached CAdES files over the same content (RFC 5652 §5.1). */
interface JoinCadesSignersRequest extends FileNames<InputFile, OutputFile> {
  /** The detached signature file whose signers are added to those of `input`. */
  readonly added: InputFile;
  /** The content of both. */
  readonly content: InputFile;
}

/**
 * Adds the signers of one file to the other; every signature keeps its bytes.
 * Source: RFC 5652 §5.1.
 * @throws {CryptoError} as `augmentCades` without services; `signature.mismatch` when one of the two is not over the
 * content
 */
export function joinCadesSigners(request: JoinCadesSignersRequest): SignedFile {
  return withFiles(request, 'as-input', (source, output) => {
    const existing = readExisting(source, request.content);
    assertIntact(existing, source);
    assertExtensible(existing, source);
    const added = openSource(request.added);
    try {
      const joining = readExisting(added, request.content);
      assertIntact(joining, added);
      const { signers, certificates } = joining.data;
      const digests = signers.flatMap(({ digestAlgorithm }) => DIGEST_BY_OID.get(digestAlgorithm) ?? []);
      const der = amended(source, existing.der, {
        digestAlgorithms: digests.map(digestIdentifier),
        certificates,
        signers: signers.map(({ encoding }) => encoding),
      });
      existing.write(der, output);
      return { sha256: existing.sha256 };
    } finally {
      added.close();
    }
  });
}
