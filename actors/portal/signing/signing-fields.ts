/** Values of the fields of a participant, and the files of attachments, as they come with a signature. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { checkFieldValues } from '../../../machines/portal/field-values.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Attachment, FileEntry, FilledValue } from '../../../machines/portal/portal-types.ts';
import type { Clock, Ids } from '../../../runtime/index.ts';
import type { FieldFileInput, FieldValuesInput } from '../api/signing.ts';
import type { Blobs } from '../uploads/blobs.ts';
import { cleanName } from '../uploads/upload-names.ts';
import type { Uploads } from '../uploads/uploads.ts';
import type { SigningCall } from './signing-access.ts';

/** Most wrong fields that a refusal names. */
const MAX_NAMED = 20;
/** Largest attachment, bytes; those of a page are limited by the request. Ours. */
const MAX_ATTACHMENT_BYTES = 25 * 1024 * 1024;
/** Bytes that tell the type of a file. */
const HEADER_BYTES = 1024;

export interface FieldFileDependencies {
  readonly blobs: Pick<Blobs, 'put' | 'pathOf'>;
  readonly uploads: Pick<Uploads, 'findUpload'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
}

/** Refusals: `InvalidFieldValue`, with what is wrong by name of field; `UploadNotFound`. */
export async function valuesOf(
  { action, context }: Pick<SigningCall, 'action' | 'context'>,
  given: FieldValuesInput = {},
  files: readonly FieldFileInput[] = [],
  dependencies: FieldFileDependencies,
): Promise<{ readonly values?: readonly FilledValue[] }> {
  const { fields = [] } = action;
  const attached = fields.filter(({ type }) => type === 'Attachment');
  const named = new Set(attached.map(({ name }) => name));
  const foreign = files.filter(({ field }) => !named.has(field));
  if (foreign.length > 0)
    throw refused(foreign.map(({ field }) => [field, 'This participant has no attachment of this name.']));
  const entries = new Map<string, FileEntry>();
  const texts: Record<string, unknown> = { ...given };
  for (const { name } of attached) {
    const file = files.find(({ field }) => field === name);
    const upload = Object.hasOwn(given, name) ? given[name] : undefined;
    delete texts[name];
    const entry =
      file === undefined
        ? await uploaded(context.organization.id, name, upload, dependencies)
        : received(file);
    if (entry === undefined) continue;
    entries.set(name, entry);
    texts[name] = entry.name;
  }
  const { values, faults } = checkFieldValues(fields, texts);
  if (faults.size > 0) throw refused([...faults]);
  // Only what comes with good values is stored.
  for (const { field, content } of files) {
    const entry = entries.get(field);
    if (entry !== undefined) await dependencies.blobs.put(content);
  }
  if (action.fields === undefined) return {};
  return {
    values: values.map((value): FilledValue => {
      const file = entries.get(value.name);
      return file === undefined ? value : { ...value, attachment: attachmentOf(value, file, dependencies) };
    }),
  };
}

/** Only applications read it: it may be a document of identity. */
function attachmentOf(
  { fieldId }: FilledValue,
  file: FileEntry,
  { ids, clock }: FieldFileDependencies,
): Attachment {
  return { id: ids.uuid(), file, isPrivate: true, creationDate: clock.now(), fieldId };
}

function received({ field, name, content }: FieldFileInput): FileEntry {
  const digest = (algorithm: string) => createHash(algorithm).update(content);
  const blob = { sha256: digest('sha256').digest('hex'), length: content.length };
  return entryOf(field, { name, blob, md5: digest('md5').digest('base64'), uploadId: null }, content);
}

/** Undefined when nothing was given. */
async function uploaded(
  organization: SigningCall['context']['organization']['id'],
  field: string,
  given: unknown,
  { uploads, blobs }: FieldFileDependencies,
): Promise<FileEntry | undefined> {
  if (given === undefined || given === null || given === '') return undefined;
  if (typeof given !== 'string') throw refused([[field, 'The value must be the id of an upload.']]);
  const { id, name, blob, md5 } = await uploads.findUpload(organization, given);
  const file = await open(blobs.pathOf(blob));
  try {
    const header = Buffer.alloc(Math.min(HEADER_BYTES, blob.length));
    await file.read(header, 0, header.length, 0);
    return entryOf(field, { name, blob, md5, uploadId: id }, header);
  } finally {
    await file.close();
  }
}

function entryOf(
  field: string,
  { name: given, blob, md5, uploadId }: Pick<FileEntry, 'name' | 'blob' | 'md5' | 'uploadId'>,
  header: Buffer,
): FileEntry {
  const contentType = typeOf(header);
  if (contentType === undefined) throw refused([[field, 'The file must be a PDF, PNG or JPEG.']]);
  if (blob.length > MAX_ATTACHMENT_BYTES)
    throw refused([[field, `The file has more than ${MAX_ATTACHMENT_BYTES} bytes.`]]);
  const name = cleanName(given);
  return { uploadId, displayName: name, name, contentType, blob, md5 };
}

/** Tells the type by the content: names and declared types are claims. */
function typeOf(header: Buffer): string | undefined {
  if (header.subarray(0, 8).toString('hex') === '89504e470d0a1a0a') return 'image/png';
  if (header.subarray(0, 3).toString('hex') === 'ffd8ff') return 'image/jpeg';
  return header.subarray(0, HEADER_BYTES).includes('%PDF-') ? 'application/pdf' : undefined;
}

function refused(faults: readonly (readonly [string, string])[]): PortalRefusal {
  const details = Object.fromEntries(
    faults.slice(0, MAX_NAMED).map(([name, text]) => [name.slice(0, 100), text]),
  );
  return new PortalRefusal('InvalidFieldValue', undefined, { details });
}
