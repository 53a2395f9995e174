/**
 * Uploads as forms, whatever their parts are called.
 *
 * Source: portal-gaps §4.
 */
import type { UploadSink } from '../../actors/portal/api.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import { MultipartError, type MultipartEvent, MultipartReader, multipartBoundary } from '../multipart.ts';

export interface UploadRules {
  readonly contentType: string;
  /** As the client sent it; empty when it sent none. */
  readonly contentLength: string;
  /** Most bytes of the file. */
  readonly maxBytes: number;
  open(): Promise<UploadSink>;
  /** Sees the bytes of the file; those of an earlier file that gave way to a better one are followed by `restart`. */
  readonly watch?: { update(bytes: Buffer): void; restart(): void } | undefined;
}

export interface UploadedForm {
  readonly sink: UploadSink;
  readonly name: string;
  /** Without parameters. */
  readonly contentType: string;
}

/** What the form around the file may add. */
const FORM_BYTES = 64 * 1024;
const FIELD_BYTES = 4096;
/** Parts without a file name that are taken for the file when no part has one. */
const NAMELESS_FILES = new Set(['content', 'file']);
const FIELDS = new Set(['name', 'contenttype']);
const NO_NAME = 'file';

/**
 * Reads the form. The file is the first part that has a file name, or else a part called `content` or `file`.
 * The sink is complete when this resolves, and forgotten when it rejects.
 * Refusals: `BadRequest`, `UnsupportedMediaType`, `PayloadTooLarge`, and those of `open`.
 */
export async function readUploadForm(body: AsyncIterable<Buffer>, rules: UploadRules): Promise<UploadedForm> {
  if (Number(rules.contentLength) > rules.maxBytes + FORM_BYTES) throw tooLarge(rules.maxBytes);
  const reading = new FormReading(rules);
  try {
    return await reading.read(body);
  } catch (error) {
    await reading.sink?.abort();
    if (error instanceof MultipartError) throw new PortalRefusal('BadRequest', error.message);
    throw error;
  }
}

type Part = Extract<MultipartEvent, { readonly type: 'part' }>;

class FormReading {
  readonly #rules: UploadRules;
  readonly #fields = new Map<string, string>();
  sink: UploadSink | undefined;
  #file: Part | undefined;
  /** What the bytes of the current part are for. */
  #current: 'file' | 'nothing' | { readonly name: string; readonly pieces: Buffer[]; length: number } =
    'nothing';

  constructor(rules: UploadRules) {
    this.#rules = rules;
  }

  async read(body: AsyncIterable<Buffer>): Promise<UploadedForm> {
    const { maxBytes, contentType } = this.#rules;
    const boundary = multipartBoundary(contentType);
    if (boundary === undefined) {
      throw new PortalRefusal('UnsupportedMediaType', 'The body must be multipart/form-data.');
    }
    const reader = new MultipartReader(boundary);
    let received = 0;
    for await (const chunk of body) {
      received += chunk.length;
      if (received > maxBytes + FORM_BYTES) throw tooLarge(maxBytes);
      for (const event of reader.feed(chunk)) {
        if (event.type === 'part') await this.#begin(event);
        else if (event.type === 'part-end') this.#end();
        else await this.#take(event.bytes);
      }
    }
    reader.finish();
    if (this.sink === undefined || this.#file === undefined) throw missingFile('is required');
    if (this.sink.length === 0) throw missingFile('has no bytes');
    return {
      sink: this.sink,
      name: cleanName(this.#fields.get('name')) ?? cleanName(this.#file.fileName) ?? NO_NAME,
      contentType:
        bareType(this.#fields.get('contenttype')) ??
        bareType(this.#file.contentType) ??
        'application/octet-stream',
    };
  }

  async #begin(part: Part): Promise<void> {
    const name = part.name.toLowerCase();
    const hasName = part.fileName !== undefined && part.fileName !== '';
    if (hasName ? this.#file?.fileName : this.sink !== undefined || !NAMELESS_FILES.has(name)) {
      this.#current =
        !hasName && FIELDS.has(name) && !this.#fields.has(name) ? { name, pieces: [], length: 0 } : 'nothing';
      return;
    }
    const earlier = this.sink;
    this.sink = undefined;
    await earlier?.abort();
    this.#rules.watch?.restart();
    this.sink = await this.#rules.open();
    this.#file = part;
    this.#current = 'file';
  }

  async #take(bytes: Buffer): Promise<void> {
    const current = this.#current;
    if (current === 'nothing') return;
    if (current !== 'file') {
      current.length += bytes.length;
      if (current.length > FIELD_BYTES) {
        throw new PortalRefusal('BadRequest', `The part ${current.name} is too long.`);
      }
      current.pieces.push(Buffer.from(bytes));
      return;
    }
    const { sink } = this;
    if (sink === undefined) return;
    if (sink.length + bytes.length > this.#rules.maxBytes) throw tooLarge(this.#rules.maxBytes);
    this.#rules.watch?.update(bytes);
    const busy = sink.write(bytes);
    if (busy !== undefined) await busy;
  }

  #end(): void {
    const current = this.#current;
    if (typeof current === 'object') {
      this.#fields.set(current.name, Buffer.concat(current.pieces).toString('utf8'));
    }
    this.#current = 'nothing';
  }
}

/** The last segment of a path, in NFC, without control characters; undefined when nothing is left. */
export function cleanName(given: string | undefined): string | undefined {
  const segment = (given ?? '').split(/[/\\]/).at(-1) ?? '';
  const name = segment
    .replace(/\p{Cc}/gu, '')
    .normalize('NFC')
    .trim();
  return name === '' || name === '.' || name === '..' ? undefined : name;
}

/** `application/pdf; charset=UTF-8` → `application/pdf`; undefined for what is no media type. */
function bareType(given: string | undefined): string | undefined {
  const type = (given ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]+\/[\w.+*-]+$/.test(type) ? type : undefined;
}

function missingFile(what: string): PortalRefusal {
  const sentence = `The File field ${what}.`;
  return new PortalRefusal('BadRequest', sentence, { errors: { File: [sentence] } });
}

export function tooLarge(maxBytes: number): PortalRefusal {
  return new PortalRefusal('PayloadTooLarge', `At most ${maxBytes} bytes are accepted.`);
}
