/**
 * Reads the upload forms of the batch service: one file, or several that belong together, and the fields around.
 *
 * Source: docs/batch-values.md §3.
 */

import { FIELD_BYTES } from '../../contracts/batch/files.ts';
import { isBlank, visibleText, withoutControls } from '../../contracts/plain-text.ts';
import { Refusal } from '../../machines/refusals.ts';
import {
  type ByteSink,
  type FormErrors,
  type FormHandler,
  type FormHead,
  type FormPart,
  NOWHERE,
  type PartTarget,
  readUpload,
} from '../core/body/form-reader.ts';

export interface UploadRules<Sink extends ByteSink> extends FormHead {
  /** Names of the form fields to read; others are ignored. */
  readonly fields: readonly string[];
  /** Name of the parts that `several` asks about. @default 'file' */
  readonly furtherParts?: string;
  /** Longest field, bytes. @default `FIELD_BYTES` */
  readonly maxFieldBytes?: number;
  /** Called before the second file: true appends it and all later files to the sink of the first. @default no */
  several?(fileName: string, fields: ReadonlyMap<string, string>): boolean;
  /** Called when the file begins, with its sanitized name and the fields before it. */
  open(fileName: string, fields: ReadonlyMap<string, string>): Sink | Promise<Sink>;
}

export interface Upload<Sink extends ByteSink> {
  readonly sink: Sink;
  readonly fileName: string;
  readonly fields: ReadonlyMap<string, string>;
  /** Files in the sink, in order; more than one only with `several`. */
  readonly files: readonly { readonly name: string; readonly length: number }[];
  /** True when the form had a file that the upload does not take; it has not been read. */
  readonly isShortened: boolean;
}

/** Maximum number of files in one upload. */
const MAX_FILES = 100;
const ERRORS: FormErrors = {
  notMultipart: () => new Refusal('upload.empty', 'The body must be multipart/form-data.'),
  malformed: (reason) => new Refusal('validation.body-invalid', reason),
  tooLarge: (maxBytes) => new Refusal('upload.too-large', `At most ${maxBytes} bytes are accepted.`),
  fieldTooLong: (name, maxBytes) =>
    new Refusal('validation.body-invalid', `The field ${name} is too long.`, {
      errors: { [name]: [`must be at most ${maxBytes} bytes`] },
    }),
};

/**
 * Reads the form; the first part with a file name is the file. The sink is complete but not yet accepted when this
 * resolves, and discarded when it rejects.
 * Refusals: `upload.empty`, `upload.too-large`, `upload.invalid-name`, `validation.body-invalid`, and those of
 * `open`.
 */
export function readUploadForm<Sink extends ByteSink>(
  body: AsyncIterable<Buffer>,
  rules: UploadRules<Sink>,
): Promise<Upload<Sink>> {
  return readUpload(body, { maxFieldBytes: FIELD_BYTES, errors: ERRORS, ...rules }, new UploadForm(rules));
}

class UploadForm<Sink extends ByteSink> implements FormHandler<Upload<Sink>> {
  #sink: Sink | undefined;
  #fileName = '';
  readonly #files: { readonly name: string; readonly start: number }[] = [];
  #isShortened = false;
  #sawNamelessFile = false;

  constructor(private readonly rules: UploadRules<Sink>) {}

  startPart(
    { name, fileName }: FormPart,
    fields: ReadonlyMap<string, string>,
  ): PartTarget | Promise<PartTarget> {
    if (fileName !== undefined) {
      if (this.#sink !== undefined) return this.#takeAnother(name, fileName, this.#sink, fields);
      this.#fileName = cleanFileName(fileName);
      const opened = this.rules.open(this.#fileName, fields);
      return opened instanceof Promise
        ? opened.then((sink) => this.#takeFirst(sink))
        : this.#takeFirst(opened);
    }
    if (name === 'file') this.#sawNamelessFile = true;
    return this.rules.fields.includes(name) && !fields.has(name) ? { to: 'field', name } : NOWHERE;
  }

  finish(fields: ReadonlyMap<string, string>): Upload<Sink> {
    const sink = this.#sink;
    if (sink === undefined) {
      if (this.#sawNamelessFile) throw new Refusal('upload.invalid-name', 'The file part has no file name.');
      throw new Refusal('upload.empty', 'The form has no file part.');
    }
    if (sink.length === 0) throw new Refusal('upload.empty', 'The file has no bytes.');
    const files = this.#files.map(({ name, start }, index) => ({
      name,
      length: (this.#files[index + 1]?.start ?? sink.length) - start,
    }));
    if (files.some(({ length }) => length === 0)) throw new Refusal('upload.empty', 'A file has no bytes.');
    if (files.length > 1) {
      const { size } = new Set(files.map(({ name }) => name.normalize('NFKC').toLowerCase()));
      if (size < files.length)
        throw new Refusal('upload.invalid-name', 'Two files of one upload need different names.');
    }
    return { sink, fileName: this.#fileName, fields, files, isShortened: this.#isShortened };
  }

  /** Appends a further file to the first where its profile signs them in one container. */
  #takeAnother(name: string, fileName: string, sink: Sink, fields: ReadonlyMap<string, string>): PartTarget {
    // A file input of a page that is left empty sends a part without name and bytes.
    if (fileName === '') return { to: 'refusal', refusal: namelessFile() };
    const isFurther = name === (this.rules.furtherParts ?? 'file');
    if (!isFurther || this.rules.several?.(this.#fileName, fields) !== true) {
      this.#isShortened = true;
      return NOWHERE;
    }
    if (this.#files.length === MAX_FILES)
      throw new Refusal('validation.body-invalid', `One upload takes at most ${MAX_FILES} files.`);
    return this.#takeFile(cleanFileName(fileName), sink);
  }

  #takeFirst(sink: Sink): PartTarget {
    this.#sink = sink;
    return this.#takeFile(this.#fileName, sink);
  }

  #takeFile(name: string, sink: Sink): PartTarget {
    this.#files.push({ name, start: sink.length });
    return { to: 'file', sink };
  }
}

/** Printable ASCII that begins with no space, without separators of paths: such a name stays as it is. */
const PLAIN_NAME = /^[!-.0-[\]-~][ -.0-[\]-~]*$/;

/**
 * Returns the last path segment of the client's file name, in NFC and without control and invisible characters: those that
 * reverse what follows make `.exe` read as `.pdf`.
 * Refusals: `upload.invalid-name` for a name of which nothing is seen, `.` and `..`. Source: docs/batch-values.md §3.
 */
export function cleanFileName(given: string): string {
  if (PLAIN_NAME.test(given) && given !== '.' && given !== '..') return given;
  const segment = given.split(/[/\\]/).at(-1) ?? '';
  const name = visibleText(withoutControls(segment));
  if (isBlank(name) || name === '.' || name === '..') throw namelessFile();
  return name;
}

function namelessFile(): Refusal {
  return new Refusal('upload.invalid-name', 'The file part needs a file name.');
}
