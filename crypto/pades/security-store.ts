/**
 * Document security store (ISO 32000-2, 12.8.4.3; ETSI EN 319 142-1, clause 5.4.2): certificates and revocation
 * values for the offline validation of the signatures of a PDF.
 */
import { createHash } from 'node:crypto';
import { ocspResponse } from '../cms/amend.ts';
import type { Evidence } from '../evidence/authorities.ts';
import {
  asReference,
  type ByteSource,
  items,
  type PdfDocument,
  type Reference,
  withPdf,
  writeRevision,
} from '../pdf/index.ts';
import { type DictUpdate, IncrementalUpdate, referenceText } from '../pdf/update/incremental-update.ts';

/** Evidence for one signature or document time-stamp. */
export interface StoreEntry {
  /** Key of its entry in /VRI: see `signatureKey`. */
  readonly key: string;
  readonly evidence: Evidence;
}

/**
 * Computes the key of a signature in /VRI: SHA-1 over the value of its /Contents with the zero padding, in upper-case
 * hexadecimal.
 * @param space bytes of the whole value
 */
export function signatureKey(signature: Buffer, space: number): string {
  const fill = Buffer.alloc(Math.max(0, space - signature.length));
  return createHash('sha1').update(signature).update(fill).digest('hex').toUpperCase();
}

/** Names of the lists in the store, and of the same lists in a /VRI entry. */
const LISTS = [
  { all: 'Certs', own: 'Cert' },
  { all: 'CRLs', own: 'CRL' },
  { all: 'OCSPs', own: 'OCSP' },
] as const;

type ListName = (typeof LISTS)[number]['all'];

/** Contents of an existing store. */
export interface SecurityStore {
  /** Keys in /VRI. */
  readonly keys: ReadonlySet<string>;
  /** DER of the certificates. */
  readonly certificates: readonly Buffer[];
}

/** Reads the store; an empty one when the document has none. @throws PdfSyntaxError for streams that can't be read */
export function readStore(pdf: PdfDocument): SecurityStore {
  const store = pdf.dict(pdf.catalog.get('DSS'));
  const vri = pdf.dict(store?.get('VRI'));
  return {
    keys: new Set(vri?.entries.map((entry) => vri.keyOf(entry).toUpperCase())),
    certificates: Array.from(
      items(pdf.resolve(store?.get('Certs'))),
      (item) => pdf.stream(item) ?? Buffer.alloc(0),
    ),
  };
}

/**
 * Builds the update that adds evidence to the store; existing values stay, and no value is added twice.
 * @param seed as in `writeRevision`
 * @throws {CryptoError} `pdf.*`, `input.too-large`
 */
export function storeUpdate(source: ByteSource, entries: readonly StoreEntry[], seed: string): Buffer {
  return withPdf(source, (pdf) => {
    const draft = new IncrementalUpdate(pdf);
    const store = storeOf(draft);
    const lists = {
      Certs: new StoreList(draft, store, 'Certs'),
      CRLs: new StoreList(draft, store, 'CRLs'),
      OCSPs: new StoreList(draft, store, 'OCSPs'),
    };
    for (const { key, evidence } of entries) {
      const values: { readonly [name in ListName]: readonly Buffer[] } = {
        Certs: evidence.certificates,
        CRLs: evidence.crls,
        OCSPs: evidence.ocsps.map(ocspResponse),
      };
      const own = LISTS.map(({ all, own }) => {
        const references = new Set(values[all].map((der) => lists[all].add(der)));
        return references.size === 0 ? '' : `/${own}[${[...references].join(' ')}]`;
      });
      store.child('VRI').set(key, `<</Type/VRI${own.join('')}>>`);
    }
    const lastByte = source.read(source.size - 1, 1)[0];
    return writeRevision({ xref: pdf.xref, size: source.size, lastByte, seed }, draft.objects()).bytes;
  });
}

function storeOf(draft: IncrementalUpdate): DictUpdate {
  if (draft.pdf.dict(draft.catalog.get('DSS')) !== undefined) return draft.catalog.child('DSS');
  const reference = draft.reserve();
  draft.catalog.set('DSS', referenceText(reference));
  const store = draft.dict(reference);
  store.set('Type', '/DSS');
  return store;
}

/** One list of the store, indexed by content. */
class StoreList {
  readonly #draft: IncrementalUpdate;
  readonly #store: DictUpdate;
  readonly #name: ListName;
  readonly #digests = new Map<string, string>();

  constructor(draft: IncrementalUpdate, store: DictUpdate, name: ListName) {
    this.#draft = draft;
    this.#store = store;
    this.#name = name;
    for (const item of items(draft.pdf.resolve(store.get(name)))) {
      const reference = asReference(item);
      const data = reference && draft.pdf.stream(item);
      if (data !== undefined) this.#digests.set(digestOf(data), referenceText(reference as Reference));
    }
  }

  /** Returns the reference to the stream with these bytes; adds it when it is new. */
  add(der: Buffer): string {
    const digest = digestOf(der);
    let reference = this.#digests.get(digest);
    if (reference === undefined) {
      const body = `<</Length ${der.length}>>\nstream\n${der.toString('latin1')}\nendstream`;
      reference = referenceText(this.#draft.add(body));
      this.#digests.set(digest, reference);
      this.#store.append(this.#name, reference);
    }
    return reference;
  }
}

function digestOf(data: Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}
