/**
 * Who is at the other end of a request, and how they came here: what the socket says, and behind proxies that are
 * trusted what these say.
 *
 * Source: batch-gaps §2 ("Client IP"), §5 (`Hosting:ForwardedHeaders`) and §10 (`Secure`).
 */
import { addressSet, canonicalAddress } from './addresses.ts';
import type { UwsRequest, UwsResponse } from './uws.ts';

export interface Caller {
  /** IP address, in its canonical spelling; empty when the socket tells none. */
  readonly address: string;
  /** True when the client spoke https, to us or to a trusted proxy. */
  readonly https: boolean;
  /** Name and perhaps port under which the client reached the service; empty when it named none. */
  readonly host: string;
}

/** Which proxies are believed. */
export interface ForwardedTrust {
  /** True: whoever is at the other end of the socket is a proxy of ours; the lists are then empty. */
  readonly anyProxy: boolean;
  readonly proxies: readonly string[];
  /** In CIDR notation. */
  readonly networks: readonly string[];
  /** Most proxies in a row that are believed. Whole number, at least 1. */
  readonly limit: number;
}

/** Finds out who calls; to be called before the route handler returns. */
export type FindCaller = (request: UwsRequest, response: UwsResponse) => Caller;

/** @param direct whether connections are https themselves */
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

/** Whoever is at the other end of the socket. Its address costs more than most answers, so it is read when asked for. */
class DirectCaller implements Caller {
  readonly https: boolean;
  readonly host: string;
  readonly #response: UwsResponse;
  #address: string | undefined;

  constructor(response: UwsResponse, https: boolean, host: string) {
    this.#response = response;
    this.https = https;
    this.host = host;
  }

  /** To be asked for the first time before the route handler returns and before anything is answered. */
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
 * Goes back from the socket, proxy by proxy, for as long as the one that speaks is trusted. Each proxy adds its
 * own entry at the end of a header, so the headers are read from the end; what comes before the first proxy that
 * is not trusted was said by strangers.
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

/** All lines of the headers: some proxies add a line of their own behind the one a client made up. */
function forwardedHeaders(request: UwsRequest): Forwarded {
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

function socketAddress(response: UwsResponse): string {
  const text = Buffer.from(response.getRemoteAddressAsText()).toString('latin1');
  return text.includes(':') ? (canonicalAddress(text) ?? text) : text;
}
