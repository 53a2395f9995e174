/** Findings about one time-stamp before its authority is trusted, common to all formats. */

import type { Finding } from '../core/finding.ts';
import { CryptoError } from '../core/types.ts';
import type { ImprintSource } from '../evidence/message-imprint.ts';
import { checkToken } from '../evidence/timestamp-checks.ts';
import { readTimestampToken } from '../evidence/timestamp-reader.ts';
import type { TimestampToken } from '../evidence/timestamp-token.ts';
import type { Certificate } from '../x509/certificate.ts';
import type { TimestampInfo } from './signature-info.ts';

/**
 * Reads a token and checks its message imprint; an unreadable token gives a failed finding.
 * @param der TimeStampToken
 * @param covered digest of the bytes it must cover
 * @param others candidates for the authority's certificate when the token lacks it
 */
export function timestampInfo(
  kind: TimestampInfo['kind'],
  der: Buffer,
  covered: ImprintSource,
  others: readonly Certificate[] = [],
): TimestampInfo {
  return readTimestampInfo(kind, der, (token) => checkToken(token, covered, others));
}

/** Checks a time-stamp, as `timestampInfo`, when the covered data depends on the token. */
export function readTimestampInfo(
  kind: TimestampInfo['kind'],
  der: Buffer,
  check: (token: TimestampToken) => readonly Finding[],
): TimestampInfo {
  try {
    const token = readTimestampToken(der);
    return { kind, token, findings: check(token) };
  } catch (error) {
    if (!(error instanceof CryptoError) || error.code !== 'timestamp.malformed') throw error;
    return unreadableTimestamp(kind, error.message);
  }
}

/** True when the token is readable and its imprint is right; broken ones do not count for a level. */
export function isIntactTimestamp({ token, findings }: TimestampInfo): boolean {
  return token !== undefined && findings.every(({ status }) => status !== 'failed');
}

/** Builds the result for an unreadable time-stamp. */
function unreadableTimestamp(kind: TimestampInfo['kind'], message: string): TimestampInfo {
  const finding = { status: 'failed', type: 'timestamp.structure', message } as const;
  return { kind, token: undefined, findings: [finding] };
}
