/**
 * What comes with a signature: values of the fields of a participant, uploads of attachments, and where the signature is seen.
 *
 * Source: docs/portal-values.md §§6, 10.
 */
import { open } from 'node:fs/promises';
import { formatOfHeader } from '@sealwright/signatures';
import type { NewMark } from '../../../contracts/portal/flow.ts';
import type { ElectronicSigning, FieldUpload } from '../../../contracts/portal/signing/signing.ts';
import { conditionsOf, knownValues } from '../../../machines/portal/documents/flow-conditions.ts';
import { withoutOrigin } from '../../../machines/portal/documents/tagged-content.ts';
import { checkFieldValues } from '../../../machines/portal/field-values.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Attachment, FileEntry, FilledValue, Mark } from '../../../machines/portal/portal-types.ts';
import type { UploadParticipant } from '../../../machines/portal/upload.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { FIELD_FILE_HEADER_BYTES } from '../api/signing.ts';
import type { DocumentFiles } from '../documents/document-files.ts';
import { planMarks } from '../documents/mark-plans.ts';
import type { Blobs } from '../uploads/blobs.ts';
import { cleanName } from '../uploads/upload-names.ts';
import type { Uploads } from '../uploads/uploads.ts';
import type { SigningCall } from './signing-access.ts';

/** Counts the pages of documents. */
export type PageCounts = Pick<DocumentFiles, 'lastPage'>;

/** The position chosen by the participant, else that of the action. Refusals: `InvalidFlowAction` for a page that the document lacks. */
export async function marksOf(
  { action, context }: Pick<SigningCall, 'action' | 'context'>,
  {
    positions,
    initials = [],
  }: { readonly positions: readonly NewMark[]; readonly initials?: readonly NewMark[] },
  files: PageCounts,
): Promise<readonly Mark[]> {
  const highest = [...positions, ...initials].reduce((page, mark) => Math.max(page, mark.pageNumber ?? 0), 0);
  // Every PDF has a first page.
  const lastPage = highest > 1 ? await files.lastPage(context.organization.id, context, highest) : null;
  const everywhere = [{ uploadId: '', pagesBefore: 0, pages: undefined, lastPage }];
  const withoutUploadId = (marks: readonly NewMark[]) => marks.map(({ uploadId: _, ...mark }) => mark);
  const given = planMarks(withoutUploadId(positions), everywhere);
  const initialed = planMarks(
    withoutUploadId(initials).map((mark) => ({ ...mark, type: 'SignatureInitials' as const })),
    everywhere,
  );
  const marks = action.marks.map(withoutOrigin);
  const placed = given.length > 0 ? given : marks.filter(({ type }) => type !== 'SignatureInitials');
  const others = initialed.length > 0 ? initialed : marks.filter(({ type }) => type === 'SignatureInitials');
  return [...placed, ...others];
}

/** Most wrong fields that a refusal names. */
const MAX_NAMED = 20;
/** Largest attachment that an application uploads, bytes; ours. */
const MAX_ATTACHMENT_BYTES = 25 * 1024 * 1024;

/** Refusals: `InvalidFieldValue`, with what is wrong by name of field; `UploadNotFound`. */
export async function valuesOf(
  call: Pick<SigningCall, 'action' | 'context' | 'turn' | 'isByTicket'>,
  given: NonNullable<ElectronicSigning['fieldValues']> = {},
  {
    runtime,
    uploads,
    blobs,
  }: {
    readonly runtime: Pick<ServiceRuntime, 'clock' | 'ids'>;
    readonly uploads: Pick<Uploads, 'findUpload'>;
    readonly blobs: Pick<Blobs, 'localPath'>;
  },
): Promise<{ readonly values?: readonly FilledValue[] }> {
  const { fields = [] } = call.action;
  const entries = new Map<string, FileEntry>();
  const texts: Record<string, unknown> = { ...given };
  for (const { name, type } of fields) {
    if (type !== 'Attachment') continue;
    const upload = Object.hasOwn(given, name) ? given[name] : undefined;
    delete texts[name];
    const entry = await uploaded(call, name, { given: upload, uploads, blobs });
    if (entry === undefined) continue;
    entries.set(name, entry);
    texts[name] = entry.name;
  }
  const known = fields.some((field) => conditionsOf(field).length > 0)
    ? knownValues(call.context)
    : undefined;
  const { values, faults } = checkFieldValues(fields, texts, known);
  if (faults.size > 0) throw wrongFields([...faults]);
  if (call.action.fields === undefined) return {};
  return {
    values: values.map((value): FilledValue => {
      const file = entries.get(value.name);
      return file === undefined ? value : { ...value, attachment: attachmentOf(value, file, runtime) };
    }),
  };
}

