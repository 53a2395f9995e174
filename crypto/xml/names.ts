/**
 * Names, prefixes and namespaces of one document, interned and compared by identity where possible.
 */
import { MAX_PREFIXES, MAX_REMEMBERED } from './limits.ts';

export const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
export const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/';

/** A namespace name. Two objects with equal `uri` are the same namespace. */
export interface Namespace {
  readonly uri: string;
  /**
   * UTF-8 of the name, one character per byte: string comparison gives code point order, as canonical order needs.
   */
  readonly order: string;
  /** UTF-8 as written in a canonical `xmlns` attribute. */
  readonly escaped: Buffer;
}

/** A namespace prefix ('' = none) with its namespace at the reader's current position. */
export interface Prefix {
  readonly text: string;
  readonly order: string;
  readonly bytes: Buffer;
  /** Index from 0, in order of first use in this document. */
  readonly index: number;
  /** Undefined: not declared here. */
  namespace: Namespace | undefined;
  /** Number of the last start tag that declared it, to detect a duplicate declaration in one tag. */
  declaredBy: number;
}

/** A qualified name as written. */
export interface Name {
  readonly text: string;
  readonly prefix: Prefix;
  readonly local: string;
  /** Like `Namespace.order`, of the local part. */
  readonly order: string;
  readonly bytes: Buffer;
}

/** Namespace of unprefixed names without a default namespace declaration. */
export const NO_NAMESPACE: Namespace = { uri: '', order: '', escaped: Buffer.alloc(0) };

/** Texts of a name in any document. Kept for the next documents, which mostly use the same names. */
interface Spelling extends Pick<Name, 'text' | 'local' | 'order' | 'bytes'> {
  readonly prefix: string;
}

/** Spellings kept in a thread, by hash; a newer one takes the place of another one. A power of two. */
const MAX_SPELLINGS = 1024;
/** Longest name kept, bytes. */
const MAX_SPELLING_LENGTH = 128;
const spellings: (Spelling | undefined)[] = Array.from({ length: MAX_SPELLINGS });

/** Namespaces kept in a thread, by name. */
const MAX_NAMESPACES = 256;
const MAX_NAMESPACE_LENGTH = 512;
const namespaces = new Map<string, Namespace>();

function spellingAt(
  bytes: Buffer,
  start: number,
  { end, colon, hash }: { readonly end: number; readonly colon: number; readonly hash: number },
): Spelling {
  const slot = hash & (MAX_SPELLINGS - 1);
  const kept = spellings[slot];
  if (kept !== undefined && kept.bytes.length === end - start && sameBytes(kept.bytes, bytes, start))
    return kept;
  const localStart = colon < 0 ? start : colon + 1;
  const made = {
    text: bytes.toString('utf8', start, end),
    prefix: colon < 0 ? '' : bytes.toString('utf8', start, colon),
    local: bytes.toString('utf8', localStart, end),
    order: bytes.toString('latin1', localStart, end),
    bytes: Buffer.from(bytes.subarray(start, end)),
  };
  if (end - start <= MAX_SPELLING_LENGTH) spellings[slot] = made;
  return made;
}

function namespaceOfName(uri: string): Namespace {
  const kept = namespaces.get(uri);
  if (kept !== undefined) return kept;
  const made = { uri, order: Buffer.from(uri).toString('latin1'), escaped: escapeAttribute(uri) };
  if (uri.length <= MAX_NAMESPACE_LENGTH) {
    if (namespaces.size >= MAX_NAMESPACES) namespaces.clear();
    namespaces.set(uri, made);
  }
  return made;
}

const TABLE_SIZE = 2 * MAX_REMEMBERED;
/** Probes per hash lookup; names with more collisions are not cached. */
const MAX_PROBES = 8;

/** Name table, one per document, for all passes over it or over its parts. */
export class Names {
  readonly none: Prefix;
  readonly xml: Prefix;
  /** Start tags read with this table in all passes: distinguishes duplicate declarations in one tag from two tags. */
  tags = 0;
  /** By slot; an array with so few of its elements is a dictionary too, and a slow one. */
  readonly #names = new Map<number, Name>();
  readonly #prefixes = new Map<string, Prefix>();
  readonly #namespaces = new Map<string, Namespace>([['', NO_NAMESPACE]]);

  constructor() {
    this.none = this.#newPrefix('');
    this.none.namespace = NO_NAMESPACE;
    this.xml = this.#newPrefix('xml');
    this.xml.namespace = this.namespace(XML_NAMESPACE);
  }

  /** Number of prefixes the document has used so far. */
  get prefixes(): number {
    return this.#prefixes.size;
  }

  /** Returns the prefix if the document has used it. */
  prefix(text: string): Prefix | undefined {
    return this.#prefixes.get(text);
  }

  namespace(uri: string): Namespace {
    const cached = this.#namespaces.get(uri);
    if (cached !== undefined) return cached;
    const made = namespaceOfName(uri);
    if (this.#namespaces.size < MAX_REMEMBERED) this.#namespaces.set(uri, made);
    return made;
  }

  /**
   * Returns the name written at `start`..`end`; `colon` is the offset of its colon or -1, `hash` any number computed
   * from its bytes alone. Undefined when its prefix exceeds the limit.
   */
  at(
    bytes: Buffer,
    start: number,
    { end, colon, hash }: { readonly end: number; readonly colon: number; readonly hash: number },
  ): Name | undefined {
    const length = end - start;
    let slot = (hash >>> 0) % TABLE_SIZE;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const cached = this.#names.get(slot);
      if (cached === undefined) break;
      if (cached.bytes.length === length && sameBytes(cached.bytes, bytes, start)) return cached;
      slot = (slot + 1) % TABLE_SIZE;
    }
    const made = this.#newName(spellingAt(bytes, start, { end, colon, hash }));
    if (made !== undefined && this.#names.size < MAX_REMEMBERED && !this.#names.has(slot))
      this.#names.set(slot, made);
    return made;
  }

  #newName({ text, prefix: prefixText, local, order, bytes }: Spelling): Name | undefined {
    const prefix = this.declare(prefixText);
    return prefix && { text, prefix, local, order, bytes };
  }

  /** Returns the prefix, creating it when new; undefined when it exceeds the limit. */
  declare(text: string): Prefix | undefined {
    const cached = this.#prefixes.get(text);
    if (cached !== undefined) return cached;
    return this.#prefixes.size >= MAX_PREFIXES ? undefined : this.#newPrefix(text);
  }

  #newPrefix(text: string): Prefix {
    const bytes = Buffer.from(text);
    const made: Prefix = {
      text,
      order: bytes.toString('latin1'),
      bytes,
      index: this.#prefixes.size,
      namespace: undefined,
      declaredBy: 0,
    };
    this.#prefixes.set(text, made);
    return made;
  }
}

function sameBytes(cached: Buffer, bytes: Buffer, start: number): boolean {
  for (let index = 0; index < cached.length; index++) {
    if (cached[index] !== bytes[start + index]) return false;
  }
  return true;
}

const ATTRIBUTE_ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
};

/** Escapes an attribute value in canonical form (Canonical XML 1.0 §2.3), as UTF-8. */
function escapeAttribute(value: string): Buffer {
  return Buffer.from(value.replace(/[&<"\t\n\r]/g, (found) => ATTRIBUTE_ESCAPES[found] ?? found));
}
