/**
 * Opens a participant's PKCS#12 file with the reader of `crypto/pkcs12/`, and chooses its key and certificate.
 *
 * Source: RFC 5958 (PrivateKeyInfo), RFC 5915 (EC keys), RFC 8017 (RSA keys).
 */
import {
  childrenOf,
  contents,
  type Element,
  oidText,
  parseAlgorithm,
  readElement,
  TAG,
} from '@sealwright/signatures/asn1';
import {
  type Pkcs12Contents,
  Pkcs12Error,
  type Pkcs12Fault,
  readPkcs12,
  shownName,
} from '@sealwright/signatures/pkcs12';
import { type Forge, toText } from './forge.ts';
import { forgePrimitives } from './forge-primitives.ts';
import type { FileError } from './key-messages.ts';

/** Result: key and certificate. */
export interface OpenedFile {
  /** DER. */
  readonly certificate: Uint8Array;
  /** Name that is shown of the certificate's subject; empty when absent. */
  readonly holder: string;
  /** PrivateKeyInfo, DER. */
  readonly privateKey: Uint8Array;
  /** Object identifiers of the key's algorithm and, for elliptic curves, of the curve. */
  readonly algorithm: string;
  readonly curve: string | undefined;
}

export class FileRefused extends Error {
  readonly trouble: FileError;
  constructor(trouble: FileError) {
    super(trouble);
    this.name = 'FileRefused';
    this.trouble = trouble;
  }
}

const TROUBLES: { readonly [fault in Pkcs12Fault]: FileError } = {
  password: 'password-wrong',
  integrity: 'file-damaged',
  damaged: 'file-damaged',
  unsupported: 'file-unsupported',
  unreadable: 'file-unreadable',
};

/** Opens a file. Rejects with `FileRefused`. */
export async function openPkcs12(forge: Forge, bytes: Uint8Array, password: string): Promise<OpenedFile> {
  try {
    return chosen(await readPkcs12(bytes, password, forgePrimitives(forge)));
  } catch (error) {
    if (error instanceof FileRefused) throw error;
    throw new FileRefused(error instanceof Pkcs12Error ? TROUBLES[error.fault] : 'file-damaged');
  }
}

/** Returns the first key with a certificate. */
function chosen({ keys, certificates }: Pkcs12Contents): OpenedFile {
  for (const { der: privateKey, localKeyId } of keys) {
    const key = readElement(privateKey);
    const mark = publicMark(key);
    const certificate =
      certificates.find((one) => localKeyId !== undefined && one.localKeyId === localKeyId) ??
      certificates.find(({ der }) => mark !== undefined && toText(der).includes(mark)) ??
      (certificates.length === 1 && keys.length === 1 ? certificates[0] : undefined);
    if (certificate === undefined) continue;
    const { id: algorithm, curve } = keyAlgorithm(key);
    const holder = holderOf(readElement(certificate.der));
    return { certificate: certificate.der, holder, privateKey, algorithm, curve };
  }
  throw new FileRefused('key-missing');
}

/** PrivateKeyInfo: version, algorithm { identifier, parameters }, key. */
function keyAlgorithm(key: Element): { readonly id: string; readonly curve: string | undefined } {
  const { id, parameters } = parseAlgorithm(child(key, 1));
  return { id, curve: parameters?.tag === TAG.oid ? oidText(parameters) : undefined };
}

/** Bytes that only the certificate of this key contains: the modulus, or the public point. */
function publicMark(key: Element): string | undefined {
  try {
    const inner = childrenOf(readElement(contents(child(key, 2))));
    const isCurve = keyAlgorithm(key).curve !== undefined;
    const point = inner.find(({ tag }) => tag === TAG.context1Constructed);
    const mark = isCurve ? point && child(point, 0) : inner[1];
    return (mark && toText(contents(mark))) || undefined;
  } catch {
    return undefined;
  }
}

/** Shown name of the subject: the second Name of TBSCertificate, after issuer and validity. */
function holderOf(certificate: Element): string {
  const fields = child(certificate, 0);
  const isVersioned = child(fields, 0).tag === TAG.context0Constructed;
  const attributes = childrenOf(child(fields, isVersioned ? 5 : 4)).flatMap(childrenOf);
  const first = (type: string): string | undefined => {
    const found = attributes.find((attribute) => oidText(child(attribute, 0)) === type);
    return found && new TextDecoder().decode(contents(child(found, 1)));
  };
  const named = { commonName: first('2.5.4.3'), givenName: first('2.5.4.42'), surname: first('2.5.4.4') };
  return shownName({ ...named, serialNumber: first('2.5.4.5') }).name ?? '';
}

/** Returns a child that must exist; throws otherwise. */
function child(element: Element, index: number): Element {
  const found = childrenOf(element)[index];
  if (found === undefined) throw new FileRefused('file-damaged');
  return found;
}
