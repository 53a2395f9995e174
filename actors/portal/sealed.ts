/**
 * Small secrets at rest: AES-256-GCM under a key of the portal. What is sealed for one place cannot be opened in
 * another one.
 *
 * A sealed text is Base64url of: version, nonce (12 bytes), ciphertext, tag (16 bytes). Source: NIST SP 800-38D §8.2.2.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { Fatal, type Ids } from '../../runtime/index.ts';

const VERSION = 1;
const NONCE = 12;
const TAG = 16;
const CIPHER = 'aes-256-gcm';

export class Sealed {
  readonly #key: Buffer;
  readonly #ids: Pick<Ids, 'bytes'>;

  /** @param key 32 bytes */
  constructor(key: Buffer, ids: Pick<Ids, 'bytes'>) {
    if (key.length !== 32) throw new TypeError('The sealing key has 32 bytes.');
    this.#key = key;
    this.#ids = ids;
  }

  /** @param place where the secret is kept, such as `webhook/<id>/token` */
  seal(secret: string, place: string): string {
    const nonce = this.#ids.bytes(NONCE);
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG });
    cipher.setAAD(Buffer.from(place));
    const body = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.from([VERSION]), nonce, body, cipher.getAuthTag()]).toString('base64url');
  }

  /** @throws {Fatal} `sealed.unreadable`: sealed elsewhere, under another key, or damaged */
  open(text: string, place: string): string {
    const bytes = Buffer.from(text, 'base64url');
    try {
      if (bytes.length < 1 + NONCE + TAG || bytes.readUInt8(0) !== VERSION) throw new TypeError('not sealed');
      const nonce = bytes.subarray(1, 1 + NONCE);
      const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG });
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(-TAG));
      const body = bytes.subarray(1 + NONCE, -TAG);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    } catch {
      throw new Fatal(
        'sealed.unreadable',
        `The secret kept for ${place} cannot be opened with the portal's key.`,
      );
    }
  }
}

/** The keys of the portal, each for one use. */
export interface PortalKeys {
  readonly tickets: Buffer;
  readonly sealing: Buffer;
  /** From which e-mail codes are derived. */
  readonly codes: Buffer;
}

/**
 * All keys of the portal from the one secret that is kept in the key folder. Source: RFC 5869.
 * @param secret at least 32 bytes
 */
export function portalKeys(secret: Buffer): PortalKeys {
  if (secret.length < 32) throw new TypeError('The secret of the portal has at least 32 bytes.');
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', secret, '', `sealwright portal ${use}`, 32));
  return { tickets: derive('tickets'), sealing: derive('sealing'), codes: derive('codes') };
}
