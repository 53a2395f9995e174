/**
 * Codes of authenticator apps: six digits, steps of 30 seconds, HMAC-SHA-1, the only values that all apps know.
 *
 * Source: RFC 4226 §5.3, RFC 6238 §§4 and 5.2, RFC 4648 §6.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type QrCode, qrCode } from './qr-code.ts';

/** Bytes of a secret. Source: RFC 4226 §4, R6. */
export const TOTP_SECRET_BYTES = 20;
const STEP_SECONDS = 30;
const DIGITS = 6;
/** Steps before and after the current one whose codes are accepted. */
const WINDOW = 1;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Code of a counter. */
export function totpCode(secret: Buffer, counter: number): string {
  const message = Buffer.alloc(8);
  message.writeBigUInt64BE(BigInt(counter));
  const mac = createHmac('sha1', secret).update(message).digest();
  const value = mac.readUInt32BE((mac.at(-1) ?? 0) & 0xf) & 0x7fffffff;
  return String(value % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** Counter of the step that a time is in. @param timeSeconds since the epoch */
export function totpCounter(timeSeconds: number): number {
  return Math.floor(timeSeconds / STEP_SECONDS);
}

/**
 * The counter of a valid code, to be stored as the `lastCounter` of the next check: a code works once. Undefined for
 * others. Every counter of the window is compared, in constant time.
 * @param code may have spaces, as apps show it
 * @param timeSeconds since the epoch
 * @param lastCounter of the last accepted code; -1 = none
 */
export function verifyTotp(
  secret: Buffer,
  code: string,
  timeSeconds: number,
  lastCounter: number,
): number | undefined {
  const given = Buffer.from(code.slice(0, 4 * DIGITS).replaceAll(/\s/g, ''));
  if (given.length !== DIGITS) return undefined;
  const now = totpCounter(timeSeconds);
  let found: number | undefined;
  for (let counter = Math.max(0, now - WINDOW); counter <= now + WINDOW; counter++) {
    const isEqual = timingSafeEqual(Buffer.from(totpCode(secret, counter)), given);
    if (isEqual && counter > lastCounter) found = counter;
  }
  return found;
}

/** Base32 without padding. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let count = 0;
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xfff;
    for (count += 8; count >= 5; count -= 5) text += ALPHABET[(bits >> (count - 5)) & 31];
  }
  return count === 0 ? text : text + ALPHABET[(bits << (5 - count)) & 31];
}

/** Content of the QR code for an app. @param issuer and @param account as the app shows them */
export function otpauthUri(issuer: string, account: string, secret: Buffer): string {
  // A colon separates the two.
  const [service, name] = [issuer, account].map((text) => encodeURIComponent(text.replaceAll(':', ' ')));
  return `otpauth://totp/${service}:${name}?secret=${base32(secret)}&issuer=${service}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`;
}

/** Content of an authenticator app: a person scans it, or types the secret. */
export interface AppContent {
  /** The secret in Base32, in groups of four. */
  readonly secret: string;
  readonly uri: string;
  /** Of `uri`. */
  readonly code: QrCode;
}

/** @param issuer and @param account as the app shows them */
export function appContent(issuer: string, account: string, secret: Buffer): AppContent {
  const uri = otpauthUri(issuer, account, secret);
  return { secret: grouped(base32(secret)), uri, code: qrCode(uri) };
}

export function grouped(text: string): string {
  return text.match(/.{1,4}/g)?.join('-') ?? '';
}
