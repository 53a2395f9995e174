/**
 * Tickets: short bearer tokens that give access to one resource for a limited time. They are not stored; their HMAC prevents
 * changes and forgery.
 *
 * A ticket is Base64url of: version, kind, expiry in seconds (4 bytes), the claims, the first 16 bytes of an
 * HMAC-SHA-256 over all of it. A claim that is a UUID takes 17 bytes, any other text its length and 1.
 *
 * Source: docs/portal-values.md §§9, 13, 18; limits of §21.
 */

import type { Millis } from '../../../machines/ids.ts';
import { SIGN_IN_LIFETIME_MS } from '../../../machines/portal/accounts/sessions.ts';
import { EDITOR_LINK_LIFETIME_MS } from '../../../machines/portal/editor-session.ts';
import { DEVICE_OPENING_MS, PUBLIC_LINK_RETENTION_MS } from '../../../machines/portal/public-link.ts';
import { readSignedToken, signToken } from '../../shared/secrets/token.ts';

/** Kinds of tickets with their byte on the wire. Never renumbered. */
const KINDS = {
  sign: 1,
  download: 2,
  preview: 3,
  report: 4,
  segment: 5,
  certificate: 6,
  observe: 7,
  signIn: 8,
  editor: 9,
  link: 10,
  device: 11,
} as const;
export type TicketKind = keyof typeof KINDS;

/** Time for which tickets of a kind are good, milliseconds. Source: docs/portal-values.md §21; `preview` and `segment` ours. */
export const TICKET_LIFETIME_MS: { readonly [Kind in TicketKind]: Millis } = {
  sign: 24 * 3_600_000,
  download: 3_600_000,
  preview: 3_600_000,
  report: 3_600_000,
  segment: 24 * 3_600_000,
  certificate: 10 * 60_000,
  observe: 90 * 24 * 3_600_000,
  signIn: SIGN_IN_LIFETIME_MS,
  editor: EDITOR_LINK_LIFETIME_MS,
  link: PUBLIC_LINK_RETENTION_MS,
  device: DEVICE_OPENING_MS,
};

/** `expired`: it was ours and of this kind, but its time is over. */
export interface ParsedTicket {
  readonly claims: readonly string[];
  readonly expiresAt: Millis;
  readonly expired: boolean;
}

const VERSION = 1;
const HEAD = 6;
/** Length byte of a claim that is a UUID. */
const UUID_MARK = 255;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Longer texts cannot be tickets of ours. */
const MAX_TICKET_LENGTH = 1024;

export class Tickets {
  readonly #key: Buffer;

  /** @param key 32 bytes */
  constructor(key: Buffer) {
    if (key.length < 32) throw new TypeError('The key of tickets has 32 bytes.');
    this.#key = key;
  }

  /**
   * @param claims content of the ticket, each at most 254 bytes; readable by the bearer, so not secret
   * @param now start of the validity, which lasts for the lifetime of its kind, or for `lifetime` milliseconds
   */
  issue(
    kind: TicketKind,
    claims: readonly string[],
    now: Millis,
    lifetime = TICKET_LIFETIME_MS[kind],
  ): string {
    const head = Buffer.alloc(HEAD);
    head.writeUInt8(VERSION, 0);
    head.writeUInt8(KINDS[kind], 1);
    head.writeUInt32BE(Math.ceil((now + lifetime) / 1000), 2);
    const body = Buffer.concat([head, ...claims.map(encodeClaim)]);
    return signToken(body, this.#key);
  }

  /** Undefined for anything that is not a ticket of ours and of this kind. */
  read(kind: TicketKind, ticket: string, now: Millis): ParsedTicket | undefined {
    const body = readSignedToken(ticket, this.#key, MAX_TICKET_LENGTH);
    if (body === undefined || body.length < HEAD) return undefined;
    if (body.readUInt8(0) !== VERSION || body.readUInt8(1) !== KINDS[kind]) return undefined;
    const expiresAt = body.readUInt32BE(2) * 1000;
    return { claims: decodeClaims(body.subarray(HEAD)), expiresAt, expired: now >= expiresAt };
  }
}

function encodeClaim(claim: string): Buffer {
  if (UUID.test(claim)) {
    return Buffer.concat([Buffer.from([UUID_MARK]), Buffer.from(claim.replaceAll('-', ''), 'hex')]);
  }
  const text = Buffer.from(claim);
  if (text.length >= UUID_MARK) throw new RangeError('A claim of a ticket has at most 254 bytes.');
  return Buffer.concat([Buffer.from([text.length]), text]);
}

/** Parses authenticated bytes. */
function decodeClaims(bytes: Buffer): string[] {
  const claims: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt8(at);
    if (length === UUID_MARK) {
      const hex = bytes.toString('hex', at + 1, at + 17);
      claims.push(hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'));
      at += 17;
    } else {
      claims.push(bytes.toString('utf8', at + 1, at + 1 + length));
      at += 1 + length;
    }
  }
  return claims;
}
