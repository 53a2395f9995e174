/**
 * Opens an encrypted PDF, with or without a password: the standard security handler in all its
 * versions (ISO 32000-2, 7.6.4).
 */
import { CryptoError } from '../../core/types.ts';
import { PdfSyntaxError } from '../syntax/damage.ts';
import { asString } from '../syntax/strings.ts';
import {
  asDict,
  asInteger,
  asName,
  asReference,
  type ByteSlice,
  items,
  type PdfDict,
} from '../syntax/values.ts';
import type { CryptMethod } from './crypt-method.ts';
import { Encryption, type FormPermissions } from './encryption.ts';
import { aes256FileKey, encryptedPermissions, type FileKey, fileKey } from './file-key.ts';

/** Resolves a value without decryption. */
type ResolveUnencrypted = (slice: ByteSlice | undefined) => ByteSlice;

/**
 * Returns undefined when the trailer has no /Encrypt.
 * @param password of the user or the owner; an empty one is tried after it
 * @throws {CryptoError} `pdf.encrypted` when another password, or another handler, is needed
 * @throws PdfSyntaxError when the encryption dictionary can't be used
 */
export function openEncryption(
  trailer: PdfDict,
  resolve: ResolveUnencrypted,
  password = '',
): Encryption | undefined {
  const written = trailer.get('Encrypt');
  if (written === undefined) return undefined;
  const found = resolve(written);
  const dict = asDict(found);
  if (dict === undefined)
    throw new PdfSyntaxError('The encryption dictionary is not where the trailer says.');
  const [id] = items(resolve(trailer.get('ID')));
  const handler = new Handler(dict, resolve, password);
  return handler.open(asString(id && resolve(id)) ?? Buffer.alloc(0), asReference(written)?.number);
}

/** Methods by the name of a crypt filter (table 25). */
const METHODS: Readonly<Record<string, CryptMethod>> = { V2: 'rc4', AESV2: 'aes-128', AESV3: 'aes-256' };

class Handler {
  readonly #dict: PdfDict;
  readonly #resolve: ResolveUnencrypted;
  readonly #password: string;
  constructor(dict: PdfDict, resolve: ResolveUnencrypted, password: string) {
    this.#dict = dict;
    this.#resolve = resolve;
    this.#password = password;
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
    const keyBy =
      revision >= 5
        ? this.#aes256KeyByPassword(revision === 5 ? 5 : 6)
        : this.#legacyKeyByPassword({
            version,
            revision: revision === 2 ? 2 : revision === 3 ? 3 : 4,
            id,
            encryptMetadata,
          });
    const found = keyBy(this.#password) ?? (this.#password === '' ? undefined : keyBy(''));
    const key = found ?? noKeyError(methods, this.#password !== '');
    return new Encryption({
      ...methods,
      key: key.key,
      encryptMetadata,
      permissions: this.#formPermissions(key, revision),
      dictNumber,
    });
  }

  #aes256KeyByPassword(revision: 5 | 6): (password: string) => FileKey | undefined {
    const entries = { revision, ...this.#aes256Entries() };
    return (password) => aes256FileKey(entries, password);
  }

  #legacyKeyByPassword(known: {
    readonly version: number;
    readonly revision: 2 | 3 | 4;
    readonly id: Buffer;
    readonly encryptMetadata: boolean;
  }): (password: string) => FileKey | undefined {
    const entries = {
      revision: known.revision,
      owner: this.#string('O'),
      user: this.#string('U'),
      permissions: this.#permissions(),
      id: known.id,
      encryptMetadata: known.encryptMetadata,
      lengths: this.#lengths(known.version),
    };
    return (password) => fileKey(entries, password);
  }

  #aes256Entries() {
    const entries = {
      owner: this.#string('O'),
      user: this.#string('U'),
      ownerKey: this.#string('OE'),
      userKey: this.#string('UE'),
    };
    const { owner, user, ownerKey, userKey } = entries;
    if (Math.min(owner.length, user.length) < 48 || Math.min(ownerKey.length, userKey.length) < 32) {
      throw new PdfSyntaxError('The encryption dictionary is incomplete.');
    }
    return entries;
  }

  /** Before version 4 there is one method for all data. */
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

  /** Version 4 does not define whose /Length counts, and writers differ in bits and bytes. */
  #lengths(version: number): readonly number[] {
    if (version === 1) return [5];
    const declared = (this.#integer('Length') ?? 40) / 8;
    const likely = version === 2 ? [declared, 16, 5] : [16, declared, 5];
    return [...new Set(likely)].filter((length) => Number.isInteger(length) && length >= 5 && length <= 16);
  }

  /** Prefers the encrypted permissions to those in /P. */
  #formPermissions({ key, asOwner }: FileKey, revision: number): FormPermissions {
    if (asOwner) return { fillFields: true, createFields: true };
    const encrypted = revision >= 5 ? encryptedPermissions(key, this.#string('Perms')) : undefined;
    return formPermissions(encrypted ?? this.#permissions(), revision);
  }

  /** /P is a signed number of 32 bits; some writers omit the sign. */
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
 * Table 22: bit 6 permits adding annotations and filling in fields and, together with bit 4, creating fields; bit 9
 * permits filling in fields on its own. Revision 2 has no bit 9 and does not require bit 4.
 */
function formPermissions(bits: number, revision: number): FormPermissions {
  const has = (bit: number): boolean => (bits & (1 << (bit - 1))) !== 0;
  if (revision === 2) return { fillFields: has(6), createFields: has(6) };
  return { fillFields: has(6) || has(9), createFields: has(4) && has(6) };
}

function noKeyError(
  { strings, streams }: { readonly strings: CryptMethod; readonly streams: CryptMethod },
  withPassword: boolean,
): FileKey {
  // Only embedded files are encrypted: the document itself is readable.
  if (strings === 'identity' && streams === 'identity') return { key: Buffer.alloc(32), asOwner: false };
  throw new CryptoError(
    'pdf.encrypted',
    withPassword
      ? 'The PDF is encrypted and the given password does not open it.'
      : 'The PDF is encrypted and needs a password to be opened.',
  );
}

function otherHandler(filter: string | undefined): CryptoError {
  const why =
    filter === 'Adobe.PubSec'
      ? 'for the holders of certain certificates, and only their keys open it'
      : `by the security handler ${filter ?? '(none)'}, which is not known here`;
  return new CryptoError('pdf.encrypted', `The PDF is encrypted ${why}.`);
}
