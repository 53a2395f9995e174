/**
 * The revisions of a PDF (ISO 32000-2, 7.5.6) from its first signature on, and what each of them changed.
 */
import { type ByteSource, PdfDamage, type PdfDocument } from '../../pdf/index.ts';
import { CryptoError } from '../../types.ts';
import type { Work } from '../../work.ts';
import { type Change, forbidden } from './change.ts';
import { differencesBetween } from './differences.ts';
import { DocumentState, SharedReferences } from './document-state.ts';
import { hiddenObjects } from './hidden-objects.ts';
import { StatePair } from './state-pair.ts';

/** One revision that follows a signed one. */
export interface LaterRevision {
  /** 1-based, in the order of the file. */
  readonly number: number;
  /** Where it ends. */
  readonly end: number;
  readonly changes: readonly Change[];
}

/** Revisions after a signature that are compared; each costs a look at the whole structure. */
const MOST_REVISIONS = 1000;
/** Opening a state, its parts left out. */
const STEPS_PER_STATE = 50;
/** End marks at which it is tried whether a revision ends there. */
const MOST_LOOKS = 3000;
const MARK = '%%EOF';

export class RevisionHistory {
  readonly count: number;
  readonly #source: ByteSource;
  readonly #pdf: PdfDocument;
  readonly #sections: readonly number[];
  readonly #base: number;
  readonly #shared: SharedReferences;
  readonly #states = new Map<number, DocumentState | string>();

  /**
   * @param pdf the whole file, opened without repair
   * @param work counts what looking at revisions costs; OutOfWork comes through every method
   */
  constructor(source: ByteSource, pdf: PdfDocument, work: Work) {
    this.#shared = new SharedReferences(work);
    this.#source = source;
    this.#pdf = pdf;
    this.#sections = pdf.xref.sections;
    this.#base = pdf.xref.base;
    this.count = this.#numberOf(pdf.xref.sections[0]) ?? 1;
  }

  /** The document as its first `end` bytes make it; a sentence when they make none, or not one of this file's. */
  stateAt(end: number): DocumentState | string {
    let state = this.#states.get(end);
    if (state === undefined) {
      state = this.#open(end);
      this.#states.set(end, state);
    }
    return state;
  }

  /** 1-based; undefined for a state that is no revision of the file. */
  numberAt(end: number): number | undefined {
    const state = this.stateAt(end);
    return typeof state === 'string' ? undefined : this.#numberOf(state.pdf.xref.sections[0]);
  }

  #open(end: number): DocumentState | string {
    this.#shared.work.spend(STEPS_PER_STATE);
    if (end > this.#source.size) return `The file has ${this.#source.size} bytes, not ${end}.`;
    let state: DocumentState;
    try {
      const whole = end === this.#source.size ? this.#pdf : undefined;
      state = new DocumentState(this.#source, end, this.#shared, whole);
    } catch (error) {
      if (!(error instanceof PdfDamage) && !(error instanceof CryptoError)) throw error;
      return `The first ${end} bytes are no intact PDF: ${error.message}`;
    }
    const own = state.pdf.xref.sections;
    const from = this.#sections.length - own.length;
    const builtUpon = from >= 0 && own.every((section, index) => section === this.#sections[from + index]);
    return builtUpon ? state : `The file is not built upon its first ${end} bytes.`;
  }

  /** A linearized file has two sections in its first revision, the newer one before the older. */
  #numberOf(section: number | undefined): number | undefined {
    const oldestFirst = [...this.#sections].reverse();
    let number = 0;
    let previous = Number.POSITIVE_INFINITY;
    for (const each of oldestFirst) {
      if (number === 0 || each > previous) number++;
      previous = each;
      if (each === section) return number;
    }
    return undefined;
  }

  /**
   * What each revision after `from` changed, oldest first.
   * @param from end of the first signed state, which must be one
   * @param signed ends of all signed states
   */
  after(from: number, signed: readonly number[]): readonly LaterRevision[] {
    const revisions: LaterRevision[] = [];
    let before = this.stateAt(from);
    let looks = 0;
    for (const end of this.#ends(from, signed)) {
      if (looks++ === MOST_LOOKS) {
        revisions.push({
          number: this.count,
          end,
          changes: [forbidden('has more end marks than are looked at')],
        });
        return revisions;
      }
      const after = signed.includes(end) ? this.stateAt(end) : this.#open(end);
      if (typeof before === 'string' || typeof after === 'string') continue;
      if (after.pdf.xref.sections[0] === before.pdf.xref.sections[0]) continue;
      const number = this.#numberOf(after.pdf.xref.sections[0]) ?? 0;
      if (revisions.length === MOST_REVISIONS) {
        revisions.push({
          number,
          end,
          changes: [forbidden(`is beyond the ${MOST_REVISIONS} that are compared`)],
        });
        break;
      }
      revisions.push({ number, end, changes: this.#changes(before, after) });
      before = after;
    }
    const { size } = this.#source;
    const last = typeof before === 'string' ? size : before.end;
    if (last < size && !isBlank(this.#source, last)) {
      revisions.push({
        number: this.count + 1,
        end: size,
        changes: [forbidden('is no revision: its bytes belong to nothing')],
      });
    }
    return revisions;
  }

  #changes(before: DocumentState, after: DocumentState): readonly Change[] {
    try {
      const hidden = hiddenObjects(this.#source, before.end, after);
      return [...hidden.map(forbidden), ...differencesBetween(new StatePair(before, after))];
    } catch (error) {
      if (!(error instanceof PdfDamage) && !(error instanceof CryptoError)) throw error;
      return [forbidden(`can't be compared with the one before: ${error.message}`)];
    }
  }

  /** Where revisions may end: behind each end mark, where signatures say so, and at the end of the file. */
  *#ends(from: number, signed: readonly number[]): Generator<number> {
    const { size } = this.#source;
    const known = [...new Set([...signed.filter((end) => end > from), size])].sort(
      (left, right) => left - right,
    );
    let at = from;
    for (const end of known) {
      yield* this.#marks(at, end);
      yield end;
      at = end;
    }
  }

  /** Whether `startxref` with the place of one of the sections stands before an end mark. */
  #endsSection(mark: number): boolean {
    const text = this.#source.read(Math.max(0, mark - 64), Math.min(64, mark)).toString('latin1');
    const place = /startxref\s+(\d{1,15})\s*$/.exec(text)?.[1];
    return place !== undefined && this.#sections.includes(Number(place) + this.#base);
  }

  *#marks(from: number, to: number): Generator<number> {
    const piece = 1 << 20;
    for (let at = from; at < to; at += piece) {
      const bytes = this.#source.read(at, Math.min(piece + MARK.length - 1, to - at));
      for (
        let index = bytes.indexOf(MARK, 0, 'latin1');
        index >= 0;
        index = bytes.indexOf(MARK, index + 1, 'latin1')
      ) {
        if (!this.#endsSection(at + index)) continue;
        const end = at + index + MARK.length;
        const tail = this.#source.read(end, 2).toString('latin1');
        const whole = end + (tail === '\r\n' ? 2 : /^[\r\n]/.test(tail) ? 1 : 0);
        if (whole < to) yield whole;
      }
    }
  }
}

/** True when nothing but white space follows. */
function isBlank(source: ByteSource, from: number): boolean {
  const piece = 1 << 16;
  for (let at = from; at < source.size; at += piece) {
    if (/[^\0\t\n\f\r ]/.test(source.read(at, piece).toString('latin1'))) return false;
  }
  return true;
}
