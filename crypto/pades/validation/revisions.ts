/** Revisions of a PDF (ISO 32000-2, 7.5.6) from its first signature on, with their changes. */

import { CryptoError } from '../../core/types.ts';
import type { WorkBudget } from '../../core/work-budget.ts';
import { type ByteSource, type PdfDocument, PdfSyntaxError } from '../../pdf/index.ts';
import { type Change, forbidden } from './change-policy.ts';
import { differencesBetween } from './differences.ts';
import { DocumentState, SharedReferences } from './document-state.ts';
import { hiddenObjects } from './hidden-objects.ts';
import { ObjectComparison } from './object-comparison.ts';

/** One revision that follows a signed one. */
export interface LaterRevision {
  /** Number from 1, in the order of the file. */
  readonly number: number;
  /** Offset of its end. */
  readonly end: number;
  readonly changes: readonly Change[];
}

/** Most revisions compared after a signature; each costs reading the whole structure. */
const MAX_REVISIONS = 1000;
/** Steps for opening a state. */
const STEPS_PER_STATE = 50;
/** Most end marks tried as ends of revisions. */
const MAX_STATES_READ = 3000;
const MARK = '%%EOF';
/** Bytes at the end of a file in which all readers search `startxref`. */
const TAIL = 1024;
/** Longest white space before a section. */
const MAX_SPACE = 64;

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
   * @param work work budget; every method may throw WorkBudgetExceeded
   */
  constructor(source: ByteSource, pdf: PdfDocument, work: WorkBudget) {
    this.#shared = new SharedReferences(work);
    this.#source = source;
    this.#pdf = pdf;
    this.#sections = pdf.xref.sections;
    this.#base = pdf.xref.base;
    this.count = this.#numberOf(pdf.xref.sections[0]) ?? 1;
  }

  /** Opens the document of the first `end` bytes; returns the reason when these bytes are not a state of this file. */
  stateAt(end: number): DocumentState | string {
    let state = this.#states.get(end);
    if (state === undefined) {
      state = this.#open(end);
      this.#states.set(end, state);
    }
    return state;
  }

  /** Returns the 1-based number; undefined for a state that is not a revision of the file. */
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
      if (!(error instanceof PdfSyntaxError) && !(error instanceof CryptoError)) throw error;
      return `The first ${end} bytes are no intact PDF: ${error.message}`;
    }
    const own = state.pdf.xref.sections;
    const from = this.#sections.length - own.length;
    const builtUpon = from >= 0 && own.every((section, index) => section === this.#sections[from + index]);
    return builtUpon ? state : `The file is not built upon its first ${end} bytes.`;
  }

  /** Counts the first revision of a linearized file once; it has two sections, the newer one first. */
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
   * Returns the changes of each revision after `from`, oldest first.
   * @param from end of the first signed state, which must be valid
   * @param signed ends of all signed states
   */
  after(from: number, signed: readonly number[]): readonly LaterRevision[] {
    const revisions: LaterRevision[] = [];
    let before = this.stateAt(from);
    let looks = 0;
    for (const end of this.#ends(from, signed)) {
      if (looks++ === MAX_STATES_READ) {
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
      if (revisions.length === MAX_REVISIONS) {
        revisions.push({
          number,
          end,
          changes: [forbidden(`is beyond the ${MAX_REVISIONS} that are compared`)],
        });
        break;
      }
      revisions.push({ number, end, changes: this.#changes(before, after) });
      before = after;
    }
    const { size } = this.#source;
    const last = typeof before === 'string' ? size : before.end;
    const tail = tailOf(this.#source, last);
    const add = (change: Change): void => {
      revisions.push({ number: this.count + 1, end: size, changes: [change] });
    };
    const isFar = size > from && !this.#isReachable(size);
    if (isFar && (tail === 'forbidden' || !this.#isReachable(last)))
      add(forbidden('leaves the file without a startxref that leads to its cross-reference'));
    const kind = isFar && tail !== 'forbidden' ? 'stray' : tail;
    if (kind !== 'none') add({ kind, description: 'is no revision: its bytes belong to nothing' });
    return revisions;
  }

  /** True when `startxref` is where all readers of the first `size` bytes search it, and leads exactly to the newest section. */
  #isReachable(size: number): boolean {
    const from = Math.max(0, size - TAIL);
    const tail = this.#source.read(from, size - from).toString('latin1');
    const last = tail.slice(Math.max(0, tail.lastIndexOf('startxref')));
    const [, place] = /^startxref\s+(\d{1,15})/.exec(last) ?? [];
    const [newest] = this.#sections;
    if (place === undefined || newest === undefined) return false;
    const claimed = Number(place) + this.#base;
    if (claimed > newest || newest - claimed > MAX_SPACE) return false;
    return isSpace(this.#source, claimed, newest);
  }

  #changes(before: DocumentState, after: DocumentState): readonly Change[] {
    try {
      const hidden = hiddenObjects(this.#source, before, after);
      return [...hidden, ...differencesBetween(new ObjectComparison(before, after))];
    } catch (error) {
      if (!(error instanceof PdfSyntaxError) && !(error instanceof CryptoError)) throw error;
      return [forbidden(`can't be compared with the one before: ${error.message}`)];
    }
  }

  /**
   * Returns the offsets where revisions may end: after each end mark, at the end of each coverage, and at the end of
   * the file.
   */
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

  /** True when `startxref` with the offset of a section precedes an end mark. */
  #endsSection(mark: number): boolean {
    const text = this.#source.read(Math.max(0, mark - 64), Math.min(64, mark)).toString('latin1');
    const place = /startxref\s+(\d{1,15})\s*$/.exec(text)?.[1];
    return place !== undefined && this.#sections.includes(Number(place) + this.#base);
  }

  *#marks(from: number, to: number): Generator<number> {
    const chunk = 1 << 20;
    for (let at = from; at < to; at += chunk) {
      const bytes = this.#source.read(at, Math.min(chunk + MARK.length - 1, to - at));
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

/** Words by which programs that repair a file find its parts. */
const PARTS = /obj|xref|trailer|stream|%%EOF|%PDF|\/ByteRange/i;
/** Most bytes after the end that are looked at. */
const MAX_TAIL = 64 << 10;
/** End marks, which are comments to every reader: one that stands alone ends nothing. */
const END_MARKS = /^(?:[\0\t\n\f\r ]|%%EOF(?=[\0\t\n\f\r ]|$))*$/;
/** A comment of HTML, which web servers append to what they deliver. */
const COMMENT = /^\s*<!--([\x20-\x7e\t\r\n]*)-->\s*$/;

/** Judges the bytes after the end of the last revision. */
function tailOf(source: ByteSource, from: number): 'none' | 'padding' | 'stray' | 'forbidden' {
  const length = source.size - from;
  if (length > MAX_TAIL) return isSpace(source, from, source.size) ? 'none' : 'forbidden';
  const text = source.read(from, length).toString('latin1');
  if (length > TAIL)
    return isSpace(source, from, source.size) ? 'none' : PARTS.test(text) ? 'forbidden' : 'stray';
  if (END_MARKS.test(text)) return 'none';
  // Old systems end a file with Ctrl-Z.
  if (END_MARKS.test(text.replaceAll('\x1a', ' '))) return 'padding';
  if (PARTS.test(text)) return 'forbidden';
  const [, comment] = COMMENT.exec(text) ?? [];
  return comment !== undefined && !/[<>/]/.test(comment) ? 'padding' : 'stray';
}

/** True for white space alone. */
function isSpace(source: ByteSource, from: number, to: number): boolean {
  const chunk = 1 << 16;
  for (let at = from; at < to; at += chunk) {
    if (/[^\0\t\n\f\r ]/.test(source.read(at, Math.min(chunk, to - at)).toString('latin1'))) return false;
  }
  return true;
}
