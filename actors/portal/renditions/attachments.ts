/** Attachments of a document as files that can be read. */

import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { type Attachment, mediaTypeOf } from '../../../machines/portal/portal-types.ts';
import type { Blobs, StoredFile } from '../uploads/blobs.ts';

/** The file of one of these attachments. Refusals: `AttachmentNotFound`. */
export function attachmentFile(
  blobs: Pick<Blobs, 'file'>,
  attachments: readonly Attachment[],
  attachmentId: string,
): StoredFile {
  const wanted = attachmentId.toLowerCase();
  const found = attachments.find(({ id }) => id === wanted);
  if (found === undefined) throw new PortalRefusal('AttachmentNotFound');
  const { file } = found;
  return blobs.file(file.blob, file.name, mediaTypeOf(file));
}

/** Attachments that participants may read: all but the private ones, which keys alone read. */
export function publicAttachments(attachments: readonly Attachment[]): readonly Attachment[] {
  return attachments.filter(({ isPrivate }) => !isPrivate);
}
