/** Faults and state of a server of keys, and its signatures. */
import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { CscState } from './csc-state.ts';
import { derOf, ecdsa, ed25519, pkcs1, pss } from './prehashed.ts';

export type Digest = 'sha256' | 'sha384' | 'sha512';

/** A refusal in place of an answer, or what happens to a signature. */
export type KeyFault =
  | { readonly status: number; readonly body: object; readonly headers?: Readonly<Record<string, string>> }
  | { readonly value: (value: Buffer) => Buffer }
  | { readonly hash: (hash: Buffer) => Buffer }
  | { readonly key: KeyObject }
  /** ECDSA as r and s, not in DER. */
  | { readonly concatenated: true }
  /** Of Google: a checksum of something else. */
  | { readonly damaged: 'digest' | 'signature' };

export interface KeyServer {
  readonly url: string;
  /** Versions of keys; the newest comes last. */
  readonly keys: Map<string, readonly KeyObject[]>;
  /** Faults of the next requests for signatures, one each; undefined: none. */
  readonly faults: (KeyFault | undefined)[];
  /** Of every request that no fault above is for. */
  always: KeyFault | undefined;
  /** Before each signature, milliseconds or an event. */
  before: () => Promise<unknown>;
  /** Signatures that were made. */
  signed: number;
  /** Requests for signatures that are under way, and their highest number. */
  inFlight: number;
  mostInFlight: number;
  /** Headers of the last request. */
  headers: IncomingMessage['headers'];
  /** Access tokens that are accepted; the server adds those that it gives. */
  readonly tokens: Set<string>;
  /** Number of tokens that were given. */
  tokensGiven: number;
  /** Versions that are disabled, as `name/1`. */
  readonly disabled: Set<string>;
  /** Algorithms of Google, by the name of the key, where they are not those of its type. */
  readonly algorithms: Map<string, string>;
  /** Of the Cloud Signature Consortium. */
  csc: CscState | undefined;
  /** Of the service account of Google. */
  account: KeyObject | undefined;
}

export interface SigningOrder {
  readonly key: KeyObject;
  readonly digest: Digest;
  readonly scheme: 'pkcs1' | 'pss' | 'ecdsa' | 'ed25519';
  readonly data: Buffer;
}

export type Body = Record<string, unknown>;

export type Reply = (status: number, content: object, headers?: Readonly<Record<string, string>>) => void;

/** A request and its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly body: Body;
  readonly state: KeyServer;
  readonly reply: Reply;
}

export async function signed(
  order: SigningOrder,
  state: KeyServer,
  reply: Reply,
  form: (value: Buffer, damaged?: 'digest' | 'signature') => object,
): Promise<void> {
  state.inFlight += 1;
  state.mostInFlight = Math.max(state.mostInFlight, state.inFlight);
  const fault = state.faults.length > 0 ? state.faults.shift() : state.always;
  await state.before();
  state.inFlight -= 1;
  if (fault !== undefined && 'status' in fault) return reply(fault.status, fault.body, fault.headers);
  const key = fault !== undefined && 'key' in fault ? fault.key : order.key;
  const data = fault !== undefined && 'hash' in fault ? fault.hash(order.data) : order.data;
  const isConcatenated = fault !== undefined && 'concatenated' in fault;
  const value = isConcatenated ? ecdsa(key, data) : SIGN[order.scheme]({ ...order, key, data });
  state.signed += 1;
  const damaged = fault !== undefined && 'damaged' in fault ? fault.damaged : undefined;
  reply(200, form(fault !== undefined && 'value' in fault ? fault.value(value) : value, damaged));
}

const SIGN: { readonly [scheme in SigningOrder['scheme']]: (order: SigningOrder) => Buffer } = {
  pkcs1: ({ key, digest, data }) => pkcs1(key, digest, data),
  pss: ({ key, digest, data }) => pss(key, digest, data),
  ecdsa: ({ key, data }) => derOf(ecdsa(key, data)),
  ed25519: ({ key, data }) => ed25519(key, data),
};
