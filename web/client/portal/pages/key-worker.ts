/**
 * Worker that holds a participant's private key. Its Content-Security-Policy permits no connections, so the key
 * cannot leave it; the page receives the certificate and signatures.
 */
import { childrenOf, contents, readElement } from '@sealwright/signatures/asn1';
import { type Forge, toBytes, toText } from '../forge.ts';
import type { KeyError, KeyRequest, KeyResponse } from '../key-messages.ts';
import { FileRefused, type OpenedFile, openPkcs12 } from '../pkcs12.ts';

interface WorkerScope {
  onmessage: ((event: { readonly data: KeyRequest }) => void) | null;
  postMessage(answer: KeyResponse): void;
  readonly isSecureContext: boolean;
  /** Set by the script that `loadForge` imports. */
  readonly forge: Forge;
}

interface ForgeKey {
  /** Without a scheme the text is padded and signed unchanged. */
  sign(text: string, scheme: null): string;
}

const scope = globalThis as unknown as WorkerScope;

class KeyRejected extends Error {
  readonly trouble: KeyError;
  constructor(trouble: KeyError) {
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
    (error: unknown) => scope.postMessage({ answer: 'failed', trouble: errorOf(error) }),
  );
};

async function answer(request: KeyRequest): Promise<KeyResponse> {
  if (request.ask === 'open') {
    const forge = await loadForge();
    const opened = await openPkcs12(forge, new Uint8Array(request.file), request.password);
    sign = await signerOf(opened, forge);
    return { answer: 'opened', certificate: opened.certificate, holder: opened.holder };
  }
  if (sign === undefined) throw new KeyRejected('key-missing');
  return { answer: 'signed', signature: await sign(request.data, request.hash) };
}

async function loadForge(): Promise<Forge> {
  await import(new URL('forge.min.js', import.meta.url).href);
  return scope.forge;
}

async function signerOf({ algorithm, curve, privateKey }: OpenedFile, forge: Forge): Promise<Sign> {
  if (algorithm === RSA) {
    const key = await rsaKey(privateKey);
    return async (data, hash) => {
      if (key !== undefined && data !== null) {
        return new Uint8Array(await crypto.subtle.sign('RSASSA-PKCS1-v1_5', key, data as BufferSource));
      }
      // Web Crypto hashes its input, and is absent where the page came over plain http.
      const plain = forge.pki.privateKeyFromAsn1(forge.asn1.fromDer(toText(privateKey))) as ForgeKey;
      return toBytes(plain.sign(digestInfo(hash), null));
    };
  }
  if (algorithm === ED25519) return ed25519Signer(privateKey, forge);
  const namedCurve = CURVES[curve ?? ''];
  if (algorithm !== EC || namedCurve === undefined) throw new KeyRejected('key-unsupported');
  if (!scope.isSecureContext) throw new KeyRejected('needs-https');
  const key = await imported(privateKey, { name: 'ECDSA', namedCurve });
  return async (data) => {
    if (data === null) throw new KeyRejected('key-unsupported');
    const how = { name: 'ECDSA', hash: 'SHA-256' };
    return new Uint8Array(await crypto.subtle.sign(how, key, data as BufferSource));
  };
}

/**
 * RFC 8410 §7: the key is an OCTET STRING inside that of PrivateKeyInfo. Uses the library, because some browsers lack
 * the curve.
 */
function ed25519Signer(privateKey: Uint8Array, { ed25519 }: Forge): Sign {
  const [, , key] = childrenOf(readElement(privateKey));
  const seed = key === undefined ? '' : toText(contents(readElement(contents(key))));
  if (seed.length !== 32) throw new KeyRejected('key-unsupported');
  return async (data) => {
    if (data === null) throw new KeyRejected('key-unsupported');
    return ed25519.sign({ message: toText(data), encoding: 'binary', privateKey: seed });
  };
}

async function rsaKey(privateKey: Uint8Array) {
  if (!scope.isSecureContext) return undefined;
  // Keys of unusual size are left to the library.
  return imported(privateKey, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }).catch(() => undefined);
}

function imported(privateKey: Uint8Array, algorithm: EcKeyImportParams | RsaHashedImportParams) {
  return crypto.subtle
    .importKey('pkcs8', privateKey as BufferSource, algorithm, false, ['sign'])
    .catch(() => {
      throw new KeyRejected('key-unsupported');
    });
}

/** DigestInfo of a SHA-256 hash (RFC 8017 §9.2), the input of the library's padding. */
function digestInfo(hash: Uint8Array): string {
  const prefix = [48, 49, 48, 13, 6, 9, 96, 134, 72, 1, 101, 3, 4, 2, 1, 5, 0, 4, 32];
  return toText(Uint8Array.from([...prefix, ...hash]));
}

function errorOf(error: unknown): KeyError {
  if (error instanceof KeyRejected || error instanceof FileRefused) return error.trouble;
  return 'file-unreadable';
}
