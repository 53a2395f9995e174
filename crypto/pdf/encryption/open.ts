/**
 * Finds the key of an encrypted PDF that opens without a password: the standard security handler in all its
 * versions (ISO 32000-2, 7.6.4).
 */
import { CryptoError } from '../../types.ts';
import { PdfDamage } from '../damage.ts';
import { asString } from '../strings.ts';
import { asDict, asInteger, asName, asReference, items, type PdfDict, type Piece } from '../values.ts';
import type { CryptMethod } from './crypt-method.ts';
import { Encryption, type FormPermissions } from './encryption.ts';
import { type FileKey, oldFileKey } from './file-key.ts';
import { newFileKey, sealedPermissions } from './file-key-aes256.ts';

/** Finds what a value is or refers to, without decrypting anything. */
export type ResolveClear = (piece: Piece | undefined) => Piece;

/**
 * Undefined when the trailer names no encryption.
 * @throws {CryptoError} `pdf.encrypted` when a password, or another handler, is needed
 * @throws PdfDamage when the encryption dictionary can't be used
 */
export function openEncryption(trailer: PdfDict, resolve: ResolveClear): Encryption | undefined {
  const written = trailer.get('Encrypt');
  if (written === undefined) return undefined;
  const found = resolve(written);
  const dict = asDict(found);
  if (dict === undefined) throw new PdfDamage('The encryption dictionary is not where the trailer says.');
  const [id] = items(resolve(trailer.get('ID')));
  const handler = new Handler(dict, resolve);
  return handler.open(asString(id && resolve(id)) ?? Buffer.alloc(0), asReference(written)?.number);
}

/** Methods by the name of a crypt filter (table 25). */
const METHODS: Readonly<Record<string, CryptMethod>> = { V2: 'rc4', AESV2: 'aes-128', AESV3: 'aes-256' };

class Handler {
  readonly #dict: PdfDict;
  readonly #resolve: ResolveClear;
  constructor(dict: PdfDict, resolve: ResolveClear) {
    this.#dict = dict;
    this.#resolve = resolve;
  }

