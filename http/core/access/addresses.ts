/** IP addresses in canonical text form, and sets of addresses and networks. */
import { BlockList, isIP } from 'node:net';

/**
 * Canonical form of an address; undefined for other text. IPv4-mapped IPv6 (`::ffff:10.0.0.1`) becomes IPv4, so that
 * one client has one form. A zone (`%eth0`) is dropped.
 */
export function canonicalAddress(text: string): string | undefined {
  const family = isIP(text);
  if (family === 4) return text;
  if (family !== 6) return undefined;
  const plain = text.replace(/%.*/, '');
  const url = `http://[${plain}]`;
  if (!URL.canParse(url)) return undefined;
  const short = new URL(url).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short);
  if (mapped === null) return short;
  const bits = Number.parseInt(mapped[1] ?? '', 16) * 0x10000 + Number.parseInt(mapped[2] ?? '', 16);
  return [bits >>> 24, (bits >>> 16) & 0xff, (bits >>> 8) & 0xff, bits & 0xff].join('.');
}

/**
 * What counts as one client for limits: the /64 network of an IPv6 address in canonical form, because a provider gives one
 * customer all of its addresses (RFC 6177); other text as it is.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  while (tail !== undefined && groups.length + last.length < 8) groups.push('0');
  return `${[...groups, ...last].slice(0, 4).join(':')}::/64`;
}

/** Returns the network that limits count, which may have many clients: the /24 of an IPv4 address, the /56 of an IPv6 address. */
export function siteNetwork(address: string): string {
  const [, ipv4] = /^(\d+\.\d+\.\d+)\.\d+$/.exec(address) ?? [];
  if (ipv4 !== undefined) return `${ipv4}.0/24`;
  const [, head, last] = /^(.*:)([0-9a-f]+)::\/64$/.exec(clientNetwork(address)) ?? [];
  if (head === undefined || last === undefined) return address;
  return `${head}${(Number.parseInt(last, 16) & 0xff00).toString(16)}::/56`;
}

/** `10.0.0.0/8` or `2001:db8::/32` → address and prefix length; undefined for other text. */
export function parseNetwork(
  text: string,
): { readonly address: string; readonly bits: number; readonly family: 'ipv4' | 'ipv6' } | undefined {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text);
  const address = match?.[1] ?? '';
  const bits = Number(match?.[2]);
  const family = isIP(address);
  if (match === null || family === 0 || address.includes('%') || bits > (family === 4 ? 32 : 128))
    return undefined;
  return { address, bits, family: family === 4 ? 'ipv4' : 'ipv6' };
}

/** Returns a predicate of addresses, in canonical form, that equal an entry or belong to an entry's network. */
export function addressSet(
  addresses: readonly string[],
  networks: readonly string[],
): (address: string) => boolean {
  const known = new BlockList();
  for (const text of addresses) {
    const address = canonicalAddress(text);
    if (address === undefined) throw new Error(`${text} is not an address.`);
    known.addAddress(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  for (const text of networks) {
    const network = parseNetwork(text);
    if (network === undefined) throw new Error(`${text} is not a network.`);
    known.addSubnet(network.address, network.bits, network.family);
  }
  return (address) => {
    const family = isIP(address);
    return family !== 0 && known.check(address, family === 4 ? 'ipv4' : 'ipv6');
  };
}
