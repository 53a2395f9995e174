/** Reads the revocation values of a time-stamp token. */

import { type Evidence, NO_EVIDENCE } from '../evidence/authorities.ts';
import { evidenceInAttributes, evidenceInData, joinEvidence } from '../evidence/embedded-evidence.ts';
import type { TimestampInfo } from './signature-info.ts';

/** Collects the evidence in a time-stamp about its authority. */
export function evidenceInTimestamp({ token }: TimestampInfo): Evidence {
  if (token === undefined) return NO_EVIDENCE;
  const [signer] = token.signedData.signers;
  return joinEvidence(evidenceInData(token.signedData), evidenceInAttributes(signer?.unsignedAttributes));
}
