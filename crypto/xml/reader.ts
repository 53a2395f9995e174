/**
 * Strict streaming reader of XML 1.0 (fifth edition) with namespaces: checks well-formedness and reports events to a
 * listener, without building a tree.
 *
 * Document type definitions are not supported by intention: `<!DOCTYPE` gives `xml.dtd`. This excludes entity
 * expansion, external entities and defaulted attributes.
 */
import {
  AMPERSAND,
  BANG,
  BRACKET_CLOSE,
  CR,
  GREATER,
  HYPHEN,
  isSpace,
  LESS,
  LF,
  PLAIN_STOP,
  QUESTION,
  SLASH,
  TEXT_STOP,
} from './characters.ts';
import type { XmlListener } from './events.ts';
import { MAX_DECLARATION_LENGTH, MAX_DEPTH, UnreadXml } from './limits.ts';
import { type Name, Names } from './names.ts';
import { Scanner } from './scanner.ts';
import { bindScope, type Scope } from './scope.ts';
import { TagReader } from './tags.ts';

/** Byte offsets of the parts of the root element. */
export interface RootPlace {
  /** Offset of `<` of the start tag; `contentStart` is after its `>`. */
  readonly start: number;
  readonly contentStart: number;
  /** Offset of `<` of the end tag (for an empty-element tag: after its `>`); `end` is after the last `>`. */
  readonly contentEnd: number;
  readonly end: number;
  /** True for an empty-element tag. */
  readonly empty: boolean;
  /** The root's name as written. */
  readonly name: string;
}

/**
 * Reads a whole document.
 * @param bytes valid UTF-8 without byte order mark
 * @param names a new table, for a listener that looks up prefixes itself
 * @param skips see `SkippedElements`; only for a document that was read before
 * @throws CryptoError `xml.malformed` (with line and column), `xml.dtd`, `xml.too-deep`.
 */
export function readXml(
  bytes: Buffer,
  listener: XmlListener,
  names = new Names(),
  skips: SkippedElements = [],
): RootPlace {
  return new Reader(bytes, listener, names, skips).document();
}

/** Elements to skip: in order, not nested, and not the outermost element. */
export type SkippedElements = readonly { readonly start: number; readonly end: number }[];

/**
 * Reads one element of a document that was read before; namespaces in scope are those of its position there.
 * @param place range of the element in `bytes`
 * @throws CryptoError as `readXml`.
 */
export function readElement(
  bytes: Buffer,
  place: { readonly start: number; readonly scope: Scope | undefined },
  {
    listener,
    names,
    skips = [],
  }: {
    readonly listener: XmlListener;
    /** The table of the first reading. */
    readonly names: Names;
    readonly skips?: SkippedElements | undefined;
  },
): void {
  const restore = bindScope(place.scope);
  try {
    new Reader(bytes, listener, names, skips).element(place.start);
  } finally {
    restore();
  }
}

/** An open element. */
interface Open {
  readonly name: Name;
  readonly mark: number;
}

class Reader {
  readonly #scanner: Scanner;
  readonly #tags: TagReader;
  readonly #listener: XmlListener;
  readonly #open: Open[] = [];
  readonly #skips: SkippedElements;
  #skipped = 0;
  /** Start of the next element to skip. */
  #skipAt: number;

  constructor(bytes: Buffer, listener: XmlListener, names: Names, skips: SkippedElements) {
    this.#scanner = new Scanner(bytes, names);
    this.#tags = new TagReader(this.#scanner);
    this.#listener = listener;
    this.#skips = skips;
    this.#skipAt = skips[0]?.start ?? -1;
  }

  document(): RootPlace {
    const scanner = this.#scanner;
    if (scanner.accept('<?xml') && !isSpace(scanner.peek())) scanner.position = 0;
    if (scanner.position > 0) this.#declaration();
    this.#misc();
    if (scanner.atEnd) throw scanner.fail('there is no element');
    if (scanner.peek() !== LESS) throw scanner.fail('text stands outside the root element');
    const place = this.#root();
    this.#misc();
    if (!scanner.atEnd) {
      throw scanner.fail(
        scanner.peek() === LESS
          ? 'there is more than one root element'
          : 'text stands outside the root element',
      );
    }
    return place;
  }

