/**
 * Which addresses webhooks may be sent to. An address is judged after the name was resolved, and the connection is made
 * to the very address that was judged: a name that resolves to something else the next moment gains nothing.
 *
 * Source: issue 5, "private addresses refused unless allowed, DNS pinned"; IANA special-purpose address registries
 * (RFC 6890 and its successors).
 */
import { BlockList, isIP } from 'node:net';

/** Not for everybody on the internet: this host, private and shared networks, links, tests, groups, reserved. */
const CLOSED_V4: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Where a large hoster answers its own machines, though the address looks public.
  ['168.63.129.16', 32],
];

/** Parts of the global range that are not global after all. Everything outside of it is closed anyway. */
const CLOSED_V6: readonly (readonly [network: string, prefix: number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  // An IPv4 address inside of an IPv6 one, reached through a relay that is not ours to judge.
  ['2002::', 16],
  ['3fff::', 20],
];

const GLOBAL_V6 = ['2000::', 3] as const;

const closed = new BlockList();
for (const [network, prefix] of CLOSED_V4) closed.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of CLOSED_V6) closed.addSubnet(network, prefix, 'ipv6');
const global = new BlockList();
global.addSubnet(...GLOBAL_V6, 'ipv6');

/** True for an address that anybody on the internet could have given. @param address in text, without brackets */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !closed.check(address, 'ipv4');
    case 6:
      // Mapped and translated IPv4 addresses lie outside of the global range.
      return global.check(address, 'ipv6') && !closed.check(address, 'ipv6');
    default:
      return false;
  }
}

/** Longest URL of a webhook, characters. */
const LONGEST_URL = 2000;

/**
 * A URL webhooks may be registered for; undefined when it is none: not http or https, with credentials, or with an
 * address in the place of a name that is not public.
 */
export function parseWebhookUrl(text: string, allowPrivate: boolean): URL | undefined {
  if (text.length > LONGEST_URL || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  const address = literalAddress(url);
  if (address !== undefined && !allowPrivate && !isPublicAddress(address)) return undefined;
  return url;
}

/** The address a URL names itself; undefined when it names a host. */
export function literalAddress({ hostname }: URL): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}
