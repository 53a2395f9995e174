/** Revocation source of a pool thread for participants' certificates. Source: docs/batch-values.md §6.5. */
import { createEvidenceSource, type EvidenceSource } from '../../../crypto/index.ts';
import { createAuthorityTransport } from '../../shared/authority-transport.ts';
import type { PortalTaskContext } from './portal-task-context.ts';

/** Retries per authority: a person waits for the answer. */
const RETRIES = 1;

let source: EvidenceSource | undefined;

/** Creates one source per thread, which caches answers; undefined when revocation is not checked. */
export function revocationSource({ profiles, clock }: PortalTaskContext): EvidenceSource | undefined {
  const { roots, intermediates, revocation, issuerHosts, cacheMinutes, revocationTimeoutMs } = profiles.trust;
  if (revocation === 'none') return undefined;
  source ??= createEvidenceSource({
    transport: createAuthorityTransport({ clock, ...profiles.trust }),
    now: () => clock.now(),
    wait: (ms: number) => clock.sleep(ms),
    retries: RETRIES,
    anchors: roots,
    intermediates,
    issuerHosts,
    cacheMinutes,
    timeoutMs: revocationTimeoutMs,
  });
  return source;
}
