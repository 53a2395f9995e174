/** Revocation source of a pool thread for participants' certificates. Source: docs/batch-values.md §6.5. */
import type { EvidenceSource } from '../../../crypto/index.ts';
import { createAuthorityTransport } from '../../shared/authority-transport.ts';
import { evidenceOver } from '../../shared/certificate-checks.ts';
import type { PortalTaskContext } from './portal-task-context.ts';

let source: EvidenceSource | undefined;

/** Creates one source per thread, which caches answers; undefined when revocation is not checked. */
export function revocationSource({ profiles, clock }: PortalTaskContext): EvidenceSource | undefined {
  const { trust } = profiles;
  if (trust.revocation === 'none') return undefined;
  source ??= evidenceOver(createAuthorityTransport({ clock, ...trust }), trust, clock);
  return source;
}
