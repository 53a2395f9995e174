/**
 * Ids of requests: the request id of problem bodies, logs and `X-Request-Id`, and the W3C trace context. Both count
 * up from a random start, so no request pays for random numbers.
 *
 * Source: docs/batch-values.md §2 (`traceId`, `requestId`); W3C Trace Context, "traceparent Header".
 */
import type { Ids } from '@sealwright/runtime';

const BASE_32 = '0123456789ABCDEFGHIJKLMNOPQRSTUV';
const CONNECTION_CHARACTERS = 11;
const NUMBERS = 0x1_0000_0000;
/** Two hexadecimal digits per byte value. */
const BYTES = Array.from({ length: 256 }, (_, byte) => hex(byte, 2).toUpperCase());

/** The two ids of a request. */
export interface RequestNames {
  readonly requestId: string;
  readonly traceId: string;
}

export interface RequestIds {
  /** `0H` + 11 base-32 characters + `:` + 8 hexadecimal digits; never the same twice in one process. */
  requestId(): string;
  /**
   * `00-<trace>-<span>-<flags>` with a fresh span; trace and flags come from `traceparent` when that is valid.
   */
  traceId(traceparent: string): string;
}

/**
 * The library does not expose connections, so the connection part of a request id identifies this listener's run (and
 * advances once its numbers are used up); the number counts its requests.
 */
export function createRequestIds(ids: Ids): RequestIds {
  let run = ids.bytes(8).readBigUInt64BE() >> 9n;
  let prefix = connectionPart(run);
  let number = 0;
  /** The upper half of the number in hexadecimal digits; it changes seldom. */
  let upper = '0000';
  const traceStart = ids.bytes(8).toString('hex');
  let trace = ids.bytes(6).readUIntBE(0, 6);
  let span = ids.bytes(6).readUIntBE(0, 6);
  const spanStart = hex(1 + (ids.bytes(2).readUInt16BE() % 0xffff), 4);
  return {
    requestId() {
      number += 1;
      if (number === NUMBERS) {
        number = 1;
        run += 1n;
        prefix = connectionPart(run);
      }
      const lower = number & 0xffff;
      if (lower === 0 || number === 1) upper = hex(number >>> 16, 4).toUpperCase();
      return prefix + upper + BYTES[lower >>> 8] + BYTES[lower & 0xff];
    },
    traceId(traceparent) {
      span = following(span);
      const incoming = parseTraceparent(traceparent);
      if (incoming !== undefined) {
        return `00-${incoming.trace}-${spanStart}${hex48(span)}-${incoming.flags}`;
      }
      trace = following(trace);
      return `00-${traceStart}0001${hex48(trace)}-${spanStart}${hex48(span)}-00`;
    },
  };
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Trace id and flags of a `traceparent` header; undefined when the header may not be used. */
export function parseTraceparent(
  header: string,
): { readonly trace: string; readonly flags: string } | undefined {
  if (header === '') return undefined;
  const match = TRACEPARENT.exec(header);
  if (match === null) return undefined;
  const [, version, trace, parent, flags, rest] = match;
  if (trace === undefined || flags === undefined) return undefined;
  // Version 00 ends after the flags; later versions may add fields; ff is never a version.
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(trace) || (parent !== undefined && /^0+$/.test(parent))) return undefined;
  return { trace, flags };
}

function connectionPart(run: bigint): string {
  let text = '';
  let left = run;
  for (let i = 0; i < CONNECTION_CHARACTERS; i += 1) {
    text = BASE_32.charAt(Number(left & 31n)) + text;
    left >>= 5n;
  }
  return `0H${text}:`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

function following(number: number): number {
  return number + 1 === 2 ** 48 ? 0 : number + 1;
}

/** Twelve digits, by halves: V8 divides a number of more than 31 bits with `fmod`, digit by digit. */
function hex48(value: number): string {
  const upper = Math.floor(value / 2 ** 24);
  return hex(upper, 6) + hex(value - upper * 2 ** 24, 6);
}
