/**
 * Evidence as clients read it. Source: portal-gaps §17, "Evidences".
 */
import type { MadeAction, Participant } from '../../machines/portal-words.ts';
import { evidenceDigest, evidenceFile, type SealedEvidence } from './evidence-file.ts';

/** Null for a signature that stands on a certificate alone. */
export function evidenceView(
  { flowActionId, evidence, evidenceSha256 }: MadeAction,
  participant: Participant,
  document: SealedEvidence['document'],
): Readonly<Record<string, unknown>> | null {
  if (evidence === null) return null;
  const file = evidenceFile({ document, flowActionId, participant, evidence });
  return {
    ipAddress: evidence.ipAddress,
    userAgent: evidence.userAgent,
    authenticationTypes: evidence.authenticationTypes,
    accountVerifiedEmail: null,
    authenticatedEmail: evidence.authenticatedEmail,
    authenticatedPhoneNumberLastDigits: null,
    authenticatedPhoneNumber: null,
    authenticatedApplication: evidence.authenticatedApplication,
    authenticatedSelfie: null,
    authenticatedPix: null,
    geolocation: evidence.geolocation,
    timestamp: new Date(evidence.at).toISOString(),
    evidencesSha256: evidenceSha256,
    // What was sealed, and nothing that merely looks like it.
    file: evidenceDigest(file) === evidenceSha256 ? file.toString('base64') : null,
    fileTicket: null,
  };
}
