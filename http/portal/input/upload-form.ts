/**
 * Reads upload forms with any part names.
 *
 * Source: docs/portal-values.md §4.
 */
import type { UploadSink } from '../../../actors/portal/api.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  MultipartError,
  type MultipartEvent,
  MultipartReader,
  multipartBoundary,
} from '../../core/body/multipart.ts';

export interface UploadRules {
  readonly contentType: string;
  /** As sent by the client; empty when absent. */
  readonly contentLength: string;
  /** Maximum size of the file, bytes. */
  readonly maxBytes: number;
  open(): Promise<UploadSink>;
  /** Receives the bytes of the file; a `restart` precedes those of a file that replaces an earlier candidate. */
  readonly watch?: { update(bytes: Buffer): void; restart(): void } | undefined;
}

export interface UploadedFormat {
  readonly sink: UploadSink;
  readonly name: string;
  /** Without parameters. */
  readonly contentType: string;
}

/** Bytes allowed for the form around the file. */
const FORM_BYTES = 64 * 1024;
export const FIELD_BYTES = 4096;
/** Names of parts that count as the file when no part has a file name. */
const MAX_UNNAMED_FILES = new Set(['content', 'file']);
const FIELDS = new Set(['name', 'contenttype']);
const NO_NAME = 'file';

/**
 * Reads the form. The file is the first part with a file name, or else a part named `content` or `file`. The sink is
 * complete when this resolves, and discarded when it rejects.
 * Refusals: `BadRequest`, `UnsupportedMediaType`, `PayloadTooLarge`, and those of `open`.
 */
export async function readUploadForm(
  body: AsyncIterable<Buffer>,
  rules: UploadRules,
): Promise<UploadedFormat> {
  if (Number(rules.contentLength) > rules.maxBytes + FORM_BYTES) throw tooLarge(rules.maxBytes);
  const reading = new FormReader(rules);
  try {
    return await reading.read(body);
  } catch (error) {
    await reading.sink?.abort();
    if (error instanceof MultipartError) throw new PortalRefusal('BadRequest', error.message);
    throw error;
  }
}

type Part = Extract<MultipartEvent, { readonly type: 'part' }>;

class FormReader {
  readonly #rules: UploadRules;
  readonly #fields = new Map<string, string>();
  sink: UploadSink | undefined;
  #file: Part | undefined;
  /** Target of the bytes of the current part. */
  #current: 'file' | 'nothing' | { readonly name: string; readonly chunks: Buffer[]; length: number } =
    'nothing';

  constructor(rules: UploadRules) {
    this.#rules = rules;
  }

  async read(body: AsyncIterable<Buffer>): Promise<UploadedFormat> {
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
        if (event.type === 'part') await this.#startPart(event);
        else if (event.type === 'part-end') this.#end();
        else await this.#readPart(event.bytes);
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

  async #startPart(part: Part): Promise<void> {
    const name = part.name.toLowerCase();
    const hasName = part.fileName !== undefined && part.fileName !== '';
    if (hasName ? this.#file?.fileName : this.sink !== undefined || !MAX_UNNAMED_FILES.has(name)) {
      this.#current =
        !hasName && FIELDS.has(name) && !this.#fields.has(name) ? { name, chunks: [], length: 0 } : 'nothing';
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

  async #readPart(bytes: Buffer): Promise<void> {
    const current = this.#current;
    if (current === 'nothing') return;
    if (current !== 'file') {
      current.length += bytes.length;
      if (current.length > FIELD_BYTES) {
        throw new PortalRefusal('BadRequest', `The part ${current.name} is too long.`);
      }
      current.chunks.push(Buffer.from(bytes));
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
      this.#fields.set(current.name, Buffer.concat(current.chunks).toString('utf8'));
    }
    this.#current = 'nothing';
  }
}

/** The last segment of a path, in NFC, without control characters; undefined when empty. */
export function cleanName(given: string | undefined): string | undefined {
  const segment = (given ?? '').split(/[/\\]/).at(-1) ?? '';
  const name = segment
    .replace(/\p{Cc}/gu, '')
    .normalize('NFC')
    .trim();
  return name === '' || name === '.' || name === '..' ? undefined : name;
}

/** `application/pdf; charset=UTF-8` → `application/pdf`; undefined for an invalid media type. */
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