  open(id: Buffer, dictNumber: number | undefined): Encryption {
    const filter = this.#name('Filter');
    if (filter !== 'Standard') throw otherHandler(filter);
    const version = this.#integer('V') ?? 0;
    const revision = this.#integer('R') ?? 0;
    if (
      ![1, 2, 4, 5].includes(version) ||
      revision < 2 ||
      revision > 6 ||
      (version === 5) !== revision >= 5
    ) {
      throw new CryptoError(
        'pdf.encrypted',
        `The PDF is encrypted in a way that is not known here (V ${version}, R ${revision}).`,
      );
    }
    const methods = this.#methods(version);
    const encryptMetadata = version < 4 || this.#value('EncryptMetadata') !== 'false';
    const found =
      revision >= 5
        ? newFileKey({ revision: revision === 5 ? 5 : 6, ...this.#newEntries() })
        : oldFileKey({
            revision: revision === 2 ? 2 : revision === 3 ? 3 : 4,
            owner: this.#string('O'),
            user: this.#string('U'),
            permissions: this.#permissions(),
            id,
            encryptMetadata,
            lengths: this.#lengths(version),
          });
    const key = found ?? withoutKey(methods);
    return new Encryption({
      ...methods,
      key: key.key,
      encryptMetadata,
      permissions: this.#formPermissions(key, revision),
      dictNumber,
    });
  }

  #newEntries() {
    const entries = {
      owner: this.#string('O'),
      user: this.#string('U'),
      ownerKey: this.#string('OE'),
      userKey: this.#string('UE'),
    };
    const { owner, user, ownerKey, userKey } = entries;
    if (Math.min(owner.length, user.length) < 48 || Math.min(ownerKey.length, userKey.length) < 32) {
      throw new PdfDamage('The encryption dictionary is incomplete.');
    }
    return entries;
  }

  /** Before version 4 there is one method for everything. */
  #methods(version: number) {
    const filters = new Map<string, CryptMethod>([['Identity', 'identity']]);
    if (version < 4) return { strings: 'rc4', streams: 'rc4', embeddedFiles: 'rc4', filters } as const;
    const described = asDict(this.#resolve(this.#dict.get('CF')));
    for (const entry of described?.entries ?? []) {
      const filter = described && asDict(this.#resolve(described.valueAt(entry)));
      const method = METHODS[asName(this.#resolve(filter?.get('CFM'))) ?? ''];
      if (described && method !== undefined) filters.set(described.keyOf(entry), method);
    }
    const byName = (key: string, otherwise: CryptMethod): CryptMethod => {
      const name = this.#name(key);
      if (name === undefined) return otherwise;
      return filters.get(name) ?? 'identity';
    };
    const streams = byName('StmF', 'identity');
    return {
      strings: byName('StrF', 'identity'),
      streams,
      embeddedFiles: byName('EFF', streams),
      filters,
    };
  }

  /** Version 4 leaves open whose /Length counts, and writers differ in bits and bytes. */
  #lengths(version: number): readonly number[] {
    if (version === 1) return [5];
    const said = (this.#integer('Length') ?? 40) / 8;
    const likely = version === 2 ? [said, 16, 5] : [16, said, 5];
    return [...new Set(likely)].filter((length) => Number.isInteger(length) && length >= 5 && length <= 16);
  }

  /** What the key vouches for counts before what is written beside it. */
  #formPermissions({ key, asOwner }: FileKey, revision: number): FormPermissions {
    if (asOwner) return { fillFields: true, createFields: true };
    const sealed = revision >= 5 ? sealedPermissions(key, this.#string('Perms')) : undefined;
    return formPermissions(sealed ?? this.#permissions(), revision);
  }

  /** /P is a signed number of 32 bits; some write it without its sign. */
  #permissions(): number {
    return (this.#integer('P') ?? 0) | 0;
  }

  #value(key: string): string {
    const { bytes, start, end } = this.#resolve(this.#dict.get(key));
    return bytes.toString('latin1', start, end);
  }

  #name(key: string): string | undefined {
    return asName(this.#resolve(this.#dict.get(key)));
  }

  #integer(key: string): number | undefined {
    return asInteger(this.#resolve(this.#dict.get(key)));
  }

  #string(key: string): Buffer {
    return asString(this.#resolve(this.#dict.get(key))) ?? Buffer.alloc(0);
  }
}

/**
 * Table 22: bit 6 lets annotations be added and fields be filled in and, together with bit 4, fields be made; bit 9
 * lets fields be filled in on its own. Revision 2 has no bit 9 and does not ask for bit 4.
 */
function formPermissions(bits: number, revision: number): FormPermissions {
  const has = (bit: number): boolean => (bits & (1 << (bit - 1))) !== 0;
  if (revision === 2) return { fillFields: has(6), createFields: has(6) };
  return { fillFields: has(6) || has(9), createFields: has(4) && has(6) };
}

function withoutKey({
  strings,
  streams,
}: {
  readonly strings: CryptMethod;
  readonly streams: CryptMethod;
}): FileKey {
  // Only the files inside are encrypted: the document itself is open to everybody.
  if (strings === 'identity' && streams === 'identity') return { key: Buffer.alloc(32), asOwner: false };
  throw new CryptoError('pdf.encrypted', 'The PDF is encrypted and needs a password to be opened.');
}

function otherHandler(filter: string | undefined): CryptoError {
  const why =
    filter === 'Adobe.PubSec'
      ? 'for the holders of certain certificates, and only their keys open it'
      : `by the security handler ${filter ?? '(none)'}, which is not known here`;
  return new CryptoError('pdf.encrypted', `The PDF is encrypted ${why}.`);
}
