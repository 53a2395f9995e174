/** Network access of `verify --online`; loaded only then. */
import { createAuthorityTransport } from '../../actors/index.ts';
import { createEvidenceSource } from '../../crypto/index.ts';
import type { Clock } from '../../runtime/index.ts';
import type { CollectOnline } from './verify.ts';

/** @param allowPrivate certificates may name addresses that are not public */
export function collectOnline(clock: Clock, allowPrivate: boolean): CollectOnline {
  const transport = createAuthorityTransport({ clock, allowPrivate, issuerHosts: [] });
  return ({ anchors, intermediates }) =>
    createEvidenceSource({
      anchors,
      intermediates,
      issuerHosts: [],
      transport,
      now: () => clock.now(),
      wait: (ms) => clock.sleep(ms),
      cacheMinutes: 60,
      timeoutMs: 5_000,
      retries: 1,
    });
}
