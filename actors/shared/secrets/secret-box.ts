/**
 * Encrypts small secrets at rest: AES-256-GCM under a key of the portal. The place is additional authenticated data, so
 * a ciphertext cannot be moved to another place.
 *
 * Format: Base64url of version, nonce (12 bytes), ciphertext, tag (16 bytes). Source: NIST SP 800-38D §8.2.2.
 */
import { hkdfSync } from 'node:crypto';
import { Fatal, type Ids } from '@sealwright/runtime/core';
import { decryptToken, encryptToken, NONCE_BYTES } from './token.ts';

const VERSION = 1;
/** Longest text that is read; secrets have a few kilobytes at most. */
const MAX_LENGTH = 1 << 20;

export class SecretBox {
  readonly #key: Buffer;
  readonly #ids: Pick<Ids, 'bytes'>;

  /** @param key 32 bytes */
  constructor(key: Buffer, ids: Pick<Ids, 'bytes'>) {
    if (key.length !== 32) throw new TypeError('The sealing key has 32 bytes.');
    this.#key = key;
    this.#ids = ids;
  }

  /** @param place use of the secret, such as `webhook/<id>/token` */
  encrypt(secret: string, place: string): string {
    const nonce = this.#ids.bytes(NONCE_BYTES);
    return encryptToken(Buffer.of(VERSION), secret, {
      key: this.#key,
      nonce,
      associated: Buffer.from(place),
    });
  }

  /** @throws {Fatal} `sealed.unreadable` for another place, another key, or a damaged text */
  decrypt(text: string, place: string): string {
    const secret = decryptToken(text, { maxLength: MAX_LENGTH, headBytes: 1 }, ([version]) =>
      version === VERSION ? { key: this.#key, associated: Buffer.from(place) } : undefined,
    );
    if (secret !== undefined) return secret;
    throw new Fatal(
      'sealed.unreadable',
      `The secret of ${place} cannot be decrypted: it was stored with another key, or was changed.`,
    );
  }
}

/** The keys of the portal, each for one use. */
export interface PortalKeys {
  readonly tickets: Buffer;
  readonly sealing: Buffer;
  /** Derives e-mail codes. */
  readonly codes: Buffer;
  /** Digests of people who were erased. */
  readonly erasures: Buffer;
}

/**
 * Derives all keys of the portal from the secret of the key folder. Source: RFC 5869.
 * @param secret at least 32 bytes
 */
export function portalKeys(secret: Buffer): PortalKeys {
  if (secret.length < 32) throw new TypeError('The secret of the portal has at least 32 bytes.');
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', secret, '', `sealwright portal ${use}`, 32));
  return {
    tickets: derive('tickets'),
    sealing: derive('sealing'),
    codes: derive('codes'),
    erasures: derive('erasures'),
  };
}
