/** Creates containers: files and a signature over all of them (EN 319 162-1 §4.3, §4.4, baseline §5). */
import { basename } from 'node:path';
import { openSource, type Source, SourceRange } from '../core/files.ts';
import { assertRequest } from '../core/request-checks.ts';
import {
  CryptoError,
  type Fingerprint,
  type InputFile,
  type OutputFile,
  type RemoteSigner,
  type SignatureLevel,
  type SignatureParameters,
  type SignedFile,
  type Signer,
} from '../core/types.ts';
import type { SigningServices } from '../evidence/authorities.ts';
import { foldedName, nameFault } from '../zip/zip-names.ts';
import { type AsicKind, isLookalike, MIME_TYPE, MIME_TYPE_MEMBER, NAMES, roleOf } from './container.ts';
import { HashingSource } from './hashing-source.ts';
import { openDocumentText } from './manifest.ts';
import { type AsicSignatureFormat, withSignature } from './new-signature.ts';
import { textMember, writeContainer } from './write-container.ts';

/** One file that goes into the container. */
export interface AsicInput {
  /** Path, opened without following a symbolic link, or the bytes, which take a `name`. */
  readonly path: InputFile;
  /** The bytes of the file that are signed. @default all of it */
  readonly range?: { readonly start: number; readonly length: number };
  /** Name in the container, folders separated by `/`. @default the last part of `path` */
  readonly name?: string;
  /** @default by the extension of the name */
  readonly mimeType?: string;
}

export interface SignAsicRequest extends SignatureParameters {
  /** `S` holds one file, `E` any number. */
  readonly kind: AsicKind;
  readonly format: AsicSignatureFormat;
  readonly inputs: readonly AsicInput[];
  /** The container. */
  readonly output: OutputFile;
  readonly signer: Signer | RemoteSigner;
  /** @default 'B' */
  readonly level?: SignatureLevel;
  /** As in `SignFileRequest`. */
  readonly sync?: boolean;
  /** Writes the media type to the comment of the ZIP file as well (Annex A.1). @default false */
  readonly comment?: boolean;
}

interface SignedAsic {
  /** Fingerprints in the order of the request. */
  readonly inputs: readonly Fingerprint[];
  readonly output: SignedFile['output'];
}

/**
 * Writes files of any size, uncompressed, and a signature over all of them into a new container. Each file is read
 * twice and must be the same both times. With RSA, equal requests give equal bytes.
 * Source: EN 319 162-1 §4.3, §4.4, §5.
 * @param services for the levels above B
 * @throws {CryptoError} `request.invalid` for no files, several in `S`, names that a container can't have, or a
 *   missing service; `input.unreadable`, `input.changed`, `output.exists`, `output.unwritable`; those of the key and
 *   of the services
 */
export async function signAsic(
  request: SignAsicRequest,
  services: SigningServices = {},
): Promise<SignedAsic> {
  assertRequest(['Cades', 'Xades'], request, ['at', 'signer']);
  const { kind, format, inputs, comment = false } = request;
  const names = namesOf(inputs, kind);
  const opened: Source[] = [];
  try {
    const objects = inputs.map(({ path, range, mimeType }, index) => {
      const whole = openSource(path);
      opened.push(whole);
      const name = names[index] ?? '';
      const source = range === undefined ? whole : rangeOf(whole, range);
      return { name, mimeType, source: new HashingSource(source, name) };
    });
    const members = [textMember(MIME_TYPE_MEMBER, MIME_TYPE[kind]), ...objects.map(({ source }) => source)];
    if (kind === 'E' && format === 'Xades') {
      members.push(textMember(NAMES.openDocument, openDocumentText(kind, objects)));
    }
    const edit = await withSignature(objects, { kind, format, added: members }, request, services);
    const text = comment ? `mimetype=${MIME_TYPE[kind]}` : '';
    const output = writeContainer(request, { ...edit, dropped: new Set() }, undefined, Buffer.from(text));
    return { inputs: objects.map(({ source }) => fingerprint(source)), output };
  } finally {
    for (const source of opened) source.close();
  }
}

/** Selects a range of a file. @throws {CryptoError} `input.changed` when the file ends before the range does */
function rangeOf(whole: Source, { start, length }: NonNullable<AsicInput['range']>): Source {
  if (start + length <= whole.size) return new SourceRange(whole, whole.path, start, length);
  throw new CryptoError('input.changed', `${whole.path} is shorter than the files it was made of.`);
}

function fingerprint({ measure, size, mtimeMs, inode }: HashingSource): Fingerprint {
  return { sha256: measure.sha256, length: size, mtimeMs, inode };
}

function namesOf(inputs: readonly AsicInput[], kind: AsicKind): string[] {
  if (inputs.length === 0) throw new CryptoError('request.invalid', 'There is nothing to sign.');
  if (kind === 'S' && inputs.length > 1) {
    throw new CryptoError('request.invalid', `A container of one file can't hold ${inputs.length}.`);
  }
  const seen = new Set<string>();
  return inputs.map(({ path, name = typeof path === 'string' ? basename(path) : 'content' }) => {
    const fault =
      nameFault(name) ??
      placeFault(name, kind) ??
      (seen.has(foldedName(name)) ? 'another has it' : undefined);
    if (fault !== undefined) {
      throw new CryptoError('request.invalid', `"${name}" can't be a name in the container: ${fault}.`);
    }
    seen.add(foldedName(name));
    return name;
  });
}

function placeFault(name: string, kind: AsicKind): string | undefined {
  if (roleOf(name) !== 'data' || isLookalike(name)) return 'it is kept for the container itself';
  return kind === 'S' && name.includes('/') ? 'the only file stands in no folder' : undefined;
}
