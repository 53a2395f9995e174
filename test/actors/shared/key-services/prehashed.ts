/** Signatures over a digest that is made elsewhere, as key services make them; Node signs only what it hashes itself. */
import {
  constants,
  createECDH,
  createHash,
  type KeyObject,
  privateEncrypt,
  randomBytes,
  sign,
} from 'node:crypto';

type Digest = 'sha256' | 'sha384' | 'sha512';

const DIGEST_INFO: { readonly [name in Digest]: string } = {
  sha256: '3031300d060960864801650304020105000420',
  sha384: '3041300d060960864801650304020205000430',
  sha512: '3051300d060960864801650304020305000440',
};

/** RFC 8017 §8.2.1. */
export function pkcs1(key: KeyObject, digest: Digest, hash: Buffer): Buffer {
  const info = Buffer.concat([Buffer.from(DIGEST_INFO[digest], 'hex'), hash]);
  return privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, info);
}

/** RFC 8017 §9.1.1, with a salt of the digest's length. */
export function pss(key: KeyObject, digest: Digest, hash: Buffer): Buffer {
  const length = (key.asymmetricKeyDetails?.modulusLength ?? 0) / 8;
  const salt = randomBytes(hash.length);
  const h = createHash(digest).update(Buffer.alloc(8)).update(hash).update(salt).digest();
  const block = Buffer.alloc(length - hash.length - 1);
  block[block.length - salt.length - 1] = 1;
  salt.copy(block, block.length - salt.length);
  for (let at = 0, counter = 0; at < block.length; counter += 1) {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    for (const byte of createHash(digest).update(h).update(count).digest())
      if (at < block.length) block[at] = (block[at++] ?? 0) ^ byte;
  }
  block[0] = (block[0] ?? 0) & 0x7f;
  const padding = constants.RSA_NO_PADDING;
  return privateEncrypt({ key, padding }, Buffer.concat([block, h, Buffer.from([0xbc])]));
}

const CURVES = {
  prime256v1: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  secp384r1:
    0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
} as const;

/** FIPS 186-5 §6.4.1. @returns r and s concatenated */
export function ecdsa(key: KeyObject, hash: Buffer): Buffer {
  const { namedCurve } = key.asymmetricKeyDetails ?? {};
  const n = CURVES[namedCurve as keyof typeof CURVES];
  const size = namedCurve === 'prime256v1' ? 32 : 48;
  const once = createECDH(namedCurve ?? '');
  const point = once.generateKeys();
  const k = number(once.getPrivateKey());
  const d = number(Buffer.from(String(key.export({ format: 'jwk' }).d), 'base64url'));
  const r = number(point.subarray(1, 1 + size)) % n;
  const s = (inverse(k, n) * ((number(hash.subarray(0, size)) + r * d) % n)) % n;
  return Buffer.from([r, s].map((one) => one.toString(16).padStart(2 * size, '0')).join(''), 'hex');
}

export function ed25519(key: KeyObject, data: Buffer): Buffer {
  return sign(null, data, key);
}

/** RFC 3279 §2.2.3. */
export function derOf(rs: Buffer): Buffer {
  const integer = (bytes: Buffer): Buffer => {
    let start = 0;
    while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
    const short = bytes.subarray(start);
    const value = (short[0] ?? 0) > 127 ? Buffer.concat([Buffer.alloc(1), short]) : short;
    return Buffer.concat([Buffer.from([2, value.length]), value]);
  };
  const half = rs.length / 2;
  const body = Buffer.concat([integer(rs.subarray(0, half)), integer(rs.subarray(half))]);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
}

function number(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}

/** By Fermat: the order of a curve is prime. */
function inverse(value: bigint, prime: bigint): bigint {
  let result = 1n;
  let square = value % prime;
  for (let left = prime - 2n; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % prime;
    square = (square * square) % prime;
  }
  return result;
}
