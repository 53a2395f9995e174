/** Makes containers: files with a signature over all of them beside them (EN 319 162-1 §4.3, §4.4, baseline §5). */
import { basename } from 'node:path';
import type { SigningServices } from '../authorities.ts';
import { openSource, type Source } from '../files/source.ts';
import type { SignatureParameters } from '../types.ts';
import {
  CryptoError,
  type Fingerprint,
  type SignatureLevel,
  type SignedFile,
  type Signer,
} from '../types.ts';
import { type AsicKind, isLookalike, MIME_TYPE, MIME_TYPE_MEMBER, NAMES, roleOf } from './container-kinds.ts';
import { openDocumentText } from './manifest-text.ts';
import { MeasuredSource } from './measured-source.ts';
import { type AsicSignatureFormat, withSignature } from './new-signature.ts';
import { textMember, writeContainer } from './write-container.ts';
import { foldedName, nameFault } from './zip-names.ts';

/** One file that goes into the container. */
export interface AsicInput {
  /** Opened without following a symbolic link. */
  readonly path: string;
  /** In the container, folders separated by `/`. @default the last part of `path` */
  readonly name?: string;
  /** @default by the extension of the name */
  readonly mimeType?: string;
}

export interface SignAsicRequest extends SignatureParameters {
  /** `S` holds one file, `E` any number. */
  readonly kind: AsicKind;
  readonly format: AsicSignatureFormat;
  readonly inputs: readonly AsicInput[];
  /** Path of the container. Must not exist; removed again when signing fails. */
  readonly output: string;
  readonly signer: Signer;
  /** @default 'B' */
  readonly level?: SignatureLevel;
  /** As in `SignFileRequest`. */
  readonly sync?: boolean;
  /** Says the media type in the comment of the ZIP file too (Annex A.1). @default false */
  readonly comment?: boolean;
}

export interface SignedAsic {
  /** In the order of the request. */
  readonly inputs: readonly Fingerprint[];
  readonly output: SignedFile['output'];
}

/**
 * Puts files of any size, stored as they are, and a signature over all of them into a new container. Each is read twice
 * and has to be the same both times. With RSA, the same request gives the same bytes.
 * @param services for the levels above B
 * @throws {CryptoError} `request.invalid` for no files, several in `S`, names that a container can't have, or a missing
 *   service; `input.unreadable`, `input.changed`, `output.exists`, `output.unwritable`; those of the key and of the services
 */
export async function signAsic(
  request: SignAsicRequest,
  services: SigningServices = {},
): Promise<SignedAsic> {
  const { kind, format, inputs, comment = false } = request;
  const names = namesOf(inputs, kind);
  const opened: Source[] = [];
  try {
    const objects = inputs.map(({ path, mimeType }, index) => {
      const source = openSource(path);
      opened.push(source);
      const name = names[index] ?? '';
      return { name, mimeType, source: new MeasuredSource(source, name) };
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

function fingerprint({ measure, size, mtimeMs, inode }: MeasuredSource): Fingerprint {
  return { sha256: measure.sha256, length: size, mtimeMs, inode };
}

function namesOf(inputs: readonly AsicInput[], kind: AsicKind): string[] {
  if (inputs.length === 0) throw new CryptoError('request.invalid', 'There is nothing to sign.');
  if (kind === 'S' && inputs.length > 1) {
    throw new CryptoError('request.invalid', `A container of one file can't hold ${inputs.length}.`);
  }
  const seen = new Set<string>();
  return inputs.map(({ path, name = basename(path) }) => {
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
