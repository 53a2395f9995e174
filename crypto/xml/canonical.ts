/**
 * Exclusive XML Canonicalization 1.0 without comments, as a listener of the reader: canonical bytes go into a sink
 * (a hash, as a rule) while the document is read, and nothing of it is kept.
 *
 * Rules: https://www.w3.org/TR/xml-exc-c14n/ §3, and Canonical XML 1.0 §2 for everything it takes over from there.
 */
import { AMPERSAND, CR, GREATER, LESS, LF, QUOTE, TAB, writeCodePoint } from './characters.ts';
import type { Attribute, StartTag, XmlListener } from './events.ts';
import { type Name, type Namespace, NO_NAMESPACE, type Prefix } from './names.ts';

/** Takes canonical bytes in order. The buffer is used again afterwards. */
export interface ByteSink {
  update(bytes: Buffer): unknown;
}

/** Ranges of the source at least this long go to the sink directly instead of through the chunk. */
const DIRECT = 1024;
const CHUNK = 16 * 1024;

const ESCAPES = {
  text: escapes([
    [AMPERSAND, '&amp;'],
    [LESS, '&lt;'],
    [GREATER, '&gt;'],
    [CR, '&#xD;'],
  ]),
  value: escapes([
    [AMPERSAND, '&amp;'],
    [LESS, '&lt;'],
    [QUOTE, '&quot;'],
    [TAB, '&#x9;'],
    [LF, '&#xA;'],
    [CR, '&#xD;'],
  ]),
};
const XMLNS = Buffer.from(' xmlns');
const END_OPEN = Buffer.from('</');
const PI_OPEN = Buffer.from('<?');
const PI_CLOSE = Buffer.from('?>');
const VALUE_OPEN = Buffer.from('="');

function escapes(pairs: readonly (readonly [number, string])[]): readonly (Buffer | undefined)[] {
  const table: (Buffer | undefined)[] = new Array(128).fill(undefined);
  for (const [byte, text] of pairs) table[byte] = Buffer.from(text);
  return table;
}

/**
 * Canonicalizes what it is told: a whole document, or one element when it only hears of that element and what is
 * inside it. `finish` must be called at the end.
 */
export class ExclusiveCanonicalizer implements XmlListener {
  readonly #source: Buffer;
  readonly #sink: ByteSink;
  readonly #chunk: Buffer;
  #filled = 0;
  /** A range of the source that is canonical and not yet passed on; runs that follow each other grow it. */
  #runStart = 0;
  #runEnd = 0;
  #depth = 0;
  #rootSeen = false;
  /** By prefix index: the namespace the nearest output ancestor has written for the prefix. */
  readonly #written: (Namespace | undefined)[] = [];
  readonly #shadowed: { readonly prefix: Prefix; readonly namespace: Namespace | undefined }[] = [];
  readonly #marks: number[] = [];
  /** Prefixes whose declaration the present tag has to write. */
  readonly #fresh: Prefix[] = [];

  constructor(source: Buffer, sink: ByteSink) {
    this.#source = source;
    this.#sink = sink;
    this.#chunk = Buffer.allocUnsafe(Math.min(CHUNK, source.length + 64));
  }

