/** `RemoteSigner:*`: the portal that signs for profiles with the Method RemoteSigner. Source: docs/batch-values.md §5. */

import type { Fault } from './findings.ts';
import { key, optional } from './keys.ts';
import { flag, secretText, webUrl, whole } from './kinds.ts';

export const REMOTE_KEYS = {
  'RemoteSigner:Endpoint': optional(webUrl(), {
    says: 'Base address of the remote portal, scheme included. Required when a profile has the Method `RemoteSigner`.',
  }),
  'RemoteSigner:ApiKey': optional(secretText(), {
    says: 'Key for it, `<application>|<secret>`. Required under the same condition.',
  }),
  'RemoteSigner:PollIntervalSeconds': key(whole(1, 3600), 30, {
    unit: 'seconds',
    says: 'Interval of polling each waiting document.',
  }),
  'RemoteSigner:TimeoutHours': key(whole(1, 8760), 168, {
    unit: 'hours',
    says: 'Time after which a job that waits for its signer, or whose upload to the portal is tried again, fails.',
  }),
  'RemoteSigner:MaxConsecutiveApiFailures': key(whole(0, 1000), 0, {
    unit: 'failures',
    says: 'Consecutive failures of polling or downloading one document that are allowed; one more fails its job. 0: no limit by count; the job waits up to `RemoteSigner:TimeoutHours`.',
  }),
  'RemoteSigner:RequestTimeoutSeconds': key(whole(1, 600), 30, {
    unit: 'seconds',
    says: 'Time limit for the answer to one request, and for each pause within an answer.',
  }),
  'RemoteSigner:CompareContent': key(flag(), true, {
    says: 'Compare the returned document with the one that was sent: the signature must cover those bytes. Switch it off for portals that rewrite documents before signing.',
  }),
} as const;

interface RemoteSettings {
  readonly signing: { readonly profiles: readonly { readonly method: 'Local' | 'RemoteSigner' }[] };
  readonly remoteSigner: { readonly endpoint: string | undefined; readonly apiKey: string | undefined };
}

export function checkRemoteSigner({ signing, remoteSigner }: RemoteSettings, faults: Fault[]): void {
  if (signing.profiles.every(({ method }) => method === 'Local')) return;
  const rule = 'is required, because a signing profile has the Method RemoteSigner';
  if (!remoteSigner.endpoint) faults.push({ key: 'RemoteSigner:Endpoint', rule });
  if (!remoteSigner.apiKey) faults.push({ key: 'RemoteSigner:ApiKey', rule });
  else if (!/^[^|\r\n]+\|[^|\r\n]+$/.test(remoteSigner.apiKey)) {
    faults.push({ key: 'RemoteSigner:ApiKey', rule: 'must have the form <application>|<secret>' });
  }
}
