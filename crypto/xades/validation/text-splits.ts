/**
 * Markup that canonicalization drops inside of text: comments, boundaries of CDATA sections, and excluded signatures.
 * Many programs read the first of the pieces alone, so such markup, which nobody signed, can change what they read.
 */
import type { XmlListener } from '../../xml/index.ts';

/** Byte offsets, up to a limit. */
export interface Offsets {
  readonly list: readonly number[];
  /** True: there are more than the list holds. */
  readonly more: boolean;
}

export interface TextSplits {
  readonly comments: Offsets;
  /** Comments in elements with text. */
  readonly commentsInText: Offsets;
  /** Starts and ends of CDATA sections that have other text beside them. */
  readonly sectionsInText: Offsets;
  /** Signatures with text before and after them in the same element. */
  readonly signaturesInText: Offsets;
}

const MAX_OFFSETS = 1000;

class OffsetList implements Offsets {
  readonly list: number[] = [];
  more = false;

  add(at: number): void {
    if (this.list.length < MAX_OFFSETS) this.list.push(at);
    else this.more = true;
  }

  addAll({ list, more }: Offsets): void {
    for (const at of list) this.add(at);
    if (more) this.more = true;
  }
}

/** Text between two tags, with the markup in it. */
class Run {
  /** White space counts too. */
  hasText = false;
  isFilled = false;
  readonly comments = new OffsetList();
  /** Boundaries and signatures that have text before them, and may have some after them. */
  sections = new OffsetList();
  signatures = new OffsetList();
}

/** Collects the offsets from the events of a reader. */
export class TextSplitFinder implements XmlListener, TextSplits {
  readonly comments = new OffsetList();
  readonly commentsInText = new OffsetList();
  readonly sectionsInText = new OffsetList();
  readonly signaturesInText = new OffsetList();
  readonly #bytes: Buffer;
  readonly #around: Run[] = [];
  #run = new Run();

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  startElement(): void {
    this.#endRun();
  }

  endElement(): void {
    this.#endRun();
  }

  /** Begins a signature that may be excluded, so that the text before and after it is one run. */
  enterSignature(start: number): void {
    if (this.#run.hasText) this.#run.signatures.add(start);
    this.#around.push(this.#run);
    this.#run = new Run();
  }

  leaveSignature(): void {
    this.#run = this.#around.pop() ?? new Run();
  }

  text(start: number, end: number): void {
    this.#characters(!isBlank(this.#bytes, start, end));
  }

  character(code: number): void {
    this.#characters(!isSpace(code));
  }

  instruction(): void {}

  comment(start: number): void {
    this.comments.add(start);
    if (this.#run.isFilled) this.commentsInText.add(start);
    else this.#run.comments.add(start);
  }

  section(at: number): void {
    if (this.#run.isFilled) this.#run.sections.add(at);
  }

  #characters(isFilled: boolean): void {
    const run = this.#run;
    if (isFilled && run.sections.list.length > 0) {
      this.sectionsInText.addAll(run.sections);
      run.sections = new OffsetList();
    }
    if (isFilled && !run.isFilled) this.commentsInText.addAll(run.comments);
    run.hasText = true;
    run.isFilled ||= isFilled;
    if (run.isFilled && run.signatures.list.length > 0) {
      this.signaturesInText.addAll(run.signatures);
      run.signatures = new OffsetList();
    }
  }

  #endRun(): void {
    const { hasText, comments } = this.#run;
    if (hasText || comments.list.length > 0) this.#run = new Run();
  }
}

// White space (XML 1.0 §2.3).

/** True when the bytes from `start` to `end` are white space. */
export function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!isSpace(bytes[at] ?? 0)) return false;
  return true;
}

export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}
