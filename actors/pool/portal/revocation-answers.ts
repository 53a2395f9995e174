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

/** One source per thread, which caches answers. Own certificates have answers, too: they end at the anchors of profiles. */
function sourceOf({ profiles: { byName, trust }, clock }: Asking): EvidenceSource {
  const known = sources.get(trust);
  if (known !== undefined) return known;
  const roots = [...trust.roots, ...[...byName.values()].flatMap(({ anchors }) => anchors)];
  const source = evidenceOver(createAuthorityTransport({ clock, ...trust }), { ...trust, roots }, clock);
  sources.set(trust, source);
  return source;
}
