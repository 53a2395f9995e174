/**
 * Reads upload forms with any part names.
 *
 * Source: docs/portal-values.md §4.
 */
import type { BlobSink } from '../../../actors/portal/api.ts';
import { withoutControls } from '../../../contracts/plain-text.ts';
import { MAX_FORM_TEXT } from '../../../contracts/portal/uploads.ts';
import { badField, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  type ByteSink,
  type FormErrors,
  type FormHandler,
  type FormHead,
  type FormPart,
  NOWHERE,
  type PartTarget,
  readUpload,
} from '../../core/body/form-reader.ts';

export interface UploadRules extends FormHead {
  open(): Promise<BlobSink>;
  /** Receives the bytes of the file; a `restart` precedes those of a file that replaces an earlier candidate. */
  readonly watch?: { update(bytes: Buffer): void; restart(): void } | undefined;
}

export interface UploadedFile {
  readonly sink: BlobSink;
  readonly name: string;
  /** Without parameters. */
  readonly contentType: string;
}

/** Names of parts that count as the file when no part has a file name. */
const NAMES_OF_UNNAMED_FILES = new Set(['content', 'file']);
const FIELDS = new Set(['name', 'contenttype']);
const NO_NAME = 'file';

const ERRORS: FormErrors = {
  notMultipart: () => new PortalRefusal('UnsupportedMediaType', 'The body must be multipart/form-data.'),
  malformed: (reason) => new PortalRefusal('BadRequest', reason),
  tooLarge,
  fieldTooLong: (name) => new PortalRefusal('BadRequest', `The part ${name} is too long.`),
};

/**
 * Reads the form. The file is the first part with a file name, or else a part named `content` or `file`. A second file
 * under the same part name is refused, so that none is lost unnoticed. The sink is complete when this resolves, and discarded when it rejects.
 * Refusals: `BadRequest`, `UnsupportedMediaType`, `PayloadTooLarge`, and those of `open`.
 */
export function readUploadForm(body: AsyncIterable<Buffer>, rules: UploadRules): Promise<UploadedFile> {
  return readUpload(body, { maxFieldBytes: MAX_FORM_TEXT, errors: ERRORS, ...rules }, new UploadForm(rules));
}

class UploadForm implements FormHandler<UploadedFile> {
  #sink: BlobSink | undefined;
  #file: FormPart | undefined;

  constructor(private readonly rules: UploadRules) {}

  async startPart(part: FormPart, fields: ReadonlyMap<string, string>): Promise<PartTarget> {
    const name = part.name.toLowerCase();
    const hasName = part.fileName !== undefined && part.fileName !== '';
    const isTaken = hasName
      ? Boolean(this.#file?.fileName)
      : this.#sink !== undefined || !NAMES_OF_UNNAMED_FILES.has(name);
    if (isTaken && hasName && name === this.#file?.name.toLowerCase())
      throw badField('File', 'has more than one file');
    if (isTaken) return !hasName && FIELDS.has(name) && !fields.has(name) ? { to: 'field', name } : NOWHERE;
    // A file with a name replaces an earlier part without one.
    const earlier = this.#sink;
    this.#sink = undefined;
    await earlier?.abort();
    this.rules.watch?.restart();
    this.#sink = await this.rules.open();
    this.#file = part;
    return { to: 'file', sink: watched(this.#sink, this.rules.watch) };
  }

  finish(fields: ReadonlyMap<string, string>): UploadedFile {
    if (this.#sink === undefined || this.#file === undefined) throw badField('File', 'is required');
    if (this.#sink.length === 0) throw badField('File', 'has no bytes');
    return {
      sink: this.#sink,
      name: cleanName(fields.get('name')) ?? cleanName(this.#file.fileName) ?? NO_NAME,
      contentType:
        bareType(fields.get('contenttype')) ?? bareType(this.#file.contentType) ?? 'application/octet-stream',
    };
  }
}

/** Returns a sink that shows the bytes to `watch` before it writes them. */
function watched(sink: BlobSink, watch: UploadRules['watch']): ByteSink {
  if (watch === undefined) return sink;
  return {
    get length() {
      return sink.length;
    },
    write(bytes) {
      watch.update(bytes);
      return sink.write(bytes);
    },
    abort: () => sink.abort(),
  };
}

/** The last segment of a path, in NFC, without control characters; undefined when empty. */
function cleanName(given: string | undefined): string | undefined {
  const segment = (given ?? '').split(/[/\\]/).at(-1) ?? '';
  const name = withoutControls(segment).normalize('NFC').trim();
  return name === '' || name === '.' || name === '..' ? undefined : name;
}

/** `application/pdf; charset=UTF-8` → `application/pdf`; undefined for an invalid media type. */
function bareType(given: string | undefined): string | undefined {
  const type = (given ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]+\/[\w.+*-]+$/.test(type) ? type : undefined;
}

export function tooLarge(maxBytes: number): PortalRefusal {
  return new PortalRefusal('PayloadTooLarge', `At most ${maxBytes} bytes are accepted.`);
}
