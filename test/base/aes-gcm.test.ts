import { createCipheriv } from 'node:crypto';
import test from 'ava';
import { decryptText, encryptText } from '../../base/aes-gcm.ts';

const options = { key: Buffer.alloc(32, 7), associated: Buffer.from('place') };
const nonce = Buffer.alloc(12, 3);

test('a message is nonce, ciphertext and tag, as node:crypto computes them', (t) => {
  const cipher = createCipheriv('aes-256-gcm', options.key, nonce).setAAD(options.associated);
  const expected = Buffer.concat([
    nonce,
    cipher.update('secret', 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  const encrypted = encryptText('secret', nonce, options);
  t.deepEqual(encrypted, expected);
  t.is(decryptText(encrypted, options), 'secret');
});

test('another key, other associated data, a changed bit and a short message are refused', (t) => {
  const encrypted = encryptText('secret', nonce, options);
  t.throws(() => decryptText(encrypted, { ...options, key: Buffer.alloc(32, 8) }));
  t.throws(() => decryptText(encrypted, { ...options, associated: Buffer.from('other') }));
  for (const at of [0, 12, encrypted.length - 1]) {
    const changed = Buffer.from(encrypted);
    changed[at] = (changed[at] ?? 0) ^ 1;
    t.throws(() => decryptText(changed, options));
  }
  for (const length of [0, 11, 27]) t.throws(() => decryptText(encrypted.subarray(0, length), options));
});
