import { createCipheriv, createHmac } from 'node:crypto';
import test from 'ava';
import {
  decryptToken,
  encryptToken,
  readSignedToken,
  signToken,
} from '../../../../actors/shared/secrets/token.ts';

const key = Buffer.alloc(32, 5);
const lengths = { maxLength: 1024, headBytes: 2 };
const encryption = { key, nonce: Buffer.alloc(12, 1), associated: Buffer.from('use') };

test('a signed token is Base64url of its bytes and half of their HMAC', (t) => {
  const mac = createHmac('sha256', key).update('claims').digest().subarray(0, 16);
  const token = signToken(Buffer.from('claims'), key);
  t.is(token, Buffer.concat([Buffer.from('claims'), mac]).toString('base64url'));
  t.is(readSignedToken(token, key, 100)?.toString(), 'claims');
});

test('a signed token that is changed, too long, too short or of another key is refused', (t) => {
  const token = signToken(Buffer.from('claims'), key);
  t.is(readSignedToken(token, Buffer.alloc(32, 6), 100), undefined);
  t.is(readSignedToken(token, key, token.length - 1), undefined);
  t.is(readSignedToken(token.slice(0, 20), key, 100), undefined);
  t.is(readSignedToken(`A${token.slice(1)}`, key, 100), undefined);
});

test('a token has a single valid encoding', (t) => {
  const text = signToken(Buffer.from('12345'), key);
  // 21 bytes fill 28 characters; 22 bytes leave four bits of the last character unused.
  const loose = signToken(Buffer.from('123456'), key);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const other = loose.slice(0, -1) + alphabet[alphabet.indexOf(loose.slice(-1)) + 1];
  t.deepEqual(Buffer.from(other, 'base64url'), Buffer.from(loose, 'base64url'));
  t.is(readSignedToken(other, key, 100), undefined);
  t.is(readSignedToken(`${text}=`, key, 100), undefined);
});

test('an encrypted token opens with the key of its head and the same associated data', (t) => {
  const token = encryptToken(Buffer.of(1, 2), 'secret', encryption);
  const open = (head: Buffer) => (head[0] === 1 && head[1] === 2 ? encryption : undefined);
  t.is(decryptToken(token, lengths, open), 'secret');
  t.is(
    decryptToken(token, lengths, () => ({ ...encryption, associated: Buffer.from('x') })),
    undefined,
  );
  t.is(decryptToken(encryptToken(Buffer.of(1, 3), 'secret', encryption), lengths, open), undefined);
  t.is(decryptToken('AQ', lengths, open), undefined);
  t.is(decryptToken('not a token', lengths, open), undefined);
});

test('an encrypted token is head, nonce, ciphertext and tag, as node:crypto computes them', (t) => {
  const { nonce, associated } = encryption;
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(associated);
  const expected = [Buffer.of(1, 2), nonce, cipher.update('secret'), cipher.final(), cipher.getAuthTag()];
  const token = encryptToken(Buffer.of(1, 2), 'secret', encryption);
  t.is(token, Buffer.concat(expected).toString('base64url'));
  for (const at of [2, 14, expected.length - 1]) {
    const changed = Buffer.concat(expected);
    changed[at] = (changed[at] ?? 0) ^ 1;
    t.is(
      decryptToken(changed.toString('base64url'), lengths, () => encryption),
      undefined,
    );
  }
  for (const length of [2, 13, 29]) {
    const short = Buffer.concat(expected).subarray(0, length).toString('base64url');
    t.is(
      decryptToken(short, lengths, () => encryption),
      undefined,
    );
  }
});
