/** Input and output files of signing and augmenting in CAdES. */
import { createHash } from 'node:crypto';
import { createTarget, openSource, type Source, type Target } from '../core/files.ts';
import {
  type CadesFormat,
  CryptoError,
  type InputFile,
  type OutputFile,
  type SignedFile,
} from '../core/types.ts';
import { textEncoding } from './armor-reader.ts';

export type Armor = NonNullable<CadesFormat['armor']>;

/** `as-input`: the output has the encoding of the input. */
type ArmorChoice = Armor | 'as-input';

/** Writes the bytes of a signature, in order. */
export interface SignatureOutput {
  write(...parts: readonly Uint8Array[]): void;
}

/** The two files of one request. */
export interface FileNames<Input extends InputFile = string, Output extends OutputFile = string> {
  readonly input: Input;
  readonly output: Output;
  readonly sync?: boolean;
}

/** Result of processing the files. */
export interface FilesDone {
  /** Lower-case hex SHA-256 of the input. */
  readonly sha256: string;
}

/**
 * Opens the input, creates the output and closes both again. The output is synced when this returns (unless `sync` is
 * false) and removed when it throws.
 * @throws {CryptoError} `input.unreadable`, `input.empty`, `input.changed`, `output.exists`, `output.unwritable`, and
 * the errors of `work`
 */
export function withFiles(
  names: FileNames<InputFile, OutputFile>,
  armor: ArmorChoice,
  work: (source: Source, output: SignatureOutput) => FilesDone,
): SignedFile {
  const files = openFiles(names, armor);
  try {
    return files.finish(work(files.source, files.output));
  } catch (error) {
    files.output.discard();
    throw error;
  } finally {
    files.source.close();
  }
}

/** Asynchronous form of `withFiles`, for work that calls services. */
export async function withFilesMeanwhile(
  names: FileNames<InputFile, OutputFile>,
  armor: ArmorChoice,
  work: (source: Source, output: SignatureOutput) => Promise<FilesDone>,
): Promise<SignedFile> {
  const files = openFiles(names, armor);
  try {
    return files.finish(await work(files.source, files.output));
  } catch (error) {
    files.output.discard();
    throw error;
  } finally {
    files.source.close();
  }
}

interface Files {
  readonly source: Source;
  readonly output: HashingOutput;
  finish(done: FilesDone): SignedFile;
}

function openFiles(
  { input, output: path, sync = true }: FileNames<InputFile, OutputFile>,
  choice: ArmorChoice,
): Files {
  const source = openSource(input);
  try {
    if (source.size === 0) throw new CryptoError('input.empty', `${source.path} is empty.`);
    const armor = choice === 'as-input' ? encodingOf(source) : choice;
    const output = new HashingOutput(createTarget(path), armor);
    return {
      source,
      output,
      finish({ sha256 }) {
        source.assertUnchanged();
        const written = output.finish(sync);
        const { size: length, mtimeMs, inode } = source;
        return { input: { sha256, length, mtimeMs, inode }, output: written };
      },
    };
  } catch (error) {
    source.close();
    throw error;
  }
}

/** MIME becomes DER: the entity would need its headers again. */
function encodingOf(source: Source): ArmorForm | 'der' {
  const form = textEncoding(source)?.form ?? 'der';
  return form === 'mime' ? 'der' : form;
}

class HashingOutput implements SignatureOutput {
  readonly #target: Target;
  readonly #hash = createHash('sha256');
  readonly #armor: ArmorWriter | undefined;

  constructor(target: Target, armor: ArmorForm | 'der') {
    this.#target = target;
    this.#armor = armor === 'der' ? undefined : new ArmorWriter(armor);
  }

  write(...parts: readonly Uint8Array[]): void {
    this.#put(this.#armor === undefined ? parts : [this.#armor.lines(...parts)]);
  }

  finish(sync: boolean): SignedFile['output'] {
    if (this.#armor !== undefined) this.#put([this.#armor.end()]);
    if (sync) this.#target.sync();
    const { length } = this.#target;
    this.#target.close();
    return { sha256: this.#hash.digest('hex'), length };
  }

  discard(): void {
    this.#target.discard();
  }

  #put(parts: readonly Uint8Array[]): void {
    for (const part of parts) this.#hash.update(part);
    this.#target.write(...parts);
  }
}

// Writes a signature as PEM (RFC 7468 §8), or as Base64 without labels, chunk by chunk.

/** Bytes in a line of 64 characters. */
const LINE = 48;
const CHARACTERS = 64;
const NEW_LINE = 0x0a;

/** Bytes encoded at once: whole lines; small, so that no large string stays in memory. */
const CHUNK_BYTES = 1000 * LINE;

type ArmorForm = 'pem' | 'base64';

const LABELS: { readonly [form in ArmorForm]: { readonly begin: string; readonly end: string } } = {
  pem: { begin: '-----BEGIN PKCS7-----\n', end: '-----END PKCS7-----\n' },
  base64: { begin: '', end: '' },
};

/** Encodes chunks of any length; buffers less than one line. */
export class ArmorWriter {
  #pending: Buffer = Buffer.alloc(0);
  #isStarted = false;
  readonly #labels: (typeof LABELS)[ArmorForm];

  constructor(form: ArmorForm = 'pem') {
    this.#labels = LABELS[form];
  }

  /** Returns the complete lines; the first call puts the label before them. */
  lines(...parts: readonly Uint8Array[]): Buffer {
    const bytes = Buffer.concat([this.#pending, ...parts]);
    const whole = bytes.length - (bytes.length % LINE);
    this.#pending = bytes.subarray(whole);
    return this.#text(bytes.subarray(0, whole), '');
  }

  /** Returns the last line and the closing label. */
  end(): Buffer {
    const text = this.#text(this.#pending, this.#labels.end);
    this.#pending = Buffer.alloc(0);
    return text;
  }

  #text(bytes: Buffer, after: string): Buffer {
    const before = this.#isStarted ? '' : this.#labels.begin;
    this.#isStarted = true;
    const lines = Math.ceil(bytes.length / LINE);
    const text = Buffer.allocUnsafe(before.length + 4 * Math.ceil(bytes.length / 3) + lines + after.length);
    let at = text.write(before, 'latin1');
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
      const base64 = Buffer.from(bytes.toString('base64', from, from + CHUNK_BYTES), 'latin1');
      for (let line = 0; line < base64.length; line += CHARACTERS) {
        at += base64.copy(text, at, line, line + CHARACTERS);
        text[at++] = NEW_LINE;
      }
    }
    text.write(after, at, 'latin1');
    return text;
  }
}
