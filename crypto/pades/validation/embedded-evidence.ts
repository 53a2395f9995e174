/**
 * The document security store as evidence (ISO 32000-2, 12.8.4.3; ETSI EN 319 142-1, clause 5.4.2). Nothing in it is
 * trusted for being there, and what can't be read is passed over.
 */
import type { Evidence } from '../../authorities.ts';
import { NO_EVIDENCE } from '../../authorities.ts';
import { basicOcsp, isReadableCrl } from '../../cms/facts-evidence.ts';
import {
  asDict,
  asReference,
  items,
  PdfDamage,
  type PdfDict,
  type PdfDocument,
  type Piece,
  referencesIn,
} from '../../pdf/index.ts';
import type { Coverage } from '../signatures.ts';

/** More items than this in one store are not looked at. */
const MOST_ITEMS = 5000;

/** What the store of a document holds, and which of it a document time-stamp proves. */
export interface EmbeddedEvidence {
  readonly evidence: Evidence;
  /** Whether these bytes are no item of the store, or one that lies in what is covered. */
  isCovered(der: Buffer, coverage: Coverage): boolean;
  /** Whether some answer about revocation is. */
  hasAnswerIn(coverage: Coverage): boolean;
}

interface Item {
  readonly der: Buffer;
  /** Bytes of the file that make it up; undefined when it takes a part of what it is from elsewhere. */
  readonly place: { readonly start: number; readonly end: number } | undefined;
}

export const NO_EMBEDDED_EVIDENCE: EmbeddedEvidence = {
  evidence: NO_EVIDENCE,
  isCovered: () => true,
  hasAnswerIn: () => false,
};

/**
 * Unpacks every stream once, whichever time-stamps are asked about afterwards.
 * @returns nothing when the document has no store
 * @throws {OutOfWork}
 */
export function embeddedEvidence(pdf: PdfDocument): EmbeddedEvidence {
  const store = pdf.dict(pdf.catalog.get('DSS'));
  if (store === undefined) return NO_EMBEDDED_EVIDENCE;
  const lists = { Certs: [store.get('Certs')], CRLs: [store.get('CRLs')], OCSPs: [store.get('OCSPs')] };
  // Entries for single signatures list the same streams again; some writers put them only there.
  const related = pdf.dict(store.get('VRI'));
  for (const entry of related?.entries ?? []) {
    const own = pdf.dict(related?.valueAt(entry));
    lists.Certs.push(own?.get('Cert'));
    lists.CRLs.push(own?.get('CRL'));
    lists.OCSPs.push(own?.get('OCSP'));
  }
  const seen = new Set<number>();
  const read = (list: readonly (Piece | undefined)[]): Item[] =>
    list.flatMap((piece) => [...items(pdf.resolve(piece))].flatMap((item) => itemOnce(pdf, item, seen)));
  const certificates = read(lists.Certs);
  const crls = read(lists.CRLs).filter(({ der }) => isReadableCrl(der));
  const ocsps = read(lists.OCSPs).flatMap(({ der, place }) =>
    basicOcsp(der).map((basic) => ({ der: basic, place })),
  );
  const answers = [...crls, ...ocsps];
  const ders = (list: readonly Item[]): Buffer[] => list.map(({ der }) => der);
  return {
    evidence: { certificates: ders(certificates), crls: ders(crls), ocsps: ders(ocsps) },
    isCovered(der, coverage) {
      const same = answers.filter((item) => item.der.equals(der));
      return same.length === 0 || same.some((item) => liesIn(item, coverage));
    },
    hasAnswerIn: (coverage) => answers.some((item) => liesIn(item, coverage)),
  };
}

function liesIn({ place }: Item, { holeStart, holeEnd, end }: Coverage): boolean {
  if (place === undefined || place.end > end) return false;
  return place.end <= holeStart || place.start >= holeEnd;
}

function itemOnce(pdf: PdfDocument, piece: Piece, seen: Set<number>): Item[] {
  const number = asReference(piece)?.number;
  if (number === undefined || seen.has(number) || seen.size === MOST_ITEMS) return [];
  seen.add(number);
  try {
    const der = pdf.stream(piece);
    return der === undefined ? [] : [{ der, place: placeOf(pdf, number) }];
  } catch (error) {
    if (error instanceof PdfDamage) return [];
    throw error;
  }
}

/** How a stream is unpacked, and how long it is, may stand in other objects, which may have come later. */
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
