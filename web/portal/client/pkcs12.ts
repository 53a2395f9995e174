/**
 * Reads certificate and private key from a PKCS#12 file; both keep their encoding.
 *
 * Source: RFC 7292; RFC 5958 (PrivateKeyInfo), RFC 5915 (EC keys), RFC 8017 (RSA keys).
 */
import { children, content, type DerNode, type Forge, toBytes } from './forge.ts';
import type { FileError } from './key-messages.ts';
import { PasswordSecrets, Unsupported } from './password-secrets.ts';

/** Result: key and certificate. */
export interface OpenedFile {
  /** DER. */
  readonly certificate: string;
  /** Common name of the certificate's subject; empty when absent. */
  readonly holder: string;
  /** PrivateKeyInfo, DER. */
  readonly privateKey: string;
  /** Object identifiers of the key's algorithm and, for elliptic curves, of the curve. */
  readonly algorithm: string;
  readonly curve: string | undefined;
}

export class Pkcs12Error extends Error {
  readonly trouble: FileError;
  constructor(trouble: FileError) {
    super(trouble);
    this.name = 'Pkcs12Trouble';
    this.trouble = trouble;
  }
}

const COMMON_NAME = '2.5.4.3';
const LOCAL_KEY_ID = '1.2.840.113549.1.9.21';
const X509_CERTIFICATE = '1.2.840.113549.1.9.22.1';
const DATA = '1.2.840.113549.1.7.1';
const ENCRYPTED_DATA = '1.2.840.113549.1.7.6';
const BAGS = '1.2.840.113549.1.12.10.1.';
const BAG = { key: `${BAGS}1`, shroudedKey: `${BAGS}2`, certificate: `${BAGS}3`, safeContents: `${BAGS}6` };
/** Maximum depth of nested bags. */
const DEPTH = 5;

/** Certificates and keys found so far, DER. */
interface Found {
  readonly keys: { readonly der: string; readonly id: string | undefined }[];
  readonly certificates: { readonly der: string; readonly id: string | undefined }[];
}

/** @param bytes one byte per character; rejects with `Pkcs12Error` */
export async function openPkcs12(forge: Forge, bytes: string, password: string): Promise<OpenedFile> {
  const reader = new Reader(forge, password);
  try {
    return chosen(forge, await reader.read(bytes));
  } catch (error) {
    if (error instanceof Pkcs12Error) throw error;
    if (error instanceof Unsupported) throw new Pkcs12Error('file-unsupported');
    throw new Pkcs12Error(isBegun(bytes) ? 'file-damaged' : 'file-unreadable');
  }
}

/** SEQUENCE, followed by version 3: the start of every PFX. */
function isBegun(bytes: string): boolean {
  return bytes.startsWith('0') && bytes.slice(0, 12).includes('\x02\x01\x03');
}

class Reader {
  readonly #forge: Forge;
  readonly #secrets: PasswordSecrets;
  readonly #found: Found = { keys: [], certificates: [] };
  /** Undefined while unknown. */
  #isPasswordRight: boolean | undefined;

  constructor(forge: Forge, password: string) {
    this.#forge = forge;
    this.#secrets = new PasswordSecrets(forge, password);
  }

