/** A DNS server on loopback whose answers change from one question to the next. Source: RFC 1035 §4. */
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import type { AddressInfo } from 'node:net';
import type { ResolvedAddress } from '@sealwright/signatures/http';
import type { ExecutionContext } from 'ava';

export interface TestDns {
  /** Names asked for so far, in order. */
  readonly asked: readonly string[];
  /** Resolves by asking this server, as the product's client does for each connection. */
  readonly resolve: (name: string) => Promise<readonly ResolvedAddress[]>;
}

const HEADER_BYTES = 12;
const TYPE_A = 1;

/** @param answers IPv4 addresses for the first question, the second …; the last ones for all further questions */
export async function startDns(
  t: ExecutionContext,
  answers: readonly (readonly string[])[],
): Promise<TestDns> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    const found = type === TYPE_A ? (answers[Math.min(asked.length, answers.length - 1)] ?? []) : [];
    if (type === TYPE_A) asked.push(name);
    socket.send(answerTo(query.subarray(0, end), found), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const resolver = new Resolver({ timeout: 2000, tries: 1 });
  resolver.setServers([`127.0.0.1:${(socket.address() as AddressInfo).port}`]);
  t.teardown(() => {
    resolver.cancel();
    socket.close();
  });
  return {
    asked,
    async resolve(name) {
      const found = await resolver.resolve4(name);
      return found.map((address) => ({ address, family: 4 }));
    },
  };
}

function questionOf(query: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** The header with one question, that question, and one A record with a lifetime of 0 for each address. */
function answerTo(query: Buffer, addresses: readonly string[]): Buffer {
  const head = Buffer.from(query);
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) =>
    // A pointer to the name of the question, type A, class IN, lifetime 0, four bytes.
    Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([head, ...records]);
}
