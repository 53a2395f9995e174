/**
 * Finds objects in a revision that its cross-reference does not list: some readers, and every reader
 * that repairs, would show them.
 */
import { asDict, asInteger, type ByteSource, PdfSyntaxError, referencesIn } from '../../pdf/index.ts';
import { type Change, forbidden } from './change.ts';
import type { DocumentState } from './document-state.ts';

const CHUNK_BYTES = 1 << 20;
/** Longest object header that is searched for, bytes. */
const OVERLAP = 64;
const HEAD =
  /(?<![0-9])([0-9]{1,10})[\0\t\n\f\r ]+[0-9]{1,5}[\0\t\n\f\r ]+obj(?![a-zA-Z])|(?<![a-zA-Z])(?:xref|trailer)(?![a-zA-Z])/g;
/** Most forbidden hidden objects reported, and most harmless ones. */
const MAX_REPORTED = 5;

/**
 * Returns the hidden objects in the bytes from `from` to the end of `state`. An unused and unreferenced object number
 * is harmless, even after a repair.
 * @throws PdfSyntaxError; WorkBudgetExceeded
 */
export function hiddenObjects(source: ByteSource, from: number, state: DocumentState): readonly Change[] {
  const found: Change[] = [];
  const harmless: Change[] = [];
  let referred: ReadonlySet<number> | undefined;
  const judged = (number: number, offset: number): Change => {
    const description = `holds object ${number} at offset ${offset}, to which nothing leads`;
    if (state.has(number) || isStructure(source, offset, state.end)) return forbidden(description);
    referred ??= referredNumbers(state);
    return referred.has(number) ? forbidden(description) : { kind: 'metadata', description };
  };
  const sections = state.pdf.xref.sections;
  let trailers = 0;
  /** Reports a cross-reference, or a trailer, that is not part of the chain: repairing readers may follow it. */
  const judgedKeyword = (keyword: string, offset: number): Change | undefined => {
    if (keyword === 'xref') {
      if (!sections.some((section) => section <= offset && isBlank(source, section, offset)))
        return forbidden(`holds a cross-reference at offset ${offset}, to which nothing leads`);
      trailers++;
    } else if (trailers-- <= 0)
      return forbidden(`holds a trailer at offset ${offset}, to which nothing leads`);
    return undefined;
  };
  let resume = from;
  for (let at = from; at < state.end && found.length < MAX_REPORTED; at += CHUNK_BYTES - OVERLAP) {
    if (resume >= at + CHUNK_BYTES) continue;
    const text = source.read(at, Math.min(CHUNK_BYTES, state.end - at)).toString('latin1');
    HEAD.lastIndex = Math.max(0, resume - at);
    for (let head = HEAD.exec(text); head !== null && found.length < MAX_REPORTED; head = HEAD.exec(text)) {
      const offset = at + head.index;
      if (head[1] === undefined) {
        const change = judgedKeyword(head[0], offset);
        if (change !== undefined) found.push(change);
        resume = offset + head[0].length;
        continue;
      }
      const number = Number(head[1]);
      const end = endOf(state, number, offset);
      if (end === undefined) {
        const change = judged(number, offset);
        (change.kind === 'forbidden' ? found : harmless).push(change);
      }
      resume = end ?? offset + head[0].length;
      if (resume >= at + text.length) break;
      HEAD.lastIndex = resume - at;
    }
    resume = Math.max(resume, at + CHUNK_BYTES - OVERLAP);
  }
  return [...found, ...harmless.slice(0, MAX_REPORTED)];
}

/** Bytes of an object in which its type is searched for. */
const LOOK_AHEAD = 4096;

/** True for an object from which repairing readers could rebuild another document, however its names are written. */
function isStructure(source: ByteSource, offset: number, end: number): boolean {
  const text = source.read(offset, Math.min(LOOK_AHEAD, end - offset)).toString('latin1');
  const own = text.slice(0, text.indexOf('endobj') + 1 || text.length);
  const plain = own.replace(/#([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return /\/(?:Catalog|Pages?|Kids|Root|XRef|ObjStm)(?![a-zA-Z0-9])/.test(plain);
}

/** Longest white space before a cross-reference. */
const MAX_SPACE = 64;

function isBlank(source: ByteSource, from: number, to: number): boolean {
  return to - from <= MAX_SPACE && /^[\0\t\n\f\r ]*$/.test(source.read(from, to - from).toString('latin1'));
}

/**
 * Returns the end of the object at this offset; undefined when the cross-reference lists another object there, or
 * none.
 */
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
    if (error instanceof PdfSyntaxError) return undefined;
    throw error;
  }
}

/** Returns every object number that is reachable from the trailer. @throws WorkBudgetExceeded */
function referredNumbers(state: DocumentState): ReadonlySet<number> {
  const seen = new Set<number>();
  const open = [...referencesIn(state.pdf.xref.trailer)];
  for (let number = open.pop(); number !== undefined; number = open.pop()) {
    if (seen.has(number)) continue;
    seen.add(number);
    for (const next of state.references(number) ?? []) if (!seen.has(next)) open.push(next);
  }
  return seen;
}