  startElement(tag: StartTag): void {
    this.#depth++;
    this.#rootSeen = true;
    this.#marks.push(this.#shadowed.length);
    if (this.#fresh.length > 0) this.#fresh.length = 0;
    this.#utilise(tag.name.prefix, tag.namespace);
    let sorted = true;
    for (let index = 0; index < tag.attributeCount; index++) {
      const attribute = tag.attributes[index] as Attribute;
      const { prefix } = attribute.name;
      if (prefix.text !== '') this.#utilise(prefix, attribute.namespace);
      if (index > 0 && sorted)
        sorted = compareAttributes(tag.attributes[index - 1] as Attribute, attribute) < 0;
    }
    if (tag.plain && sorted && this.#fresh.length === 0) {
      this.#run(tag.start, tag.end);
      return;
    }
    this.#byte(LESS);
    this.#bytes(tag.name.bytes);
    this.#declarations();
    if (sorted) {
      for (let index = 0; index < tag.attributeCount; index++)
        this.#attribute(tag.attributes[index] as Attribute);
    } else {
      for (const attribute of tag.attributes.slice(0, tag.attributeCount).sort(compareAttributes)) {
        this.#attribute(attribute);
      }
    }
    this.#byte(GREATER);
  }

  endElement(name: Name, start: number, end: number, plain: boolean): void {
    this.#depth--;
    if (plain) {
      this.#run(start, end);
    } else {
      this.#bytes(END_OPEN);
      this.#bytes(name.bytes);
      this.#byte(GREATER);
    }
    const mark = this.#marks.pop() ?? 0;
    while (this.#shadowed.length > mark) {
      const last = this.#shadowed.pop();
      if (last !== undefined) this.#written[last.prefix.index] = last.namespace;
    }
  }

  text(start: number, end: number): void {
    this.#run(start, end);
  }

  character(code: number): void {
    const escaped = ESCAPES.text[code];
    if (escaped !== undefined) this.#bytes(escaped);
    else if (code < 0x80) this.#byte(code);
    else {
      this.#room(4);
      this.#filled = writeCodePoint(this.#chunk, this.#filled, code);
    }
  }

  instruction(target: Name, dataStart: number, dataEnd: number): void {
    // Canonical XML 1.0 §2.3: outside the root each instruction has a line of its own.
    if (this.#depth === 0 && this.#rootSeen) this.#byte(LF);
    this.#bytes(PI_OPEN);
    this.#bytes(target.bytes);
    if (dataEnd > dataStart) {
      this.#byte(0x20);
      this.#lines(dataStart, dataEnd);
    }
    this.#bytes(PI_CLOSE);
    if (this.#depth === 0 && !this.#rootSeen) this.#byte(LF);
  }

  comment(): void {}

  /** Passes on what is still held back. */
  finish(): void {
    this.#endRun();
    this.#flush();
  }

  /** Notes that the prefix is visibly utilised: its declaration is due unless an output ancestor has made it. */
  #utilise(prefix: Prefix, namespace: Namespace): void {
    const written = this.#written[prefix.index] ?? NO_NAMESPACE;
    if (written === namespace || written.uri === namespace.uri || prefix.text === 'xml') return;
    this.#shadowed.push({ prefix, namespace: this.#written[prefix.index] });
    this.#written[prefix.index] = namespace;
    this.#fresh.push(prefix);
  }

  #declarations(): void {
    const fresh = this.#fresh;
    if (fresh.length > 1) fresh.sort((a, b) => (a.order < b.order ? -1 : 1));
    for (const prefix of fresh) {
      this.#bytes(XMLNS);
      if (prefix.text !== '') {
        this.#byte(0x3a);
        this.#bytes(prefix.bytes);
      }
      this.#bytes(VALUE_OPEN);
      this.#bytes((this.#written[prefix.index] ?? NO_NAMESPACE).escaped);
      this.#byte(QUOTE);
    }
  }

  #attribute(attribute: Attribute): void {
    this.#byte(0x20);
    this.#bytes(attribute.name.bytes);
    this.#bytes(VALUE_OPEN);
    if (attribute.decoded === undefined) {
      this.#run(attribute.start, attribute.end);
    } else {
      const value = attribute.decoded;
      let start = 0;
      for (let at = 0; at < value.length; at++) {
        const escaped = ESCAPES.value[value[at] as number];
        if (escaped === undefined) continue;
        if (at > start) this.#bytes(value.subarray(start, at));
        this.#bytes(escaped);
        start = at + 1;
      }
      if (start < value.length) this.#bytes(value.subarray(start));
    }
    this.#byte(QUOTE);
  }

  /** Source bytes with line ends made LF. */
  #lines(start: number, end: number): void {
    let from = start;
    for (let at = start; at < end; at++) {
      if (this.#source[at] !== CR) continue;
      this.#run(from, at);
      from = at + 1;
      if (from >= end || this.#source[from] !== LF) this.#byte(LF);
    }
    this.#run(from, end);
  }

  #run(start: number, end: number): void {
    if (start === this.#runEnd) {
      this.#runEnd = end;
      return;
    }
    this.#endRun();
    this.#runStart = start;
    this.#runEnd = end;
  }

  #endRun(): void {
    const length = this.#runEnd - this.#runStart;
    if (length > 0) {
      if (length >= DIRECT) {
        this.#flush();
        this.#sink.update(this.#source.subarray(this.#runStart, this.#runEnd));
      } else {
        this.#copy(this.#source, this.#runStart, this.#runEnd);
      }
    }
    // No range of the source may join on until the next one has begun.
    this.#runStart = this.#runEnd = -1;
  }

  #bytes(bytes: Buffer): void {
    this.#endRun();
    if (bytes.length < DIRECT) {
      this.#copy(bytes, 0, bytes.length);
    } else {
      this.#flush();
      this.#sink.update(bytes);
    }
  }

  #byte(byte: number): void {
    this.#room(1);
    this.#chunk[this.#filled++] = byte;
  }

  #copy(from: Buffer, start: number, end: number): void {
    if (this.#filled + end - start > this.#chunk.length) this.#flush();
    if (end - start > this.#chunk.length) {
      this.#sink.update(from.subarray(start, end));
      return;
    }
    if (end - start <= 32) {
      const chunk = this.#chunk;
      let at = this.#filled;
      for (let index = start; index < end; index++) chunk[at++] = from[index] as number;
      this.#filled = at;
    } else {
      this.#filled += from.copy(this.#chunk, this.#filled, start, end);
    }
  }

  /** Makes sure that so many bytes fit; they come after the run that is held back. */
  #room(length: number): void {
    this.#endRun();
    if (this.#filled + length > this.#chunk.length) this.#flush();
  }

  #flush(): void {
    if (this.#filled === 0) return;
    this.#sink.update(this.#chunk.subarray(0, this.#filled));
    this.#filled = 0;
  }
}

/** Canonical XML 1.0 §2.2: by namespace name, then by local name, in code point order. */
function compareAttributes(a: Attribute, b: Attribute): number {
  if (a.namespace !== b.namespace && a.namespace.order !== b.namespace.order) {
    return a.namespace.order < b.namespace.order ? -1 : 1;
  }
  return a.name.order < b.name.order ? -1 : 1;
}
