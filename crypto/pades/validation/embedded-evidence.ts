/**
 * The document security store as evidence (ISO 32000-2, 12.8.4.3; ETSI EN 319 142-1, clause 5.4.2). Nothing in it is
 * trusted for being there, and what can't be read is passed over.
 */
import type { Evidence } from '../../authorities.ts';
import { basicOcsp, NO_EVIDENCE } from '../../cms/facts-evidence.ts';
import { items, PdfDamage, type PdfDocument, type Piece } from '../../pdf/index.ts';

/** More items than this in one store are not looked at. */
const MOST_ITEMS = 5000;

/** @returns nothing when the document has no store */
export function evidenceIn(pdf: PdfDocument): Evidence {
  const store = pdf.dict(pdf.catalog.get('DSS'));
  if (store === undefined) return NO_EVIDENCE;
  const lists = { Certs: [store.get('Certs')], CRLs: [store.get('CRLs')], OCSPs: [store.get('OCSPs')] };
  // Entries for single signatures list the same streams again; some writers put them only there.
  const related = pdf.dict(store.get('VRI'));
  for (const entry of related?.entries ?? []) {
    const own = pdf.dict(related?.valueAt(entry));
    lists.Certs.push(own?.get('Cert'));
    lists.CRLs.push(own?.get('CRL'));
    lists.OCSPs.push(own?.get('OCSP'));
  }
  const seen = new Set<number | string>();
  const read = (list: readonly (Piece | undefined)[]): Buffer[] =>
    list.flatMap((piece) => [...items(pdf.resolve(piece))].flatMap((item) => streamOnce(pdf, item, seen)));
  return {
    certificates: read(lists.Certs),
    crls: read(lists.CRLs),
    ocsps: read(lists.OCSPs).flatMap(basicOcsp),
  };
}

function streamOnce(pdf: PdfDocument, item: Piece, seen: Set<number | string>): Buffer[] {
  const name = item.bytes.toString('latin1', item.start, item.end);
  if (seen.has(name) || seen.size === MOST_ITEMS) return [];
  seen.add(name);
  try {
    const data = pdf.stream(item);
    return data === undefined ? [] : [data];
  } catch (error) {
    if (error instanceof PdfDamage) return [];
    throw error;
  }
}
