/**
 * Distinguishes public IP addresses from local, private and special-purpose ones.
 *
 * Source: IANA special-purpose address registries (RFC 6890 and its successors).
 */
import { BlockList, isIP } from 'node:net';

/** IPv4 ranges that are not globally reachable: this host, private and shared networks, link-local, documentation, multicast, reserved. */
const SPECIAL_V4: readonly (readonly [network: string, prefix: number])[] = [
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
  // Metadata service of a hosting platform, inside a public range.
  ['168.63.129.16', 32],
];

/** Ranges inside global unicast that are not globally reachable. All addresses outside global unicast are refused. */
const SPECIAL_V6: readonly (readonly [network: string, prefix: number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4: embeds an IPv4 address that a relay resolves.
  ['2002::', 16],
  ['3fff::', 20],
];

/** Global unicast. Source: RFC 4291 §2.4. */
const GLOBAL_V6 = ['2000::', 3] as const;

const special = new BlockList();
for (const [network, prefix] of SPECIAL_V4) special.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of SPECIAL_V6) special.addSubnet(network, prefix, 'ipv6');
const global = new BlockList();
global.addSubnet(...GLOBAL_V6, 'ipv6');

/** True for a globally reachable address. @param address in text, without brackets */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4');
    case 6:
      // IPv4-mapped and translated addresses are outside global unicast.
      return global.check(address, 'ipv6') && !special.check(address, 'ipv6');
    default:
      return false;
  }
}

/** The IP address literal in a URL; undefined for a host name. */
export function literalAddress({ hostname }: URL): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}
