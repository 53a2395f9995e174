/** Reads a multipart form into a sink and fields; the service decides what each part is. */
import { MultipartError, type MultipartEvent, MultipartReader, multipartBoundary } from './multipart.ts';

/** Target of file bytes. */
export interface ByteSink {
  readonly length: number;
  /** Undefined, or a settled promise: the bytes are copied and their memory may be reused. */
  write(chunk: Buffer): Promise<void> | undefined;
  abort(): Promise<void>;
}

export type FormPart = Extract<MultipartEvent, { readonly type: 'part' }>;

/** Target of the bytes of one part; `refusal` permits a part without bytes only. */
export type PartTarget =
  | { readonly to: 'nothing' }
  | { readonly to: 'field'; readonly name: string }
  | { readonly to: 'file'; readonly sink: ByteSink }
  | { readonly to: 'refusal'; readonly refusal: Error };

export const NOWHERE: PartTarget = { to: 'nothing' };

/** Errors of a service for a form that cannot be read. */
export interface FormErrors {
  notMultipart(): Error;
  malformed(reason: string): Error;
  tooLarge(maxBytes: number): Error;
  fieldTooLong(name: string, maxBytes: number): Error;
}

/** Type and length of a form as its request states them, and the limit of the file. */
export interface FormHead {
  readonly contentType: string;
  /** As sent by the client; empty when absent. */
  readonly contentLength: string;
  /** Maximum size of the file, bytes. */
  readonly maxBytes: number;
}

interface FormRules extends FormHead {
  readonly maxFieldBytes: number;
  readonly errors: FormErrors;
}

export interface FormHandler<Upload> {
  /** Called when a part begins, with the complete fields before it. */
  startPart(part: FormPart, fields: ReadonlyMap<string, string>): PartTarget | Promise<PartTarget>;
  /** Called at the end of the form; returns the upload or throws. */
  finish(fields: ReadonlyMap<string, string>): Upload;
}

/** Bytes allowed for the form around the file. Source: docs/batch-values.md §3. */
const FORM_BYTES = 64 * 1024;

/**
 * Reads the form. The last sink is complete but not yet accepted when this resolves, and discarded when it rejects.
 * Rejects with the given errors and with those of `form` and the sink.
 */
export async function readUpload<Upload>(
  body: AsyncIterable<Buffer>,
  rules: FormRules,
  form: FormHandler<Upload>,
): Promise<Upload> {
  const { contentType, contentLength, maxBytes, errors } = rules;
  if (Number(contentLength) > maxBytes + FORM_BYTES) throw errors.tooLarge(maxBytes);
  const parts = new PartReader(rules, form);
  try {
    const boundary = multipartBoundary(contentType);
    if (boundary === undefined) throw errors.notMultipart();
    const reader = new MultipartReader(boundary);
    let received = 0;
    for await (const chunk of body) {
      received += chunk.length;
      if (received > maxBytes + FORM_BYTES) throw errors.tooLarge(maxBytes);
      for (const event of reader.feed(chunk)) {
        const busy = parts.read(event);
        if (busy !== undefined) await busy;
      }
    }
    reader.finish();
    return form.finish(parts.fields);
  } catch (error) {
    await parts.abort();
    throw error instanceof MultipartError ? errors.malformed(error.message) : error;
  }
}

class PartReader {
  readonly fields = new Map<string, string>();
  #target: PartTarget = NOWHERE;
  #sink: ByteSink | undefined;
  /** Bytes of the current field. */
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(
    private readonly rules: FormRules,
    private readonly form: FormHandler<unknown>,
  ) {}

  read(event: MultipartEvent): Promise<void> | undefined {
    if (event.type === 'part') return this.#start(event);
    if (event.type === 'data') return this.#write(event.bytes);
    if (this.#target.to === 'field')
      this.fields.set(this.#target.name, Buffer.concat(this.#chunks).toString('utf8'));
    this.#target = NOWHERE;
    return undefined;
  }

  async abort(): Promise<void> {
    await this.#sink?.abort();
  }

  #start(part: FormPart): Promise<void> | undefined {
    this.#target = NOWHERE;
    this.#chunks = [];
    this.#length = 0;
    const target = this.form.startPart(part, this.fields);
    if (target instanceof Promise) return target.then((found) => this.#aim(found));
    this.#aim(target);
    return undefined;
  }

  #aim(target: PartTarget): void {
    this.#target = target;
    if (target.to === 'file') this.#sink = target.sink;
  }

  #write(bytes: Buffer): Promise<void> | undefined {
    const target = this.#target;
    const { maxBytes, maxFieldBytes, errors } = this.rules;
    if (target.to === 'refusal') throw target.refusal;
    if (target.to === 'file') {
      if (target.sink.length + bytes.length > maxBytes) throw errors.tooLarge(maxBytes);
      return target.sink.write(bytes);
    }
    if (target.to === 'field') {
      this.#length += bytes.length;
      if (this.#length > maxFieldBytes) throw errors.fieldTooLong(target.name, maxFieldBytes);
      this.#chunks.push(Buffer.from(bytes));
    }
    return undefined;
  }
}
