/** One door to the three formats: signing, augmenting, signing in two steps, and the quick check of what was signed. */
import type { SigningServices } from './authorities.ts';
import { augmentCades } from './cades/augment.ts';
import { signCades } from './cades/sign.ts';
import { signCadesAtLevel } from './cades/sign-at-level.ts';
import { beginCades, finishCadesAtLevel } from './cades/two-steps.ts';
import { verifyCades } from './cades/verify.ts';
import { augmentPades } from './pades/augment.ts';
import { signPadesAtLevel } from './pades/levels.ts';
import { signPades } from './pades/sign.ts';
import { beginPades, finishPades } from './pades/two-steps.ts';
import { verifyPades } from './pades/verify.ts';
import {
  type AugmentFileRequest,
  type BeginSigningRequest,
  type BegunSigning,
  CryptoError,
  type FinishSigningRequest,
  type SignatureFormat,
  type SignedFile,
  type SignFileRequest,
  type VerificationReport,
  type VerifyFileRequest,
} from './types.ts';
import { augmentXades } from './xades/augment.ts';
import { signXades } from './xades/sign.ts';
import { signXadesAtLevel } from './xades/sign-at-level.ts';
import { beginXades, finishXades } from './xades/two-step.ts';
import { verifyXades } from './xades/verify.ts';

/** What each format brings. */
interface Format {
  sign(request: SignFileRequest): SignedFile;
  signAtLevel(request: SignFileRequest, services: SigningServices): Promise<SignedFile>;
  augment(request: AugmentFileRequest, services: SigningServices): Promise<SignedFile>;
  begin(request: BeginSigningRequest, services: SigningServices): BegunSigning;
  finish(request: FinishSigningRequest, services: SigningServices): Promise<SignedFile>;
  verify(request: VerifyFileRequest): VerificationReport;
}

const FORMATS: { readonly [format in SignatureFormat]: Format } = {
  Pades: {
    sign: signPades,
    signAtLevel: signPadesAtLevel,
    augment: augmentPades,
    begin: beginPades,
    finish: finishPades,
    verify: verifyPades,
  },
  Cades: {
    sign: signCades,
    signAtLevel: signCadesAtLevel,
    augment: augmentCades,
    begin: beginCades,
    finish: finishCadesAtLevel,
    verify: verifyCades,
  },
  Xades: {
    sign: signXades,
    signAtLevel: signXadesAtLevel,
    augment: augmentXades,
    begin: beginXades,
    finish: finishXades,
    verify: verifyXades,
  },
};

/**
 * Signs one file at level B, the only one that needs nobody else. When this returns, the output's bytes are on the disk
 * (unless `sync` is false; its folder entry is the caller's to sync); when it throws, there is no output.
 * @throws {CryptoError} `request.invalid` for another level
 */
export function signFile(request: SignFileRequest): SignedFile {
  const { level = 'B' } = request;
  if (level !== 'B') {
    throw new CryptoError('request.invalid', `Level ${level} needs authorities; signFileAtLevel asks them.`);
  }
  return FORMATS[request.format].sign(request);
}

/**
 * As `signFile`, at any level.
 * @throws {CryptoError} also `authority.unreachable`, `authority.refused`, `revocation.missing`, `certificate.revoked`;
 *   `request.invalid` when a service is missing that the level needs
 */
export async function signFileAtLevel(
  request: SignFileRequest,
  services: SigningServices,
): Promise<SignedFile> {
  if ((request.level ?? 'B') === 'B') return signFile(request);
  return FORMATS[request.format].signAtLevel(request, services);
}

/**
 * Brings the signatures of a file to a higher level, or renews their archive time-stamps; the same for all formats:
 * - A signature is looked at first. One that is broken, or has a time-stamp over something else, is never built upon: it
 *   stays as it is beside others, and `signature.mismatch` when none is sound.
 * - What is at level T or LT already, or above, comes out as it was, and nobody is asked.
 * - LTA always adds a further archive time-stamp, and before it the evidence about whoever made the time-stamps that it
 *   covers, the newest archive time-stamp among them.
 * @throws {CryptoError} `signature.mismatch`; `request.invalid` without a signature or a service; those of the services
 */
export async function augmentFile(
  request: AugmentFileRequest,
  services: SigningServices,
): Promise<SignedFile> {
  return FORMATS[request.format].augment(request, services);
}

/**
 * First of two steps, for a key that is elsewhere. Writes nothing and asks nobody.
 * @param services from level T on: PDF signatures reserve room for the authority's time-stamp
 * @throws {CryptoError}
 */
export function beginSigning(request: BeginSigningRequest, services: SigningServices = {}): BegunSigning {
  return FORMATS[request.format].begin(request, services);
}

/** Second of two steps. @throws {CryptoError} `signature.mismatch`, `input.changed`, `request.invalid` and those of signing */
export async function finishSigning(
  request: FinishSigningRequest & { readonly format: SignatureFormat },
  services: SigningServices = {},
): Promise<SignedFile> {
  return FORMATS[request.format].finish(request, services);
}

/**
 * Checks the signatures of one file that was just made here, from the bytes on disk alone. A bad signature is a report
 * that is not ok; `validateFile` says everything about signatures of whomever.
 * @throws {CryptoError} when the file can't be read at all
 */
export function verifyFile(request: VerifyFileRequest): VerificationReport {
  return FORMATS[request.format].verify(request);
}
