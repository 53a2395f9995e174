/** Containers whose integrity value is PBMAC1 (RFC 9579), which openssl 3.0 cannot write. */
import { createHmac, pbkdf2Sync } from 'node:crypto';
import { childrenOf, encoded, octets, readWhole } from '#crypto/asn1/read.js';
import { octetString, oid, sequence, small, unsigned } from '#crypto/asn1/write.js';

/** The container with its integrity value exchanged for one by PBMAC1 (RFC 9579). */
export function withPbmac1(
  bytes: Buffer,
  password: string,
  hash: 'sha256' | 'sha512',
  keyLength?: number,
): Buffer {
  const [version, contentInfo] = childrenOf(readWhole(bytes));
  const [, explicit] = contentInfo === undefined ? [] : childrenOf(contentInfo);
  const [data] = explicit === undefined ? [] : childrenOf(explicit);
  if (version === undefined || contentInfo === undefined || data === undefined)
    throw new Error('no container');
  const salt = Buffer.from('8 bytes.');
  const key = pbkdf2Sync(password, salt, 2048, keyLength ?? 32, hash);
  const hmac = sequence(oid(`1.2.840.113549.2.${hash === 'sha256' ? 9 : 11}`));
  const lengthField = keyLength === undefined ? [] : [small(keyLength)];
  const pbkdf2 = sequence(
    oid('1.2.840.113549.1.5.12'),
    sequence(octetString(salt), unsigned(Buffer.from([8, 0])), ...lengthField, hmac),
  );
  const pbmac1 = sequence(oid('1.2.840.113549.1.5.14'), sequence(pbkdf2, hmac));
  const mac = createHmac(hash, key).update(octets(data)).digest();
  return sequence(
    encoded(version),
    encoded(contentInfo),
    sequence(sequence(pbmac1, octetString(mac)), octetString(Buffer.from('NOT USED')), small(1)),
  );
}