  async read(bytes: string): Promise<Found> {
    const [version, safe, mac] = children(this.#node(bytes));
    if (version === undefined || safe === undefined || content(version) !== '\x03') {
      throw new Pkcs12Error('file-unreadable');
    }
    const [type, data] = children(safe);
    // Signed instead of password-protected: not in use.
    if (this.#oid(type) !== DATA) throw new Unsupported();
    const contents = content(data);
    const isQuick = mac !== undefined && this.#secrets.isQuick(mac);
    let holds = isQuick ? await this.#secrets.integrityHolds(mac, contents) : undefined;
    this.#isPasswordRight = holds === true ? true : undefined;
    for (const part of children(this.#node(contents))) await this.#readPart(part);
    // When decryption has succeeded, a MAC that takes half a minute adds little: an attacker could have written
    // another file, and the service refuses a certificate of another key.
    if (mac !== undefined && !isQuick && this.#isPasswordRight === undefined) {
      holds = await this.#secrets.integrityHolds(mac, contents);
    }
    // Decryption has succeeded, so the password is correct and the file is damaged.
    if (holds === false) {
      throw new Pkcs12Error(this.#isPasswordRight === true ? 'file-damaged' : 'password-wrong');
    }
    return this.#found;
  }

  /** ContentInfo. */
  async #readPart(part: DerNode): Promise<void> {
    const [type, explicit] = children(part);
    const [inner] = children(explicit);
    const name = this.#oid(type);
    if (name === DATA) return this.#readBags(this.#node(content(inner)), 0);
    if (name !== ENCRYPTED_DATA) throw new Unsupported();
    const [, algorithm, encrypted] = children(children(inner)[1]);
    return this.#readBags(this.#node(await this.#decrypted(algorithm, encrypted)), 0);
  }

  async #readBags(bags: DerNode, depth: number): Promise<void> {
    for (const bag of children(bags)) {
      const [type, explicit, attributes] = children(bag);
      const [value] = children(explicit);
      if (value === undefined) continue;
      const id = this.#keyId(attributes);
      switch (this.#oid(type)) {
        case BAG.key:
          this.#found.keys.push({ der: this.#forge.asn1.toDer(value).getBytes(), id });
          break;
        case BAG.shroudedKey: {
          const [algorithm, encrypted] = children(value);
          this.#found.keys.push({ der: await this.#decrypted(algorithm, encrypted), id });
          break;
        }
        case BAG.certificate: {
          const [kind, certificate] = children(value);
          if (this.#oid(kind) === X509_CERTIFICATE)
            this.#found.certificates.push({ der: content(certificate), id });
          break;
        }
        case BAG.safeContents:
          if (depth < DEPTH) await this.#readBags(value, depth + 1);
          break;
      }
    }
  }

  /** EncryptedContentInfo or EncryptedPrivateKeyInfo: the SEQUENCE with algorithm and content. */
  async #decrypted(algorithm: DerNode | undefined, encrypted: DerNode | undefined): Promise<string> {
    const plain = await this.#secrets.decrypt(algorithm, content(encrypted));
    // One wrong password in some hundreds produces valid padding.
    if (plain === undefined || !this.#isSequence(plain)) {
      throw new Pkcs12Error(this.#isPasswordRight === true ? 'file-damaged' : 'password-wrong');
    }
    this.#isPasswordRight = true;
    return plain;
  }

  #isSequence(bytes: string): boolean {
    try {
      return this.#node(bytes).constructed;
    } catch {
      return false;
    }
  }

  #keyId(attributes: DerNode | undefined): string | undefined {
    const found = children(attributes).find((one) => this.#oid(children(one)[0]) === LOCAL_KEY_ID);
    return found && content(children(found)[1]);
  }

  #node(bytes: string): DerNode {
    return this.#forge.asn1.fromDer(bytes, { parseAllBytes: false });
  }

  #oid(node: DerNode | undefined): string {
    const bytes = content(node);
    return bytes === '' ? '' : this.#forge.asn1.derToOid(bytes);
  }
}

/** Returns the first key with a certificate. */
function chosen(forge: Forge, { keys, certificates }: Found): OpenedFile {
  for (const { der: privateKey, id } of keys) {
    const key = forge.asn1.fromDer(privateKey, { parseAllBytes: false });
    const mark = publicMark(forge, key);
    const certificate =
      certificates.find((one) => id !== undefined && one.id === id) ??
      certificates.find(({ der }) => mark !== undefined && der.includes(mark)) ??
      (certificates.length === 1 && keys.length === 1 ? certificates[0] : undefined);
    if (certificate === undefined) continue;
    const [algorithm, curve] = keyAlgorithm(forge, key);
    return {
      certificate: certificate.der,
      holder: commonName(forge, forge.asn1.fromDer(certificate.der, { parseAllBytes: false })),
      privateKey,
      algorithm,
      curve,
    };
  }
  throw new Pkcs12Error('key-missing');
}

/** PrivateKeyInfo: version, algorithm { identifier, parameters }, key. */
function keyAlgorithm(forge: Forge, key: DerNode): readonly [algorithm: string, curve: string | undefined] {
  const [identifier, parameters] = children(children(key)[1]);
  const curve =
    parameters?.type === forge.asn1.Type.OID ? forge.asn1.derToOid(content(parameters)) : undefined;
  return [forge.asn1.derToOid(content(identifier)), curve];
}

/** Bytes that only the certificate of this key contains: the modulus, or the public point. */
function publicMark(forge: Forge, key: DerNode): string | undefined {
  try {
    const inner = children(forge.asn1.fromDer(content(children(key)[2]), { parseAllBytes: false }));
    if (keyAlgorithm(forge, key)[1] === undefined) return content(inner[1]) || undefined;
    const point = inner.find(({ tagClass, type }) => tagClass === 0x80 && type === 1);
    return content(children(point)[0]) || undefined;
  } catch {
    return undefined;
  }
}

/** Common name of the subject: the second Name of TBSCertificate, after issuer and validity. */
function commonName(forge: Forge, certificate: DerNode): string {
  const fields = children(children(certificate)[0]);
  const versioned = fields[0]?.tagClass === 0x80;
  const subject = fields[versioned ? 5 : 4];
  for (const attribute of children(subject).flatMap((set) => children(set))) {
    const [type, value] = children(attribute);
    if (forge.asn1.derToOid(content(type)) === COMMON_NAME)
      return new TextDecoder().decode(toBytes(content(value)));
  }
  return '';
}