/** Private, for applications only: it may be an identity document. */
function attachmentOf(
  { fieldId }: FilledValue,
  file: FileEntry,
  { ids, clock }: Pick<ServiceRuntime, 'clock' | 'ids'>,
): Attachment {
  return { id: ids.uuid(), file, isPrivate: true, creationDate: clock.now(), fieldId };
}

/** Undefined when nothing was given. */
async function uploaded(
  call: Pick<SigningCall, 'context' | 'turn' | 'isByTicket'>,
  field: string,
  {
    given,
    uploads,
    blobs,
  }: {
    readonly given: unknown;
    readonly uploads: Pick<Uploads, 'findUpload'>;
    readonly blobs: Pick<Blobs, 'localPath'>;
  },
): Promise<FileEntry | undefined> {
  if (given === undefined || given === null || given === '') return undefined;
  if (typeof given !== 'string') throw wrongFields([[field, 'The value must be the id of an upload.']]);
  // A ticket reaches what its participant uploaded, a key what applications of the organization did.
  const owner = call.isByTicket ? participantOf(call) : undefined;
  const upload = await uploads.findUpload(call.context.organization.id, given, owner);
  const { id, name: fileName, blob, md5 } = upload;
  const file = await open(await blobs.localPath(blob));
  try {
    const header = Buffer.alloc(Math.min(FIELD_FILE_HEADER_BYTES, blob.length));
    await file.read(header, 0, header.length, 0);
    const contentType = attachmentType(field, header);
    if (blob.length > MAX_ATTACHMENT_BYTES)
      throw wrongFields([[field, `The file has more than ${MAX_ATTACHMENT_BYTES} bytes.`]]);
    const name = cleanName(fileName);
    return { uploadId: id, displayName: name, name, contentType, blob, md5 };
  } finally {
    await file.close();
  }
}

/** Owner of what the participant of a call uploads. */
export function participantOf({ context, turn }: Pick<SigningCall, 'context' | 'turn'>): UploadParticipant {
  return { documentId: context.id, flowActionId: turn.flowActionId, userId: turn.userId };
}

/** Detects the type from the content; names and declared types are not reliable. Refusals: `InvalidFieldValue`. */
export function attachmentType(field: string, header: Buffer): FieldUpload['contentType'] {
  if (header.subarray(0, 8).toString('hex') === '89504e470d0a1a0a') return 'image/png';
  if (header.subarray(0, 3).toString('hex') === 'ffd8ff') return 'image/jpeg';
  if (formatOfHeader(header.subarray(0, FIELD_FILE_HEADER_BYTES)) === 'Pades') return 'application/pdf';
  throw wrongFields([[field, 'The file must be a PDF, PNG or JPEG.']]);
}

/** Refusal that says what is wrong by name of field. */
export function wrongFields(faults: readonly (readonly [string, string])[]): PortalRefusal {
  const details = Object.fromEntries(
    faults.slice(0, MAX_NAMED).map(([name, text]) => [name.slice(0, 100), text]),
  );
  return new PortalRefusal('InvalidFieldValue', undefined, { details });
}
