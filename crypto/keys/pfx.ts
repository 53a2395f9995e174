/** Opens PKCS#12 containers (RFC 7292), those of old programs (RC2, 3DES) and of new ones (PBES2 with AES). */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { pkcs12 } from 'node-forge';
import { CryptoError } from '../types.ts';

export interface Pfx {
  readonly keys: readonly KeyObject[];
  /** DER, in the order of the container. */
  readonly certificates: readonly Buffer[];
}

/**
 * Everything inside one container.
 * @throws {CryptoError} `key.password`, `key.unreadable`
 */
export async function openPfx(bytes: Buffer, password: string): Promise<Pfx> {
  // Loaded only when a container is read: few starts do, and all would pay for it.
  const { default: forge } = await import('node-forge');
  const container = parse(() => forge.asn1.fromDer(forge.util.createBuffer(bytes.toString('latin1'))));
  const pfx = open(() => forge.pkcs12.pkcs12FromAsn1(container, false, password));
  const bags = pfx.safeContents.flatMap(({ safeBags }) => safeBags);
  const { oids } = forge.pki as unknown as { readonly oids: { readonly [name: string]: string } };
  const der = (value: Parameters<typeof forge.asn1.toDer>[0]) =>
    Buffer.from(forge.asn1.toDer(value).getBytes(), 'latin1');
  const ofType = (...names: readonly string[]) =>
    bags.filter(({ type }) => names.some((name) => oids[name] === type));

  const keyOf = (bag: pkcs12.Bag): KeyObject =>
    parse(() =>
      // Forge understands RSA keys; others it hands over as they are, which is PKCS#8.
      bag.key == null
        ? createPrivateKey({ key: der(bag.asn1), format: 'der', type: 'pkcs8' })
        : createPrivateKey({ key: der(forge.pki.privateKeyToAsn1(bag.key)), format: 'der', type: 'pkcs1' }),
    );
  return {
    keys: ofType('keyBag', 'pkcs8ShroudedKeyBag').map(keyOf),
    certificates: ofType('certBag').map((bag) =>
      der(bag.cert == null ? bag.asn1 : forge.pki.certificateToAsn1(bag.cert)),
    ),
  };
}

function parse<T>(work: () => T): T {
  try {
    return work();
  } catch {
    throw new CryptoError('key.unreadable', 'The file is not a PKCS#12 container that can be read.');
  }
}

function open<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const text = error instanceof Error ? error.message : '';
    // The integrity value and the padding are the only things a wrong password breaks.
    if (/password|decrypt/i.test(text)) {
      throw new CryptoError('key.password', 'The password does not open the container.');
    }
    throw new CryptoError(
      'key.unreadable',
      'The PKCS#12 container is damaged or protected in an unknown way.',
    );
  }
}
