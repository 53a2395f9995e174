/** Issuers and revocation answers of a pool thread for participants' certificates. Source: docs/batch-values.md §6.5. */
import type { EvidenceSource } from '@sealwright/signatures';
import { createAuthorityTransport } from '../../shared/signing/authority-transport.ts';
import { evidenceOver } from '../../shared/signing/certificate-checks.ts';
import type { PortalTaskContext } from './portal-task-context.ts';

type Asking = Pick<PortalTaskContext, 'profiles' | 'clock'>;

const sources = new WeakMap<Asking['profiles']['trust'], EvidenceSource>();

/** Returns the source of revocation answers; undefined when revocation is not checked. */
export function revocationSource(thread: Asking): EvidenceSource | undefined {
  return thread.profiles.trust.revocation === 'none' ? undefined : sourceOf(thread);
}

/** Returns the source of missing issuers; undefined when none may be fetched. */
export function issuerSource(thread: Asking): EvidenceSource | undefined {
  return thread.profiles.trust.issuerHosts.length === 0 ? undefined : sourceOf(thread);
}

/** One source per thread, which caches answers. */
function sourceOf({ profiles: { trust }, clock }: Asking): EvidenceSource {
  const known = sources.get(trust);
  if (known !== undefined) return known;
  const source = evidenceOver(createAuthorityTransport({ clock, ...trust }), trust, clock);
  sources.set(trust, source);
  return source;
}
