/**
 * One uploaded file and the form around it, streamed to where it is kept.
 */
import { Refusal } from '../machines/refusals.ts';
import { MultipartError, MultipartReader, multipartBoundary } from './multipart.ts';

/** Where the bytes go: the part of `UploadSink` (actors/api.ts) that is needed here. */
export interface ByteSink {
  readonly length: number;
  /** Undefined, or a settled promise, means that the bytes are taken and their memory may be used again. */
  write(chunk: Uint8Array): Promise<void> | undefined;
  abort(): Promise<void>;
}

export interface UploadRules<Sink extends ByteSink> {
  readonly contentType: string;
  /** As the client sent it; empty when it sent none. */
  readonly contentLength: string;
  /** Most bytes of the file. */
  readonly maxBytes: number;
  /** Names of the form fields that matter; others are ignored. */
  readonly fields: readonly string[];
  /** Called when the file begins, with its clean name and the fields that came before it. */
  open(fileName: string, fields: ReadonlyMap<string, string>): Promise<Sink>;
}

export interface Upload<Sink extends ByteSink> {
  readonly sink: Sink;
  readonly fileName: string;
  readonly fields: ReadonlyMap<string, string>;
}

/** What the form around the file may add. Source: batch-gaps §3, "`POST /api/files` size". */
const FORM_BYTES = 64 * 1024;
/** Longest value of a form field that matters. */
const FIELD_BYTES = 1024;

/**
 * Reads the form; the first part with a file name is the file. The sink is complete but not yet accepted when
 * this resolves, and forgotten when it rejects.
 * Refusals: `upload.empty`, `upload.too-large`, `upload.invalid-name`, `validation.body-invalid`, and those of
 * `open`.
 */
export async function readUpload<Sink extends ByteSink>(
  body: AsyncIterable<Buffer>,
  rules: UploadRules<Sink>,
): Promise<Upload<Sink>> {
  if (Number(rules.contentLength) > rules.maxBytes + FORM_BYTES) throw tooLarge(rules.maxBytes);
  const reading = new FormReading(rules);
  try {
    return await reading.read(body);
  } catch (error) {
    await reading.sink?.abort();
    if (error instanceof MultipartError) throw new Refusal('validation.body-invalid', error.message);
    throw error;
  }
}

class FormReading<Sink extends ByteSink> {
  readonly #rules: UploadRules<Sink>;
  readonly #fields = new Map<string, string>();
  sink: Sink | undefined;
  #fileName = '';
  #sawNamelessFile = false;
  /** What the bytes of the current part are for. */
  #current:
    | { readonly to: 'file' | 'nothing' }
    | { readonly to: 'field'; readonly name: string; text: Buffer[] } = {
    to: 'nothing',
  };

  constructor(rules: UploadRules<Sink>) {
    this.#rules = rules;
  }

  async read(body: AsyncIterable<Buffer>): Promise<Upload<Sink>> {
    const boundary = multipartBoundary(this.#rules.contentType);
    if (boundary === undefined) throw new Refusal('upload.empty', 'The body must be multipart/form-data.');
    const reader = new MultipartReader(boundary);
    let received = 0;
    for await (const chunk of body) {
      received += chunk.length;
      if (received > this.#rules.maxBytes + FORM_BYTES) throw tooLarge(this.#rules.maxBytes);
      for (const event of reader.feed(chunk)) {
        if (event.type === 'part') await this.#begin(event.name, event.fileName);
        else if (event.type === 'part-end') this.#end();
        else await this.#take(event.bytes);
      }
    }
    reader.finish();
    if (this.sink === undefined) {
      if (this.#sawNamelessFile) throw new Refusal('upload.invalid-name', 'The file part has no file name.');
      throw new Refusal('upload.empty', 'The form has no file part.');
    }
    if (this.sink.length === 0) throw new Refusal('upload.empty', 'The file has no bytes.');
    return { sink: this.sink, fileName: this.#fileName, fields: this.#fields };
  }

  async #begin(name: string, fileName: string | undefined): Promise<void> {
    this.#current = { to: 'nothing' };
    if (fileName !== undefined) {
      if (this.sink !== undefined) return;
      this.#fileName = cleanFileName(fileName);
      this.sink = await this.#rules.open(this.#fileName, this.#fields);
      this.#current = { to: 'file' };
      return;
    }
    if (name === 'file') this.#sawNamelessFile = true;
    if (this.#rules.fields.includes(name) && !this.#fields.has(name)) {
      this.#current = { to: 'field', name, text: [] };
    }
  }

  async #take(bytes: Buffer): Promise<void> {
    if (this.#current.to === 'field') {
      this.#current.text.push(Buffer.from(bytes));
      const length = this.#current.text.reduce((sum, piece) => sum + piece.length, 0);
      if (length > FIELD_BYTES) {
        throw new Refusal('validation.body-invalid', `The field ${this.#current.name} is too long.`, {
          errors: { [this.#current.name]: [`must be at most ${FIELD_BYTES} bytes`] },
        });
      }
      return;
    }
    if (this.#current.to === 'nothing' || this.sink === undefined) return;
    if (this.sink.length + bytes.length > this.#rules.maxBytes) throw tooLarge(this.#rules.maxBytes);
    const busy = this.sink.write(bytes);
    if (busy !== undefined) await busy;
  }

  #end(): void {
    if (this.#current.to === 'field') {
      this.#fields.set(this.#current.name, Buffer.concat(this.#current.text).toString('utf8'));
    }
    this.#current = { to: 'nothing' };
  }
}

/**
 * The last segment of what the client calls the file, in NFC and without control characters.
 * Refusals: `upload.invalid-name` for nothing, `.` and `..`. Source: batch-gaps §3.
 */
export function cleanFileName(given: string): string {
  const segment = given.split(/[/\\]/).at(-1) ?? '';
  const name = segment.replace(/\p{Cc}/gu, '').normalize('NFC');
  if (name === '' || name === '.' || name === '..') {
    throw new Refusal('upload.invalid-name', 'The file part needs a file name.');
  }
  return name;
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal('upload.too-large', `At most ${maxBytes} bytes are accepted.`);
}
