/** Whom a thread of the pool asks whether the certificates of people are revoked. Source: batch-gaps §6.5. */
import { createEvidenceSource, type EvidenceSource } from '../../../crypto/index.ts';
import { createAuthorityTransport } from '../../adapters/authority-transport.ts';
import type { PortalThread } from './thread.ts';

/** Tries of one authority after the first: people wait for the answer. */
const RETRIES = 1;

let source: EvidenceSource | undefined;

/** One for the thread, so that what was learned once is not asked again; undefined when nobody is to be asked. */
export function revocationAnswers({ profiles, clock }: PortalThread): EvidenceSource | undefined {
  const { roots, intermediates, revocation, allowAia, cacheMinutes, revocationTimeoutMs } = profiles.trust;
  if (revocation === 'none') return undefined;
  source ??= createEvidenceSource({
    transport: createAuthorityTransport({ clock }),
    now: () => clock.now(),
    wait: (ms: number) => clock.sleep(ms),
    retries: RETRIES,
    anchors: roots,
    intermediates,
    allowAia,
    cacheMinutes,
    timeoutMs: revocationTimeoutMs,
  });
  return source;
}
