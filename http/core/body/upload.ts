/** Reads an upload: one file and the fields around it, streamed to a sink. */
import { Refusal } from '../../../machines/refusals.ts';
import { MultipartError, MultipartReader, multipartBoundary } from './multipart.ts';

/** Target of the bytes: the part of `UploadSink` (actors/batch/api/service.ts) that is needed here. */
export interface ByteSink {
  readonly length: number;
  /** Undefined, or a settled promise: the bytes are copied and their memory may be reused. */
  write(chunk: Uint8Array): Promise<void> | undefined;
  abort(): Promise<void>;
}

export interface UploadRules<Sink extends ByteSink> {
  readonly contentType: string;
  /** As sent by the client; empty when absent. */
  readonly contentLength: string;
  /** Maximum size of the file, bytes. */
  readonly maxBytes: number;
  /** Names of the form fields to read; others are ignored. */
  readonly fields: readonly string[];
  /** Name of the parts that `several` asks about. @default 'file' */
  readonly furtherParts?: string;
  /** Called before the second file: true appends it and all later files to the sink of the first. @default no */
  several?(fileName: string, fields: ReadonlyMap<string, string>): boolean;
  /** Called when the file begins, with its sanitized name and the fields before it. */
  open(fileName: string, fields: ReadonlyMap<string, string>): Promise<Sink>;
}

export interface Upload<Sink extends ByteSink> {
  readonly sink: Sink;
  readonly fileName: string;
  readonly fields: ReadonlyMap<string, string>;
  /** Files in the sink, in order; more than one only with `several`. */
  readonly files: readonly { readonly name: string; readonly length: number }[];
  /** True when the form contained a second file that was ignored. */
  readonly isShortened: boolean;
}

/** Maximum number of files in one upload. */
const MAX_FILES = 100;

/** Bytes allowed for the form around the file. Source: docs/batch-values.md §3. */
const FORM_BYTES = 64 * 1024;
/** Maximum length of a form field that is read. */
export const FIELD_BYTES = 1024;

/**
 * Reads the form; the first part with a file name is the file. The sink is complete but not yet accepted when this
 * resolves, and discarded when it rejects.
 * Refusals: `upload.empty`, `upload.too-large`, `upload.invalid-name`, `validation.body-invalid`, and those of
 * `open`.
 */
export async function readUpload<Sink extends ByteSink>(
  body: AsyncIterable<Buffer>,
  rules: UploadRules<Sink>,
): Promise<Upload<Sink>> {
  if (Number(rules.contentLength) > rules.maxBytes + FORM_BYTES) throw tooLarge(rules.maxBytes);
  const reading = new FormReader(rules);
  try {
    return await reading.read(body);
  } catch (error) {
    await reading.sink?.abort();
    if (error instanceof MultipartError) throw new Refusal('validation.body-invalid', error.message);
    throw error;
  }
}

class FormReader<Sink extends ByteSink> {
  readonly #rules: UploadRules<Sink>;
  readonly #fields = new Map<string, string>();
  sink: Sink | undefined;
  #fileName = '';
  readonly #files: { readonly name: string; readonly start: number }[] = [];
  #isShortened = false;
  #sawNamelessFile = false;
  /** Target of the bytes of the current part. */
  #current:
    | { readonly to: 'file' | 'nothing' | 'unnamed' }
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
        if (event.type === 'part') await this.#startPart(event.name, event.fileName);
        else if (event.type === 'part-end') this.#end();
        else await this.#readPart(event.bytes);
      }
    }
    reader.finish();
    if (this.sink === undefined) {
      if (this.#sawNamelessFile) throw new Refusal('upload.invalid-name', 'The file part has no file name.');
      throw new Refusal('upload.empty', 'The form has no file part.');
    }
    if (this.sink.length === 0) throw new Refusal('upload.empty', 'The file has no bytes.');
    const { sink } = this;
    const files = this.#files.map(({ name, start }, index) => ({
      name,
      length: (this.#files[index + 1]?.start ?? sink.length) - start,
    }));
    if (files.some(({ length }) => length === 0)) throw new Refusal('upload.empty', 'A file has no bytes.');
    const { size } = new Set(files.map(({ name }) => name.normalize('NFKC').toLowerCase()));
    if (size < files.length)
      throw new Refusal('upload.invalid-name', 'Two files of one upload need different names.');
    return { sink, fileName: this.#fileName, fields: this.#fields, files, isShortened: this.#isShortened };
  }

  async #startPart(name: string, fileName: string | undefined): Promise<void> {
    this.#current = { to: 'nothing' };
    if (fileName !== undefined) {
      if (this.sink !== undefined) {
        this.#takeAnother(name, fileName, this.sink);
        return;
      }
      this.#fileName = cleanFileName(fileName);
      this.sink = await this.#rules.open(this.#fileName, this.#fields);
      this.#files.push({ name: this.#fileName, start: 0 });
      this.#current = { to: 'file' };
      return;
    }
    if (name === 'file') this.#sawNamelessFile = true;
    if (this.#rules.fields.includes(name) && !this.#fields.has(name)) {
      this.#current = { to: 'field', name, text: [] };
    }
  }

  /** A further file is appended to the first where its profile signs them in one container. */
  #takeAnother(name: string, fileName: string, sink: Sink): void {
    if (name !== (this.#rules.furtherParts ?? 'file')) return;
    if (this.#rules.several?.(this.#fileName, this.#fields) !== true) {
      this.#isShortened = true;
      return;
    }
    // A file input of a page that is left empty: a part without name and bytes.
    if (fileName === '') {
      this.#current = { to: 'unnamed' };
      return;
    }
    if (this.#files.length === MAX_FILES)
      throw new Refusal('validation.body-invalid', `One upload takes at most ${MAX_FILES} files.`);
    this.#files.push({ name: cleanFileName(fileName), start: sink.length });
    this.#current = { to: 'file' };
  }

  async #readPart(bytes: Buffer): Promise<void> {
    if (this.#current.to === 'field') {
      this.#current.text.push(Buffer.from(bytes));
      const length = this.#current.text.reduce((sum, chunk) => sum + chunk.length, 0);
      if (length > FIELD_BYTES) {
        throw new Refusal('validation.body-invalid', `The field ${this.#current.name} is too long.`, {
          errors: { [this.#current.name]: [`must be at most ${FIELD_BYTES} bytes`] },
        });
      }
      return;
    }
    if (this.#current.to === 'unnamed')
      throw new Refusal('upload.invalid-name', 'The file part needs a file name.');
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
 * Returns the last path segment of the client's file name, in NFC and without control characters.
 * Refusals: `upload.invalid-name` for nothing, `.` and `..`. Source: docs/batch-values.md §3.
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
