/** True if a profile can sign now, from what was loaded at start and the period of validity. */
import { validityFault } from '@sealwright/signatures';
import type { Millis } from '../../machines/ids.ts';
import type { CertificateProblem, LocalProfile, Profile } from './profiles.ts';

/** Returns why the profile cannot sign at `now`, and what to do; undefined when it can. */
export function certificateProblem(
  profile: LocalProfile,
  now: Millis,
): (CertificateProblem & { readonly remedy: string }) | undefined {
  const { loadFailure, validFrom = Number.NEGATIVE_INFINITY, validTo, certificateFiles } = profile;
  const files = certificateFiles ?? 'certificate and key';
  if (loadFailure !== undefined) {
    return { ...loadFailure, remedy: `Correct ${files} and restart the service.` };
  }
  const fault = validityFault({ notBefore: validFrom, notAfter: validTo }, now);
  if (fault === undefined) return undefined;
  const remedy =
    fault.code === 'certificate.expired'
      ? `Replace ${files} and restart the service.`
      : `Jobs succeed from then on; to sign before, replace ${files} and restart the service.`;
  return { ...fault, remedy };
}

/** True for a remote profile, and for a local one that can sign at `now`. */
export function canSign(profile: Profile, now: Millis): boolean {
  return profile.method === 'RemoteSigner' || certificateProblem(profile, now) === undefined;
}
