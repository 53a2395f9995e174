/**
 * Reads `{"bytes": "<Base64>"}` as a stream: the text is never in memory as a whole.
 *
 * The scanner implements the subset of RFC 8259 that finds a member of the outermost object and skips other members.
 * Source: docs/portal-values.md §4 (`POST /api/uploads/bytes`) and §1 row 3.
 */
import type { BlobSink } from '../../../actors/portal/api.ts';
import { Base64Reader } from '../../../contracts/base64.ts';
import { REQUIRED } from '../../../contracts/fields.ts';
import { badField, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { requireJsonType } from './json-body.ts';
import { tooLarge, type UploadRules } from './upload-form.ts';

/** Bytes allowed for other members, line breaks and escapes. */
const AROUND_BYTES = 1024 * 1024;
const MAX_NAME_LENGTH = 256;

/**
 * Reads the member `bytes`, in any casing; of several the last value other than null. The sink is complete when this
 * resolves, and discarded when it rejects.
 * Refusals: `BadRequest`, `UnsupportedMediaType`, `PayloadTooLarge`, and those of `open`.
 */
export async function readBytesBody(body: AsyncIterable<Buffer>, rules: UploadRules): Promise<BlobSink> {
  requireJsonType(rules.contentType);
  const most = Math.ceil(rules.maxBytes / 3) * 4 + AROUND_BYTES;
  if (Number(rules.contentLength) > most) throw tooLarge(rules.maxBytes);
  const reading = new BytesReader(rules);
  try {
    let received = 0;
    for await (const chunk of body) {
      received += chunk.length;
      if (received > most) throw tooLarge(rules.maxBytes);
      await reading.feed(chunk.toString('latin1'));
    }
    return reading.finish();
  } catch (error) {
    await reading.sink?.abort();
    throw error;
  }
}

/** State of the scanner. */
type Place =
  | 'start'
  /** Inside the object, before a name or its end. */
  | 'name-or-end'
  | 'name'
  | 'colon'
  | 'value'
  /** Inside the text of the member `bytes`. */
  | 'bytes'
  /** Inside an ignored value: see `#depth` and `#inText`. */
  | 'skipped'
  | 'comma-or-end'
  | 'end';

const ESCAPES: { readonly [letter: string]: string } = {
  '/': '/',
  '"': '"',
  '\\': '\\',
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
};

class BytesReader {
  sink: BlobSink | undefined;
  #place: Place = 'start';
  #base64 = new Base64Reader();
  /** Name of the current member. */
  #name = '';
  /** An escape sequence that the next chunk completes. */
  #escape = '';
  #literal = '';
  #depth = 0;
  #inText = false;
  #memberSeen = false;
  #first = true;
  /** Number of bytes outside the file. */
  #around = 0;

  constructor(private readonly rules: UploadRules) {}

  /** @param chunk one character for each byte */
  async feed(chunk: string): Promise<void> {
    let at = 0;
    if (this.#first && chunk.startsWith('\u00ef\u00bb\u00bf')) at = 3;
    this.#first = false;
    while (at < chunk.length) {
      const isAround = this.#place !== 'bytes';
      const step = this.#step(chunk, at);
      // Most steps are synchronous; an await for each would cost more than all of them.
      const next = typeof step === 'number' ? step : await step;
      if (isAround) this.#around += next - at;
      if (this.#around > AROUND_BYTES) throw tooLarge(this.rules.maxBytes);
      at = next;
    }
  }

  finish(): BlobSink {
    if (this.#place === 'start') throw badField('Bytes', REQUIRED);
    if (this.#place !== 'end') throw notJson();
    if (this.sink === undefined || this.sink.length === 0) throw badField('Bytes', REQUIRED);
    return this.sink;
  }

  /** Continues at a character; returns the position of the next one. */
  #step(chunk: string, at: number): number | Promise<number> {
    const character = chunk.charAt(at);
    switch (this.#place) {
      case 'bytes':
        return this.#readBytes(chunk, at);
      case 'name':
        return this.#readName(chunk, at);
      case 'skipped':
        return this.#skip(chunk, at);
      default:
        if (/[ \t\r\n]/.test(character)) return at + 1;
    }
    if (this.#place === 'start' && character === '{') this.#place = 'name-or-end';
    else if (this.#place === 'name-or-end' && character === '"') {
      this.#name = '';
      this.#place = 'name';
    } else if (this.#place === 'name-or-end' && character === '}') this.#place = 'end';
    else if (this.#place === 'colon' && character === ':') this.#place = 'value';
    else if (this.#place === 'value') return this.#startValue(at, character);
    else if (this.#place === 'comma-or-end' && character === ',') this.#place = 'name-or-end';
    else if (this.#place === 'comma-or-end' && character === '}') this.#place = 'end';
    else throw notJson();
    return at + 1;
  }

  #startValue(at: number, character: string): number | Promise<number> {
    this.#memberSeen = this.#name.toLowerCase() === 'bytes';
    if (this.#memberSeen && character === '"') {
      return this.#startBytes().then(() => at + 1);
    }
    this.#literal = '';
    this.#depth = 0;
    this.#inText = false;
    this.#place = 'skipped';
    return at;
  }

  async #startBytes(): Promise<void> {
    const earlier = this.sink;
    this.sink = undefined;
    await earlier?.abort();
    this.rules.watch?.restart();
    this.sink = await this.rules.open();
    this.#base64 = new Base64Reader();
    this.#place = 'bytes';
  }

  async #readBytes(chunk: string, at: number): Promise<number> {
    if (this.#escape !== '') return this.#readEscape(chunk, at, (text) => this.#write(text));
    const quote = chunk.indexOf('"', at);
    const backslash = chunk.indexOf('\\', at);
    const ends = [quote, backslash].filter((end) => end >= 0);
    const end = ends.length === 0 ? chunk.length : Math.min(...ends);
    if (end > at) await this.#write(chunk.slice(at, end));
    if (end === chunk.length) return end;
    if (end === quote) {
      if (!this.#base64.finish()) throw badField('Bytes', 'must be Base64');
      this.#place = 'comma-or-end';
    } else this.#escape = '\\';
    return end + 1;
  }

  async #write(text: string): Promise<void> {
    const bytes = this.#base64.feed(text);
    if (bytes === undefined || this.sink === undefined) throw badField('Bytes', 'must be Base64');
    if (bytes.length === 0) return;
    if (this.sink.length + bytes.length > this.rules.maxBytes) throw tooLarge(this.rules.maxBytes);
    this.rules.watch?.update(bytes);
    const busy = this.sink.write(bytes);
    if (busy !== undefined) await busy;
  }

  #readName(chunk: string, at: number): number | Promise<number> {
    const add = (text: string) => {
      if (this.#name.length < MAX_NAME_LENGTH) this.#name += text;
    };
    if (this.#escape !== '') return this.#readEscape(chunk, at, add);
    const character = chunk.charAt(at);
    if (character === '"') this.#place = 'colon';
    else if (character === '\\') this.#escape = character;
    else add(character);
    return at + 1;
  }

  #readEscape(
    chunk: string,
    at: number,
    use: (text: string) => void | Promise<void>,
  ): number | Promise<number> {
    this.#escape += chunk.charAt(at);
    const letter = this.#escape.charAt(1);
    if (letter !== 'u') {
      const plain = ESCAPES[letter];
      if (plain === undefined) throw notJson();
      this.#escape = '';
      return afterwards(use(plain), at + 1);
    } else if (this.#escape.length === 6) {
      const digits = this.#escape.slice(2);
      if (!/^[0-9a-f]{4}$/i.test(digits)) throw notJson();
      this.#escape = '';
      return afterwards(use(String.fromCharCode(Number.parseInt(digits, 16))), at + 1);
    }
    return at + 1;
  }

  /** A string, number, literal, or a list or object with its contents. */
  #skip(chunk: string, at: number): number {
    const character = chunk.charAt(at);
    if (this.#inText) {
      if (this.#escape !== '') this.#escape = '';
      else if (character === '\\') this.#escape = character;
      else if (character === '"') {
        this.#inText = false;
        if (this.#depth === 0) this.#endSkipped('"');
      }
      return at + 1;
    }
    if (this.#depth === 0 && this.#literal !== '' && /[\s,}]/.test(character)) {
      this.#endSkipped(this.#literal);
      return at;
    }
    if (character === '"') {
      if (this.#literal !== '') throw notJson();
      this.#inText = true;
    } else if (character === '{' || character === '[') {
      if (this.#literal !== '') throw notJson();
      this.#depth += 1;
    } else if (character === '}' || character === ']') {
      this.#depth -= 1;
      if (this.#depth < 0) throw notJson();
      if (this.#depth === 0) this.#endSkipped('{}');
    } else if (this.#depth === 0) {
      this.#literal += character;
      if (this.#literal.length > 64) throw notJson();
    }
    return at + 1;
  }

  #endSkipped(what: string): void {
    this.#place = 'comma-or-end';
    this.#literal = '';
    if (this.#memberSeen && what !== 'null') throw badField('Bytes', 'must be a string');
    if (what !== '"' && what !== '{}' && !/^(?:null|true|false|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i.test(what)) {
      throw notJson();
    }
  }
}

function afterwards(work: void | Promise<void>, next: number): number | Promise<number> {
  return work instanceof Promise ? work.then(() => next) : next;
}

function notJson(): PortalRefusal {
  return new PortalRefusal('BadRequest', 'The body is not JSON.');
}
