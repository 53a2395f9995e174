/** `RemoteSigner:*`: the portal that signs for profiles with the Method RemoteSigner. Source: batch-gaps §5. */
import { key, optional } from './keys.ts';
import { flag, secretText, webUrl, whole } from './kinds.ts';
import type { Fault } from './report.ts';

export const REMOTE_KEYS = {
  'RemoteSigner:Endpoint': optional(webUrl(), {
    says: 'Base address of the remote portal, scheme included. Required when a profile has the Method `RemoteSigner`.',
  }),
  'RemoteSigner:ApiKey': optional(secretText(), {
    says: 'Key for it, `<application>|<secret>`. Required under the same condition.',
  }),
  'RemoteSigner:PollIntervalSeconds': key(whole(1, 3600), 30, {
    unit: 'seconds',
    says: 'How often every waiting document is asked about.',
  }),
  'RemoteSigner:TimeoutHours': key(whole(1, 8760), 168, {
    unit: 'hours',
    says: 'A job that waits longer for its signer fails.',
  }),
  'RemoteSigner:MaxConsecutiveApiFailures': key(whole(1, 1000), 5, {
    unit: 'failures',
    says: 'Failures in a row, per document, after which one more fails its job.',
  }),
  'RemoteSigner:RequestTimeoutSeconds': key(whole(1, 600), 30, {
    unit: 'seconds',
    says: 'How long one request waits for its answer, and an answer for its next bytes.',
  }),
  'RemoteSigner:CompareContent': key(flag(), true, {
    says: 'Compare what the portal returns with what was sent: the signature must be over those bytes. Off for portals that write documents anew before they are signed.',
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
