/** HTTP to time-stamp authorities, OCSP responders and CRL servers. */
import type { Clock } from '@sealwright/runtime';
import { createHttpTransport, type HttpTransport, type HttpTransportOptions } from '@sealwright/signatures';

interface AuthorityTransportOptions extends Omit<HttpTransportOptions, 'clock' | 'remedy'> {
  readonly clock: Pick<Clock, 'after'>;
  /** `Signing:Trust:AllowPrivate`. */
  readonly allowPrivate: boolean;
  /** Hosts that an operator listed. */
  readonly issuerHosts: readonly string[];
}

/** Refusals name the settings that permit the address. */
export function createAuthorityTransport(options: AuthorityTransportOptions): HttpTransport {
  return createHttpTransport({
    ...options,
    remedy:
      'Where it is an authority of this network, list it in Signing:Trust:AiaHosts or set Signing:Trust:AllowPrivate.',
  });
}
