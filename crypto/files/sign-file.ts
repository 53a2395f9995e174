/**
 * Entry point of the three signature formats: signing, augmenting, two-step signing, and the quick check of new
 * signatures. Containers of them are made in `asic/`.
 */
import { augmentCades } from '../cades/augment.ts';
import { signCades, signCadesAtLevel } from '../cades/sign.ts';
import { beginCades, finishCades } from '../cades/two-step.ts';
import { verifyCades } from '../cades/verify.ts';
import { assertRequest } from '../core/request-checks.ts';
import {
  type AugmentFileRequest,
  type BeginSigningRequest,
  type BegunSigning,
  CryptoError,
  type FinishSigningRequest,
  type InputFile,
  type OutputFile,
  type SignAtLevelRequest,
  type SignatureFormat,
  type SignedFile,
  type SignFileRequest,
  type SigningWarning,
  type VerificationReport,
  type VerifyFileRequest,
} from '../core/types.ts';
import type { SigningServices } from '../evidence/authorities.ts';
import { augmentPades } from '../pades/augment.ts';
import { signPadesAtLevel } from '../pades/levels.ts';
import { signPades } from '../pades/sign.ts';
import { beginPades, finishPades, tryPades } from '../pades/two-step.ts';
import { verifyPades } from '../pades/verify.ts';
import { augmentXades } from '../xades/augment.ts';
import { signXades, signXadesAtLevel } from '../xades/sign.ts';
import { beginXades, finishXades } from '../xades/two-step.ts';
import { verifyXades } from '../xades/verify.ts';

/** Operations of one format. */
interface Format {
  sign(request: SignFileRequest<InputFile, OutputFile>): SignedFile;
  signAtLevel(
    request: SignAtLevelRequest<InputFile, OutputFile>,
    services: SigningServices,
  ): Promise<SignedFile>;
  augment(request: AugmentFileRequest<InputFile, OutputFile>, services: SigningServices): Promise<SignedFile>;
  begin(request: BeginSigningRequest<InputFile>, services: SigningServices): BegunSigning;
  /** Throws as `begin` does. */
  tryOut(request: BeginSigningRequest<InputFile>, services: SigningServices): Pick<SignedFile, 'warnings'>;
  finish(
    request: FinishSigningRequest<InputFile, OutputFile>,
    services: SigningServices,
  ): Promise<SignedFile>;
  verify(request: VerifyFileRequest<InputFile>): VerificationReport;
}

const FORMATS: { readonly [format in SignatureFormat]: Format } = {
  Pades: {
    sign: signPades,
    signAtLevel: signPadesAtLevel,
    augment: augmentPades,
    begin: beginPades,
    tryOut: tryPades,
    finish: finishPades,
    verify: verifyPades,
  },
  Cades: {
    sign: signCades,
    signAtLevel: signCadesAtLevel,
    augment: augmentCades,
    begin: beginCades,
    tryOut: beginCades,
    finish: finishCades,
    verify: verifyCades,
  },
  Xades: {
    sign: signXades,
    signAtLevel: signXadesAtLevel,
    augment: augmentXades,
    begin: beginXades,
    tryOut: beginXades,
    finish: finishXades,
    verify: verifyXades,
  },
};

function formatOf(
  request: { readonly format: SignatureFormat },
  members: Parameters<typeof assertRequest>[2],
): Format {
  assertRequest(Object.keys(FORMATS), request, members);
  return FORMATS[request.format];
}

/**
 * Signs one file at level B, which needs no service. When this returns, the output's bytes are on the disk
 * (unless `sync` is false; the caller syncs its folder entry); when it throws, there is no output.
 * Source: EN 319 142-1, EN 319 122-1, EN 319 132-1, §6.3 each.
 * @throws {CryptoError} `request.invalid` for another level
 */
export function signFile(request: SignFileRequest<InputFile, OutputFile>): SignedFile {
  const { level = 'B' } = request;
  if (level !== 'B') {
    throw new CryptoError('request.invalid', `Level ${level} needs authorities; signFileAtLevel asks them.`);
  }
  return formatOf(request, ['at', 'signer']).sign(request);
}

/**
 * Signs as `signFile`, at any level, also with a key that is elsewhere; no thread waits for it. The file is read as often
 * as with a key here.
 * Source: EN 319 142-1, EN 319 122-1, EN 319 132-1, §6.3 each.
 * @throws {CryptoError} also `signature.mismatch` when such a key did not make the value; `authority.unreachable`, `authority.refused`, `revocation.missing`, `certificate.revoked`;
 * `request.invalid` when a service that the level needs is missing
 */
export async function signFileAtLevel(
  request: SignAtLevelRequest<InputFile, OutputFile>,
  services: SigningServices = {},
): Promise<SignedFile> {
  const format = formatOf(request, ['at', 'signer']);
  const { signer, level = 'B' } = request;
  if (!('sign' in signer) && level === 'B') return signFile({ ...request, signer });
  return format.signAtLevel(request, services);
}

/**
 * Raises the signatures of a file to a higher level, or renews their archive time-stamps; the same for all formats:
 * - Each signature is verified first. An invalid one, or one with a time-stamp over other bytes, is never augmented: it
 * stays unchanged beside others; the error is `signature.mismatch` when none is valid.
 * - A signature at level T or LT, or above, is written unchanged, and no service is called.
 * - LTA always adds another archive time-stamp, and before it the evidence for the signers of the time-stamps that it
 * covers, the newest archive time-stamp included.
 * Source: EN 319 142-1, EN 319 122-1, EN 319 132-1, §6.3 each.
 * @throws {CryptoError} `signature.mismatch`; `request.invalid` without a signature or a service; those of the services
 */
export async function augmentFile(
  request: AugmentFileRequest<InputFile, OutputFile>,
  services: SigningServices,
): Promise<SignedFile> {
  return formatOf(request, ['at']).augment(request, services);
}

/**
 * First of two steps with an external key. Writes no file and calls no service.
 * Source: EN 319 142-1, EN 319 122-1, EN 319 132-1, §6.3 each.
 * @param services from level T on: PDF signatures reserve bytes for the authority's time-stamp
 * @throws {CryptoError} `input.*`, `pdf.*`, `xml.*`, `key.unsupported`; `request.invalid` also without a service that
 * the level needs
 */
export function beginSigning(
  request: BeginSigningRequest<InputFile>,
  services: SigningServices = {},
): BegunSigning {
  return formatOf(request, ['at', 'signer']).begin(request, services);
}

/**
 * Checks that `beginSigning` would succeed, with less work where the format allows; returns its warnings.
 * @throws {CryptoError} as `beginSigning`
 */
export function trySigning(
  request: BeginSigningRequest<InputFile>,
  services: SigningServices = {},
): readonly SigningWarning[] {
  return formatOf(request, ['at', 'signer']).tryOut(request, services).warnings ?? [];
}

/**
 * Second of two steps.
 * @throws {CryptoError} `signature.mismatch`, `input.changed`, `request.invalid` and those of signing
 */
export async function finishSigning(
  request: FinishSigningRequest<InputFile, OutputFile> & { readonly format: SignatureFormat },
  services: SigningServices = {},
): Promise<SignedFile> {
  return formatOf(request, []).finish(request, services);
}

/**
 * Checks the signatures of one file that was just made here, from the bytes on disk. An invalid signature is a report
 * that is not ok; `validateFile` gives the full report for signatures of any origin.
 * @throws {CryptoError} `input.*` when the file can't be read at all, or changes meanwhile
 */
export function verifyFile(request: VerifyFileRequest<InputFile>): VerificationReport {
  return formatOf(request, []).verify(request);
}
