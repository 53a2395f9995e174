/**
 * Keys of access control: hosts, https, proxies, sessions, limits.
 *
 * Source: docs/batch-values.md §5 and §10.
 */
import { z } from 'zod';
import { key } from './keys.ts';
import { choice, commaList, flag, list, pattern, whole } from './kinds.ts';

/** `token` of RFC 9110 §5.6.2. */
export const httpToken = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/);
const ipAddress = z.union([z.ipv4(), z.ipv6()]);

const address = pattern('IP address', 'must be an IP address', ipAddress);
const network = pattern(
  'network',
  'must be a network in CIDR notation, as 10.0.0.0/8',
  z.union([z.cidrv4(), z.cidrv6()]),
);
const cookieName = pattern('cookie name', 'must be the name of a cookie', httpToken);
const hostNames = commaList(
  'host name',
  'must be *, or host names without ports, separated by commas; *.name stands for everything below a name',
  z.union([z.literal('*'), ipAddress, z.string().regex(/^(?:\*\.)?[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?$/i)]),
);

export const HOSTING_KEYS = {
  AllowedHosts: key(hostNames, ['*'], {
    says: 'Accepted host names of requests; others are answered 400 `host.not-allowed`.',
  }),
  'Hosting:HttpLibrary': key(choice(['auto', 'node']), 'auto', {
    says: '`auto`: uWebSockets where its binary loads, otherwise `node:http`, with a warning at the start. `node`: `node:http` everywhere, which answers fewer requests per second; see [benchmarks](benchmarks.md).',
  }),
  'Hosting:RequireHttps': key(flag(), false, {
    says: 'Redirect http requests (307) to https on the default port. Behind a proxy this needs `Hosting:ForwardedHeaders`.',
  }),
  'Hosting:ForwardedHeaders:Enabled': key(flag(), false, {
    says: 'Use `X-Forwarded-For`, `-Proto` and `-Host` of trusted proxies. Needs `TrustAnyProxy` or one of the two lists.',
  }),
  'Hosting:ForwardedHeaders:TrustAnyProxy': key(flag(), false, {
    says: 'Trust every peer; use it only where the proxy alone can connect. Excludes the two lists.',
  }),
  'Hosting:ForwardedHeaders:KnownProxies': key(list(address), [], { says: 'Addresses of trusted proxies.' }),
  'Hosting:ForwardedHeaders:KnownNetworks': key(list(network), [], {
    says: 'Networks of trusted proxies, as `10.0.0.0/8`.',
  }),
  'Hosting:ForwardedHeaders:ForwardLimit': key(whole(1, 16), 1, {
    unit: 'proxies',
    says: 'Maximum number of proxies in a row.',
  }),
  'Auth:CookieName': key(cookieName, 'batch-auth', { says: 'Name of the session cookie.' }),
  'Auth:SessionHours': key(whole(1, 24), 8, {
    unit: 'hours',
    says: 'Lifetime of an unused session; it is extended when more than half has passed.',
  }),
  'RateLimiting:Upload:QueueLimit': key(whole(0), 0, {
    unit: 'requests',
    says: 'Uploads above the limit that wait for the next window instead of being refused, per client address.',
  }),
  'RateLimiting:Actions:QueueLimit': key(whole(0), 0, {
    unit: 'requests',
    says: 'The same for actions.',
  }),
  'Dashboard:PollIntervalSeconds': key(whole(1, 60), 5, {
    unit: 'seconds',
    says: 'Refresh interval of the operator pages while the service works. After a quiet time a change is shown within a second.',
  }),
} as const;
