/** Opens PKCS#12 containers (RFC 7292) with the reader of `crypto/pkcs12/`. Certificates are returned byte for byte. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { TAG } from '../asn1/tags.ts';
import { CryptoError } from '../core/types.ts';
import { Pkcs12Error, readPkcs12 } from '../pkcs12/pkcs12-reader.ts';
import { NODE_PRIMITIVES } from './password-primitives.ts';

export interface Pfx {
  readonly keys: readonly KeyObject[];
  /** DER, in the order of the container. */
  readonly certificates: readonly Buffer[];
}

/**
 * Opens a container. The integrity value, if present, decides whether the password is right; otherwise the
 * decryption does.
 * @throws {CryptoError} `key.password`, `key.unreadable`
 */
export async function openPfx(bytes: Buffer, password: string): Promise<Pfx> {
  try {
    const { keys, certificates } = await readPkcs12(withoutBase64(bytes), password, NODE_PRIMITIVES);
    return {
      keys: keys.map(({ der }) => createPrivateKey({ key: view(der), format: 'der', type: 'pkcs8' })),
      certificates: certificates.map(({ der }) => view(der)),
    };
  } catch (error) {
    if (error instanceof Pkcs12Error && (error.fault === 'password' || error.fault === 'integrity')) {
      throw new CryptoError('key.password', 'The password does not open the container.');
    }
    const reason = error instanceof Pkcs12Error ? error.message : 'a part of it is damaged';
    throw new CryptoError('key.unreadable', `The PKCS#12 container can't be read: ${reason}.`);
  }
}

/** Containers that pass through variables and secret stores arrive as Base64, with or without PEM labels. */
function withoutBase64(bytes: Buffer): Buffer {
  if (bytes[0] === TAG.sequence) return bytes;
  const text = bytes.toString('latin1').replace(/-----(?:BEGIN|END) [A-Z0-9 #]{1,40}-----|\s+/g, '');
  return /^MI[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : bytes;
}

function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
