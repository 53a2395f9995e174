/** What is found out about one time-stamp before its authority is trusted. The same for all formats. */
import type { Certificate } from '../certificates/certificate.ts';
import { checkToken } from '../timestamps/check.ts';
import type { ImprintSource } from '../timestamps/imprint.ts';
import { readTimestampToken } from '../timestamps/read.ts';
import type { TimestampToken } from '../timestamps/token.ts';
import { CryptoError } from '../types.ts';
import type { Finding, TimestampFacts } from './facts.ts';

/**
 * Reads a token and checks it against what it has to cover; a token that can't be read is a failed finding.
 * @param der TimeStampToken
 * @param covered digest of the bytes it has to cover
 * @param others certificates to look in when the authority's is not inside
 */
export function timestampFacts(
  kind: TimestampFacts['kind'],
  der: Buffer,
  covered: ImprintSource,
  others: readonly Certificate[] = [],
): TimestampFacts {
  return readTimestampFacts(kind, der, (token) => checkToken(token, covered, others));
}

/** As `timestampFacts`, when what has to be covered depends on the token itself. */
export function readTimestampFacts(
  kind: TimestampFacts['kind'],
  der: Buffer,
  check: (token: TimestampToken) => readonly Finding[],
): TimestampFacts {
  try {
    const token = readTimestampToken(der);
    return { kind, token, findings: check(token) };
  } catch (error) {
    if (!(error instanceof CryptoError) || error.code !== 'timestamp.malformed') throw error;
    return unreadableTimestamp(kind, error.message);
  }
}

/** Whether it can be read and is over what it has to cover: one that is broken counts for no level. */
export function isSound({ token, findings }: TimestampFacts): boolean {
  return token !== undefined && findings.every(({ status }) => status !== 'failed');
}

/** A time-stamp of which nothing can be said but why. */
function unreadableTimestamp(kind: TimestampFacts['kind'], message: string): TimestampFacts {
  const finding = { status: 'failed', type: 'timestamp.structure', message } as const;
  return { kind, token: undefined, findings: [finding] };
}
