/** Network access of `verify --online`; loaded only then. */

import type { Clock } from '@sealwright/runtime';
import type { CollectOnline } from '@sealwright/signatures/command-line';
import { createAuthorityTransport, evidenceOver, NO_TRUST } from '../../actors/index.ts';
import type { LoadedSettings } from '../../settings.ts';
import { ownIssuerHosts } from './own-trust.ts';

/**
 * Asks as the service does: issuers come from the hosts of `Signing:Trust:AiaHosts` alone.
 * @param allowPrivate certificates may name addresses that are not public
 */
export function collectOnline(clock: Clock, allowPrivate: boolean, loaded: LoadedSettings): CollectOnline {
  const issuerHosts = ownIssuerHosts(loaded);
  const transport = createAuthorityTransport({ clock, allowPrivate, issuerHosts });
  return ({ anchors, intermediates = [] }) =>
    evidenceOver(transport, { ...NO_TRUST, roots: anchors, intermediates, issuerHosts }, clock);
}