  element(start: number): void {
    this.#scanner.position = start;
    while (this.#skipAt >= 0 && this.#skipAt < start)
      this.#skipAt = this.#skips[++this.#skipped]?.start ?? -1;
    this.#root();
  }

  /** Reads XML 1.0 production [23]; only its syntax is checked, the encoding is already handled. */
  #declaration(): void {
    const scanner = this.#scanner;
    const end = scanner.bytes.indexOf('?>', scanner.position);
    const spelt = end >= 0 && end <= MAX_DECLARATION_LENGTH;
    const found = spelt ? DECLARATION.exec(scanner.bytes.toString('latin1', scanner.position, end)) : null;
    if (found === null) throw scanner.fail('the XML declaration is not spelt as it must be', 0);
    if (found[2] !== '1.0')
      throw scanner.unread(`only XML version 1.0 has a canonical form, not ${found[2]}`, 0);
    scanner.position = end + 2;
  }

  /** Reads comments, processing instructions and white space outside the root. */
  #misc(): void {
    const scanner = this.#scanner;
    for (;;) {
      scanner.skipSpace();
      if (scanner.peek() !== LESS) return;
      const next = scanner.peek(1);
      if (next === QUESTION) this.#instruction();
      else if (next === BANG && scanner.peek(2) === HYPHEN) this.#comment();
      else if (next === BANG) throw this.#declarationHere();
      else return;
    }
  }

  #declarationHere(): Error {
    const scanner = this.#scanner;
    if (/^<!DOCTYPE/i.test(scanner.bytes.toString('latin1', scanner.position, scanner.position + 9))) {
      return new UnreadXml(
        'xml.dtd',
        'The XML has a document type declaration (<!DOCTYPE); such documents are neither signed nor validated, because what they mean may depend on entities and files outside them.',
      );
    }
    return scanner.fail('"<!" begins nothing that may stand here');
  }

  #root(): RootPlace {
    const scanner = this.#scanner;
    const start = scanner.position;
    const first = this.#element();
    const place = { start, contentStart: first.end, name: first.name.text, empty: first.empty };
    let contentEnd = scanner.position;
    while (this.#open.length > 0) {
      this.#characters();
      if (scanner.atEnd)
        throw scanner.fail(`the document ends inside the element "${this.#open.at(-1)?.name.text}"`);
      const next = scanner.peek(1);
      if (next === SLASH) {
        contentEnd = scanner.position;
        this.#endTag();
      } else if (next === BANG) {
        if (scanner.peek(2) === HYPHEN) this.#comment();
        else if (scanner.accept('<![CDATA[')) this.#cdata();
        else throw this.#declarationHere();
      } else if (next === QUESTION) {
        this.#instruction();
      } else if (scanner.position === this.#skipAt) {
        this.#skip();
      } else {
        this.#element();
      }
    }
    return { contentEnd, end: scanner.position, ...place };
  }

  #skip(): void {
    const skipped = this.#skips[this.#skipped++];
    if (skipped !== undefined) this.#scanner.position = skipped.end;
    this.#skipAt = this.#skips[this.#skipped]?.start ?? -1;
  }

  #element(): { readonly name: Name; readonly end: number; readonly empty: boolean } {
    const mark = this.#tags.mark;
    const at = this.#scanner.position;
    const tag = this.#tags.read();
    if (this.#open.length >= MAX_DEPTH) {
      throw new UnreadXml('xml.too-deep', `The XML nests more than ${MAX_DEPTH} elements (byte ${at}).`);
    }
    this.#listener.startElement(tag);
    if (tag.empty) {
      this.#listener.endElement(tag.name, tag.end, tag.end, false);
      this.#tags.release(mark);
    } else {
      this.#open.push({ name: tag.name, mark });
    }
    return tag;
  }

  #endTag(): void {
    const scanner = this.#scanner;
    const { bytes } = scanner;
    const start = scanner.position;
    const open = this.#open.pop() as Open;
    const expected = open.name.bytes;
    let at = start + 2;
    for (let index = 0; index < expected.length; index++, at++) {
      if (bytes[at] !== expected[index]) throw scanner.fail(`"</${open.name.text}>" is expected here`, start);
    }
    scanner.position = at;
    const spaces = scanner.skipSpace();
    if (scanner.peek() !== GREATER) throw scanner.fail(`"</${open.name.text}>" is expected here`, start);
    scanner.position++;
    this.#listener.endElement(open.name, start, scanner.position, spaces === 0);
    this.#tags.release(open.mark);
  }

  /** Reads character data up to the next markup. */
  #characters(): void {
    const scanner = this.#scanner;
    const listener = this.#listener;
    const { bytes } = scanner;
    let start = scanner.position;
    let at = start;
    for (;;) {
      while (at < bytes.length && TEXT_STOP[bytes[at] as number] === 0) at++;
      const byte = bytes[at];
      if (byte === 0xef) {
        scanner.checkCharacter(at++);
        continue;
      }
      if (at > start) listener.text(start, at);
      if (byte === LESS || byte === undefined) break;
      if (byte === AMPERSAND) {
        scanner.position = at;
        listener.character(scanner.reference());
        at = scanner.position;
      } else if (byte === GREATER) {
        if (at >= start + 2 && bytes[at - 1] === BRACKET_CLOSE && bytes[at - 2] === BRACKET_CLOSE) {
          throw scanner.fail('"]]>" is not allowed in text', at - 2);
        }
        listener.character(GREATER);
        at++;
      } else if (byte === CR) {
        // A CR before LF is dropped; the LF starts the next run.
        if (bytes[++at] !== LF) listener.character(LF);
      } else {
        scanner.checkCharacter(at);
      }
      start = at;
    }
    scanner.position = at;
  }

  /** Reads the content of a CDATA section; the position is after `<![CDATA[`. */
  #cdata(): void {
    const scanner = this.#scanner;
    const listener = this.#listener;
    const { bytes } = scanner;
    const end = bytes.indexOf(']]>', scanner.position);
    if (end < 0) throw scanner.fail('the document ends inside a CDATA section');
    let start = scanner.position;
    listener.section?.(start);
    for (let at = start; at <= end; at++) {
      const byte = bytes[at] as number;
      if (at < end && (TEXT_STOP[byte] === 0 || byte === 0xef)) {
        if (byte === 0xef) scanner.checkCharacter(at);
        continue;
      }
      if (at > start) listener.text(start, at);
      start = at + 1;
      if (at === end) break;
      scanner.checkCharacter(at);
      if (byte !== CR) listener.character(byte);
      else if (bytes[at + 1] !== LF) listener.character(LF);
    }
    listener.section?.(end);
    scanner.position = end + 3;
  }

  #comment(): void {
    const scanner = this.#scanner;
    if (!scanner.accept('<!--')) throw scanner.fail('"<!-" begins nothing that may stand here');
    const dashes = scanner.bytes.indexOf('--', scanner.position);
    if (dashes < 0) throw scanner.fail('the document ends inside a comment');
    if (scanner.bytes[dashes + 2] !== GREATER)
      throw scanner.fail('"--" is not allowed inside a comment', dashes);
    const start = scanner.position;
    this.#checkPlain(start, dashes);
    scanner.position = dashes + 3;
    this.#listener.comment(start, dashes);
  }

  #instruction(): void {
    const scanner = this.#scanner;
    const start = scanner.position;
    scanner.position += 2;
    const target = scanner.name('the target of a processing instruction');
    if (target.text.toLowerCase() === 'xml') {
      throw scanner.fail('an XML declaration may stand only at the very beginning', start);
    }
    const spaces = scanner.skipSpace();
    const end = scanner.bytes.indexOf('?>', scanner.position);
    if (end < 0) throw scanner.fail('the document ends inside a processing instruction');
    if (spaces === 0 && end > scanner.position) {
      throw scanner.fail('white space is needed after the target of a processing instruction');
    }
    this.#checkPlain(scanner.position, end);
    this.#listener.instruction(target, scanner.position, end);
    scanner.position = end + 2;
  }

  #checkPlain(start: number, end: number): void {
    const { bytes } = this.#scanner;
    for (let at = start; at < end; at++) {
      if (PLAIN_STOP[bytes[at] as number] !== 0) this.#scanner.checkCharacter(at);
    }
  }
}

const DECLARATION =
  /^\s+version\s*=\s*(["'])(1\.[0-9]+)\1(?:\s+encoding\s*=\s*(["'])[A-Za-z][A-Za-z0-9._-]*\3)?(?:\s+standalone\s*=\s*(["'])(?:yes|no)\4)?\s*$/;
