/**
 * Keys about who may come in and by which way: hosts, https, proxies, sessions, waiting.
 *
 * Source: batch-gaps §5 and §10.
 */
import { isIP } from 'node:net';
import { key } from './keys.ts';
import { commaList, flag, list, pattern, whole } from './kinds.ts';

const address = pattern('IP address', 'must be an IP address', (value) =>
  isIP(value) !== 0 && !value.includes('%') ? value : undefined,
);
const network = pattern('network', 'must be a network in CIDR notation, as 10.0.0.0/8', (value) =>
  isNetwork(value) ? value : undefined,
);
const cookieName = pattern('cookie name', 'must be the name of a cookie', (value) =>
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(value) ? value : undefined,
);
const hostNames = commaList(
  'host name',
  'must be *, or host names without ports, separated by commas; *.name stands for everything below a name',
  (value) =>
    value === '*' || isIP(value) !== 0 || /^(?:\*\.)?[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?$/i.test(value),
);

export const HOSTING_KEYS = {
  AllowedHosts: key(hostNames, ['*'], {
    says: 'Host names under which the service may be asked; requests for others are answered 400 `host.not-allowed`.',
  }),
  'Hosting:RequireHttps': key(flag(), false, {
    says: 'Answer requests over http with a redirect (307) to https on its usual port. Behind a proxy this needs `Hosting:ForwardedHeaders`.',
  }),
  'Hosting:ForwardedHeaders:Enabled': key(flag(), false, {
    says: 'Believe `X-Forwarded-For`, `-Proto` and `-Host` of trusted proxies. Needs `TrustAnyProxy` or one of the two lists.',
  }),
  'Hosting:ForwardedHeaders:TrustAnyProxy': key(flag(), false, {
    says: 'Trust whoever connects; only where nobody but the proxy can. Excludes the two lists.',
  }),
  'Hosting:ForwardedHeaders:KnownProxies': key(list(address), [], { says: 'Addresses of trusted proxies.' }),
  'Hosting:ForwardedHeaders:KnownNetworks': key(list(network), [], {
    says: 'Networks of trusted proxies, as `10.0.0.0/8`.',
  }),
  'Hosting:ForwardedHeaders:ForwardLimit': key(whole(1, 16), 1, {
    unit: 'proxies',
    says: 'Most proxies in a row that are believed.',
  }),
  'Auth:CookieName': key(cookieName, 'batch-auth', { says: 'Name of the session cookie.' }),
  'Auth:SessionHours': key(whole(1, 24), 8, {
    unit: 'hours',
    says: 'How long a session lasts that is not used; it is prolonged once more than half of it has passed.',
  }),
  'RateLimiting:Upload:QueueLimit': key(whole(0), 0, {
    unit: 'requests',
    says: 'Uploads beyond the permits that wait for the next window instead of being refused, per client address.',
  }),
  'RateLimiting:Actions:QueueLimit': key(whole(0), 0, {
    unit: 'requests',
    says: 'The same for actions.',
  }),
  'Dashboard:PollIntervalSeconds': key(whole(1, 60), 5, {
    unit: 'seconds',
    says: 'How often the operator pages refresh what they show.',
  }),
} as const;

function isNetwork(text: string): boolean {
  const [base = '', bits = '', ...more] = text.split('/');
  const family = base.includes('%') ? 0 : isIP(base);
  return (
    more.length === 0 && /^\d{1,3}$/.test(bits) && family !== 0 && Number(bits) <= (family === 4 ? 32 : 128)
  );
}
