/**
 * Objects that lie in a revision although its cross-reference does not lead to them: some readers, and every reader
 * that repairs, would show them.
 */
import { asDict, asInteger, type ByteSource, PdfDamage } from '../../pdf/index.ts';
import type { DocumentState } from './document-state.ts';

const PIECE = 1 << 20;
/** Longest head of an object that is looked for, bytes. */
const OVERLAP = 64;
const HEAD = /(?<![0-9])([0-9]{1,10})[\0\t\n\f\r ]+[0-9]{1,5}[\0\t\n\f\r ]+obj(?![a-zA-Z])/g;
/** More than these are not listed. */
const MOST = 5;

/** Sentences about what is hidden in the bytes from `from` to the end of `state`. @throws PdfDamage */
export function hiddenObjects(source: ByteSource, from: number, state: DocumentState): readonly string[] {
  const found: string[] = [];
  let resume = from;
  for (let at = from; at < state.end && found.length < MOST; at += PIECE - OVERLAP) {
    if (resume >= at + PIECE) continue;
    const text = source.read(at, Math.min(PIECE, state.end - at)).toString('latin1');
    HEAD.lastIndex = Math.max(0, resume - at);
    for (let head = HEAD.exec(text); head !== null && found.length < MOST; head = HEAD.exec(text)) {
      const offset = at + head.index;
      const number = Number(head[1]);
      const end = endOf(state, number, offset);
      if (end === undefined) found.push(`holds object ${number} at offset ${offset}, to which nothing leads`);
      resume = end ?? offset + head[0].length;
      if (resume >= at + text.length) break;
      HEAD.lastIndex = resume - at;
    }
    resume = Math.max(resume, at + PIECE - OVERLAP);
  }
  return found;
}

/** Where the object ends that the cross-reference has at this offset; undefined when it has another one, or none. */
function endOf(state: DocumentState, number: number, offset: number): number | undefined {
  const { pdf } = state;
  const isSection = pdf.xref.sections.includes(offset);
  const entry = pdf.xref.entry(number);
  if (!isSection && (entry?.kind !== 'plain' || entry.offset + pdf.xref.base !== offset)) return undefined;
  if (entry?.kind !== 'plain' || entry.offset + pdf.xref.base !== offset) return offset + 1;
  try {
    const object = pdf.plainObject(number);
    if (object === undefined) return undefined;
    if (object.data === undefined) return object.value.at + object.value.end;
    const length = asInteger(pdf.resolve(asDict(object.value)?.get('Length')));
    const packed = pdf.packedStream(number);
    return object.data + (packed?.length ?? length ?? 0);
  } catch (error) {
    if (error instanceof PdfDamage) return undefined;
    throw error;
  }
}
