/**
 * Reads certificate and private key from a PKCS#12 file.
 *
 * Source: RFC 7292; RFC 5958 (PrivateKeyInfo), RFC 5915 (EC keys), RFC 8017 (RSA keys).
 */

/** A node of DER as the library gives it: `value` is content, or what it holds. */
export interface DerNode {
  readonly tagClass: number;
  readonly type: number;
  readonly constructed: boolean;
  readonly value: string | readonly DerNode[];
}

interface Bag {
  readonly key?: unknown;
  readonly asn1?: DerNode;
  readonly attributes: { readonly localKeyId?: readonly string[] };
}

/** The part of node-forge that is used; strings hold one byte per character. */
export interface Forge {
  readonly asn1: {
    fromDer(der: string, options?: { readonly parseAllBytes: boolean }): DerNode;
    toDer(node: DerNode): { getBytes(): string };
    derToOid(content: string): string;
    readonly Type: { readonly OID: number };
  };
  readonly pki: {
    readonly oids: { readonly [name: string]: string };
    readonly pbe: {
      getCipherForPBES2(oid: string, parameters: unknown, password: string): unknown;
    };
    certificateFromAsn1(node: DerNode): unknown;
    privateKeyFromAsn1(node: DerNode): unknown;
  };
  readonly pkcs12: {
    pkcs12FromAsn1(
      node: DerNode,
      strict: boolean,
      password: string,
    ): {
      getBags(filter: { readonly bagType: string }): { readonly [type: string]: readonly Bag[] | undefined };
    };
  };
}

/** What signs: exactly one of the two kinds of key. */
export interface OpenedFile {
  /** DER. */
  readonly certificate: string;
  /** Common name of the certificate's holder; empty when it has none. */
  readonly holder: string;
  /** PrivateKeyInfo, DER. */
  readonly privateKey: string;
  /** Object identifiers of the key's algorithm and, for elliptic curves, of the curve. */
  readonly algorithm: string;
  readonly curve: string | undefined;
}

export class Pkcs12Trouble extends Error {
  readonly trouble: 'password-wrong' | 'file-unreadable' | 'key-missing';
  constructor(trouble: Pkcs12Trouble['trouble']) {
    super(trouble);
    this.name = 'Pkcs12Trouble';
    this.trouble = trouble;
  }
}

const COMMON_NAME = '2.5.4.3';

/** @param bytes one byte per character; throws `Pkcs12Trouble` */
export function openPkcs12(forge: Forge, bytes: string, password: string): OpenedFile {
  let outer: DerNode;
  try {
    outer = forge.asn1.fromDer(bytes, { parseAllBytes: false });
  } catch {
    throw new Pkcs12Trouble('file-unreadable');
  }
  const bagsOf = openBags(forge, outer, password);
  const keyBag = [...bagsOf('pkcs8ShroudedKeyBag'), ...bagsOf('keyBag')].find(
    ({ asn1 }) => asn1 !== undefined,
  );
  const key = keyBag?.asn1;
  if (keyBag === undefined || key === undefined) throw new Pkcs12Trouble('key-missing');
  const privateKey = forge.asn1.toDer(key).getBytes();
  const certificates = bagsOf('certBag').filter(({ asn1 }) => asn1 !== undefined);
  const id = keyBag.attributes.localKeyId?.[0];
  const mark = publicMark(forge, key);
  const found =
    certificates.find(({ attributes }) => id !== undefined && attributes.localKeyId?.[0] === id) ??
    certificates.find(({ asn1 }) => asn1 !== undefined && mark !== undefined && holds(forge, asn1, mark)) ??
    (certificates.length === 1 ? certificates[0] : undefined);
  if (found?.asn1 === undefined) throw new Pkcs12Trouble('key-missing');
  const [algorithm, curve] = keyAlgorithm(forge, key);
  return {
    certificate: forge.asn1.toDer(found.asn1).getBytes(),
    holder: commonName(forge, found.asn1),
    privateKey,
    algorithm,
    curve,
  };
}

/** The bags by the name of their type. Throws `Pkcs12Trouble`. */
function openBags(forge: Forge, outer: DerNode, password: string): (name: string) => readonly Bag[] {
  const { pki } = forge;
  const { certificateFromAsn1, privateKeyFromAsn1 } = pki;
  const { getCipherForPBES2 } = pki.pbe;
  // What the library cannot read itself it hands out as it is, and what it hands out is not written anew: the bytes
  // of certificates and keys stay those of the file, and keys it does not know (elliptic curves) come through.
  const unread = () => {
    throw new Error('Kept as it is.');
  };
  pki.certificateFromAsn1 = unread;
  pki.privateKeyFromAsn1 = unread;
  // RFC 8018 §3: such passwords are UTF-8, where the library takes one byte for each character.
  pki.pbe.getCipherForPBES2 = (oid, parameters, given) =>
    getCipherForPBES2(oid, parameters, utf8Bytes(given));
  try {
    const opened = forge.pkcs12.pkcs12FromAsn1(outer, false, password);
    return (name) => {
      const bagType = pki.oids[name] ?? '';
      return opened.getBags({ bagType })[bagType] ?? [];
    };
  } catch (error) {
    const text = error instanceof Error ? error.message : '';
    throw new Pkcs12Trouble(/password|decrypt|MAC/i.test(text) ? 'password-wrong' : 'file-unreadable');
  } finally {
    pki.certificateFromAsn1 = certificateFromAsn1;
    pki.privateKeyFromAsn1 = privateKeyFromAsn1;
    pki.pbe.getCipherForPBES2 = getCipherForPBES2;
  }
}

function children(node: DerNode | undefined): readonly DerNode[] {
  return node === undefined || typeof node.value === 'string' ? [] : node.value;
}

function content(node: DerNode | undefined): string {
  return typeof node?.value === 'string' ? node.value : '';
}

/** PrivateKeyInfo: version, algorithm { identifier, parameters }, key. */
function keyAlgorithm(forge: Forge, key: DerNode): readonly [algorithm: string, curve: string | undefined] {
  const [identifier, parameters] = children(children(key)[1]);
  const curve =
    parameters?.type === forge.asn1.Type.OID ? forge.asn1.derToOid(content(parameters)) : undefined;
  return [forge.asn1.derToOid(content(identifier)), curve];
}

/** Bytes that stand in the certificate of this key and in no other: the modulus, or the point on the curve. */
function publicMark(forge: Forge, key: DerNode): string | undefined {
  try {
    const inner = children(forge.asn1.fromDer(content(children(key)[2])));
    if (keyAlgorithm(forge, key)[1] === undefined) return content(inner[1]) || undefined;
    const point = inner.find(({ tagClass, type }) => tagClass === 0x80 && type === 1);
    return content(children(point)[0]) || undefined;
  } catch {
    return undefined;
  }
}

function holds(forge: Forge, certificate: DerNode, mark: string): boolean {
  return forge.asn1.toDer(certificate).getBytes().includes(mark);
}

/** Of the subject: the second name of the to-be-signed part, after issuer and validity. */
function commonName(forge: Forge, certificate: DerNode): string {
  const fields = children(children(certificate)[0]);
  const versioned = fields[0]?.tagClass === 0x80;
  const subject = fields[versioned ? 5 : 4];
  for (const attribute of children(subject).flatMap((set) => children(set))) {
    const [type, value] = children(attribute);
    if (forge.asn1.derToOid(content(type)) === COMMON_NAME) return utf8(content(value));
  }
  return '';
}

function utf8(bytes: string): string {
  return new TextDecoder().decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)));
}

/** One byte per character, as the library takes bytes. */
function utf8Bytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}
