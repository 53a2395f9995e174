/**
 * The thread that holds a participant's private key. It may connect to nothing (its Content-Security-Policy says so),
 * so the key cannot leave it; the page gets the certificate and signatures.
 */
import type { webcrypto } from 'node:crypto';
import { children, content, type Forge, toBytes, toText } from './forge.ts';
import type { KeyAnswer, KeyRequest, KeyTrouble } from './key-messages.ts';
import { type OpenedFile, openPkcs12, Pkcs12Trouble } from './pkcs12.ts';

interface WorkerScope {
  onmessage: ((event: { readonly data: KeyRequest }) => void) | null;
  postMessage(answer: KeyAnswer): void;
  readonly isSecureContext: boolean;
}

interface ForgeKey {
  /** Without a scheme the text is padded and signed as it is. */
  sign(text: string, scheme: null): string;
}

const scope = globalThis as unknown as WorkerScope;

class KeyRefused extends Error {
  readonly trouble: KeyTrouble;
  constructor(trouble: KeyTrouble) {
    super(trouble);
    this.name = 'KeyRefused';
    this.trouble = trouble;
  }
}

const RSA = '1.2.840.113549.1.1.1';
const EC = '1.2.840.10045.2.1';
const ED25519 = '1.3.101.112';
const CURVES: { readonly [identifier: string]: string } = {
  '1.2.840.10045.3.1.7': 'P-256',
  '1.3.132.0.34': 'P-384',
  '1.3.132.0.35': 'P-521',
};

type Sign = (data: Uint8Array | null, hash: Uint8Array) => Promise<Uint8Array>;
let sign: Sign | undefined;

scope.onmessage = ({ data: request }) => {
  void answer(request).then(
    (given) => scope.postMessage(given),
    (error: unknown) => scope.postMessage({ answer: 'failed', trouble: troubleOf(error) }),
  );
};

async function answer(request: KeyRequest): Promise<KeyAnswer> {
  if (request.ask === 'open') {
    const forge = await loadForge();
    const opened = await openPkcs12(forge, toText(new Uint8Array(request.file)), request.password);
    sign = await signerOf(opened, forge);
    return { answer: 'opened', certificate: toBytes(opened.certificate), holder: opened.holder };
  }
  if (sign === undefined) throw new KeyRefused('key-missing');
  return { answer: 'signed', signature: await sign(request.data, request.hash) };
}

async function loadForge(): Promise<Forge> {
  await import(new URL('forge.min.js', import.meta.url).href);
  return (globalThis as unknown as { readonly forge: Forge }).forge;
}

async function signerOf({ algorithm, curve, privateKey }: OpenedFile, forge: Forge): Promise<Sign> {
  if (algorithm === RSA) {
    const key = await rsaKey(privateKey);
    return async (data, hash) => {
      if (key !== undefined && data !== null) {
        return new Uint8Array(
          await crypto.subtle.sign('RSASSA-PKCS1-v1_5', key, data as webcrypto.BufferSource),
        );
      }
      // The browser hashes what it signs, and offers nothing where the page came over plain http.
      const plain = forge.pki.privateKeyFromAsn1(forge.asn1.fromDer(privateKey)) as ForgeKey;
      return toBytes(plain.sign(digestInfo(hash), null));
    };
  }
  if (algorithm === ED25519) return ed25519Signer(privateKey, forge);
  const namedCurve = CURVES[curve ?? ''];
  if (algorithm !== EC || namedCurve === undefined) throw new KeyRefused('key-unsupported');
  if (!scope.isSecureContext) throw new KeyRefused('needs-https');
  const key = await imported(privateKey, { name: 'ECDSA', namedCurve });
  return async (data) => {
    if (data === null) throw new KeyRefused('key-unsupported');
    const how = { name: 'ECDSA', hash: 'SHA-256' };
    return new Uint8Array(await crypto.subtle.sign(how, key, data as webcrypto.BufferSource));
  };
}

/** RFC 8410 §7: the key is an OCTET STRING inside that of PrivateKeyInfo. Browsers that lack the curve leave it to the library. */
function ed25519Signer(privateKey: string, { asn1, ed25519 }: Forge): Sign {
  const seed = content(asn1.fromDer(content(children(asn1.fromDer(privateKey))[2])));
  if (seed.length !== 32) throw new KeyRefused('key-unsupported');
  return async (data) => {
    if (data === null) throw new KeyRefused('key-unsupported');
    return ed25519.sign({ message: toText(data), encoding: 'binary', privateKey: seed });
  };
}

async function rsaKey(privateKey: string) {
  if (!scope.isSecureContext) return undefined;
  // Keys of unusual size are left to the library.
  return imported(privateKey, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }).catch(() => undefined);
}

function imported(
  privateKey: string,
  algorithm: webcrypto.EcKeyImportParams | webcrypto.RsaHashedImportParams,
) {
  return crypto.subtle
    .importKey('pkcs8', toBytes(privateKey) as webcrypto.BufferSource, algorithm, false, ['sign'])
    .catch(() => {
      throw new KeyRefused('key-unsupported');
    });
}

/** What the library pads and signs: a hash with the name of SHA-256 before it (RFC 8017 §9.2). */
function digestInfo(hash: Uint8Array): string {
  const prefix = [48, 49, 48, 13, 6, 9, 96, 134, 72, 1, 101, 3, 4, 2, 1, 5, 0, 4, 32];
  return toText(Uint8Array.from([...prefix, ...hash]));
}

function troubleOf(error: unknown): KeyTrouble {
  if (error instanceof KeyRefused || error instanceof Pkcs12Trouble) return error.trouble;
  return 'file-unreadable';
}
