/**
 * Reads the document security store as evidence (ISO 32000-2, 12.8.4.3; ETSI EN 319 142-1, clause 5.4.2). Its
 * certificates are not trusted, and unreadable items are ignored.
 */
import { type Evidence, NO_EVIDENCE } from '../../evidence/authorities.ts';

import { basicOcsp, isReadableCrl } from '../../evidence/embedded-evidence.ts';
import {
  asDict,
  asReference,
  type ByteSlice,
  items,
  type PdfDict,
  type PdfDocument,
  PdfSyntaxError,
  referencesIn,
} from '../../pdf/index.ts';
import type { Coverage } from '../fields/signatures.ts';

/** Most items of one store. */
const MAX_ITEMS = 5000;

/** Items of the store of a document, and those that a document time-stamp covers. */
export interface EmbeddedEvidence {
  readonly evidence: Evidence;
  /** True when these bytes are not in the store, or are in the covered range. */
  isCovered(der: Buffer, coverage: Coverage): boolean;
  /** True when some revocation value is. */
  hasAnswerIn(coverage: Coverage): boolean;
}

interface Item {
  readonly der: Buffer;
  /** Range of the stream in the file; undefined when its data depends on other objects. */
  readonly place: { readonly start: number; readonly end: number } | undefined;
}

/**
 * Keys of the lists of streams in the store, and in a /VRI entry. Policies of ICP-Brasil have themselves in them, and their
 * approved lists with signatures (DOC-ICP-15.03).
 */
export const STORED = {
  DSS: ['Certs', 'OCSPs', 'CRLs', 'PBAD_PolicyArtifacts', 'PBAD_LpaArtifacts', 'PBAD_LpaSignatures'],
  VRI: ['Cert', 'OCSP', 'CRL', 'PBAD_PolicyArtifact', 'PBAD_LpaArtifact', 'PBAD_LpaSignature'],
} as const;

export const NO_EMBEDDED_EVIDENCE: EmbeddedEvidence = {
  evidence: NO_EVIDENCE,
  isCovered: () => true,
  hasAnswerIn: () => false,
};

/**
 * Decodes every stream once, for all later time-stamps.
 * @returns an empty result when the document has no store
 * @throws {WorkBudgetExceeded}
 */
export function embeddedEvidence(pdf: PdfDocument): EmbeddedEvidence {
  const store = pdf.dict(pdf.catalog.get('DSS'));
  if (store === undefined) return NO_EMBEDDED_EVIDENCE;
  const lists = { Certs: [store.get('Certs')], CRLs: [store.get('CRLs')], OCSPs: [store.get('OCSPs')] };
  // /VRI entries list the same streams again; some writers put streams only there.
  const related = pdf.dict(store.get('VRI'));
  for (const entry of related?.entries ?? []) {
    const own = pdf.dict(related?.valueAt(entry));
    lists.Certs.push(own?.get('Cert'));
    lists.CRLs.push(own?.get('CRL'));
    lists.OCSPs.push(own?.get('OCSP'));
  }
  const seen = new Set<number>();
  const read = (list: readonly (ByteSlice | undefined)[]): Item[] =>
    list.flatMap((slice) => [...items(pdf.resolve(slice))].flatMap((item) => itemOnce(pdf, item, seen)));
  const certificates = read(lists.Certs);
  const written = { crls: read(lists.CRLs), ocsps: read(lists.OCSPs) };
  const crls = written.crls.filter(({ der }) => isReadableCrl(der));
  const ocsps = written.ocsps.flatMap(({ der, place }) =>
    basicOcsp(der).map((basic) => ({ der: basic, place })),
  );
  const answers = [...crls, ...ocsps];
  const unread = written.crls.length + written.ocsps.length - answers.length;
  const ders = (list: readonly Item[]): Buffer[] => list.map(({ der }) => der);
  return {
    evidence: {
      certificates: ders(certificates),
      crls: ders(crls),
      ocsps: ders(ocsps),
      ...(unread > 0 && { unread }),
    },
    isCovered(der, coverage) {
      const same = [...certificates, ...answers].filter((item) => item.der.equals(der));
      return same.length === 0 || same.some((item) => isWithin(item, coverage));
    },
    hasAnswerIn: (coverage) => answers.some((item) => isWithin(item, coverage)),
  };
}

function isWithin({ place }: Item, { placeholderStart, placeholderEnd, end }: Coverage): boolean {
  if (place === undefined || place.end > end) return false;
  return place.end <= placeholderStart || place.start >= placeholderEnd;
}

function itemOnce(pdf: PdfDocument, slice: ByteSlice, seen: Set<number>): Item[] {
  const number = asReference(slice)?.number;
  if (number === undefined || seen.has(number) || seen.size === MAX_ITEMS) return [];
  seen.add(number);
  try {
    const der = pdf.stream(slice);
    return der === undefined ? [] : [{ der, place: placeOf(pdf, number) }];
  } catch (error) {
    if (error instanceof PdfSyntaxError) return [];
    throw error;
  }
}

/** Returns the range of a stream; filters and length in other objects, possibly later ones, exclude it. */
function placeOf(pdf: PdfDocument, number: number): Item['place'] {
  const object = pdf.plainObject(number);
  const length = pdf.packedStream(number)?.length;
  const dict = object === undefined ? undefined : asDict(object.value);
  if (object?.data === undefined || length === undefined || dict === undefined) return undefined;
  return isOwn(dict) ? { start: object.value.at + object.value.start, end: object.data + length } : undefined;
}

function isOwn(dict: PdfDict): boolean {
  const keys = ['Length', 'Filter', 'DecodeParms'];
  return keys.every((key) => {
    const value = dict.get(key);
    return value === undefined || (asReference(value) === undefined && referencesIn(value).length === 0);
  });
}
