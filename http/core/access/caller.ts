/**
 * Address, scheme and host of a request's client, from the socket and from trusted proxies.
 *
 * Source: docs/batch-values.md §2, §5 (`Hosting:ForwardedHeaders`) and §10 (`Secure`).
 */

import type { RequestHead, ResponseWriter } from '../transport/port.ts';
import { addressSet, canonicalAddress } from './addresses.ts';

export interface Caller {
  /** IP address in canonical form; empty when the socket has none. */
  readonly address: string;
  /** True when the client used https, to this service or to a trusted proxy. */
  readonly https: boolean;
  /** Host name and optional port that the client used; empty when absent. */
  readonly host: string;
}

/** The trusted proxies. */
export interface ForwardedTrust {
  /** True: every peer is a trusted proxy; the lists are then empty. */
  readonly anyProxy: boolean;
  readonly proxies: readonly string[];
  /** In CIDR notation. */
  readonly networks: readonly string[];
  /** Maximum length of a chain of trusted proxies. Whole number, at least 1. */
  readonly limit: number;
}

/** Determines the caller; call before the route handler returns. */
export type FindCaller = (request: RequestHead, response: ResponseWriter) => Caller;

/** @param direct true when connections use https themselves */
export function createCallerFinder(direct: boolean, trust: ForwardedTrust | undefined): FindCaller {
  if (trust === undefined) {
    return (request, response) => new DirectCaller(response, direct, request.getHeader('host'));
  }
  const listed = addressSet(trust.proxies, trust.networks);
  const trusted = trust.anyProxy ? () => true : listed;
  return (request, response) => {
    const from = { address: socketAddress(response), https: direct, host: request.getHeader('host') };
    return followProxies(from, forwardedHeaders(request), trusted, trust.limit);
  };
}

/** The peer of the socket. Its address costs more than most replies, so it is read on demand. */
class DirectCaller implements Caller {
  readonly https: boolean;
  readonly host: string;
  readonly #response: ResponseWriter;
  #address: string | undefined;

  constructor(response: ResponseWriter, https: boolean, host: string) {
    this.#response = response;
    this.https = https;
    this.host = host;
  }

  /** Call first before the route handler returns and before anything is sent. */
  get address(): string {
    this.#address ??= socketAddress(this.#response);
    return this.#address;
  }
}

interface Forwarded {
  readonly for: readonly string[];
  readonly proto: readonly string[];
  readonly host: readonly string[];
}

/**
 * Follows the chain of proxies from the socket while the sender is trusted. Each proxy appends its entry to a header,
 * so headers are read from the end; entries before the first untrusted proxy are unverified.
 */
export function followProxies(
  from: Caller,
  said: Forwarded,
  trusted: (address: string) => boolean,
  limit: number,
): Caller {
  let { address, https, host } = from;
  for (let hop = 1; hop <= limit && trusted(address); hop += 1) {
    const proto = said.proto.at(-hop)?.toLowerCase();
    if (proto === 'http' || proto === 'https') https = proto === 'https';
    host = said.host.at(-hop) ?? host;
    const before = parseNode(said.for.at(-hop) ?? '');
    if (before === undefined) break;
    address = before;
  }
  return { address, https, host };
}

/** All lines of the headers: some proxies add a line of their own after a forged one of the client. */
function forwardedHeaders(request: RequestHead): Forwarded {
  const found = { for: [] as string[], proto: [] as string[], host: [] as string[] };
  request.forEach((name, value) => {
    if (name === 'x-forwarded-for') found.for.push(...entries(value));
    else if (name === 'x-forwarded-proto') found.proto.push(...entries(value));
    else if (name === 'x-forwarded-host') found.host.push(...entries(value));
  });
  return found;
}

function entries(value: string): string[] {
  return value.split(',').map((entry) => entry.trim());
}

/** `10.0.0.1`, `10.0.0.1:5000`, `2001:db8::1` and `[2001:db8::1]:5000` → the address. */
function parseNode(text: string): string | undefined {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1];
  const withPort = /^([\d.]+):\d+$/.exec(text)?.[1];
  return canonicalAddress(bracketed ?? withPort ?? text);
}

function socketAddress(response: ResponseWriter): string {
  const text = Buffer.from(response.getRemoteAddressAsText()).toString('latin1');
  return text.includes(':') ? (canonicalAddress(text) ?? text) : text;
}
