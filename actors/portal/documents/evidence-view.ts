/**
 * Evidence as clients read it. Source: docs/portal-values.md §17.
 */
import type { CompletedAction, Participant } from '../../../machines/portal/portal-types.ts';
import { evidenceDigest, evidenceFile, type SignedEvidence } from './evidence-file.ts';

/** Null for a signature with a certificate only. */
export function evidenceView(
  { flowActionId, evidence, evidenceSha256 }: CompletedAction,
  participant: Participant,
  document: SignedEvidence['document'],
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
    // Only sealed evidence, matched by digest.
    file: evidenceDigest(file) === evidenceSha256 ? file.toString('base64') : null,
    fileTicket: null,
  };
}
