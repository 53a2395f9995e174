/** Files that participants upload for fields of the type Attachment, before they sign. */
import { type FieldUpload, MAX_FIELD_FILE_BYTES } from '../../../contracts/portal/signing/signing.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { BlobSink } from '../uploads/blob-sink.ts';
import type { Uploads, UploadUsage, UploadView } from '../uploads/uploads.ts';
import { assertTurn, type SigningCall } from './signing-access.ts';
import { attachmentType, participantOf, wrongFields } from './signing-fields.ts';

/** Most uploads that have not expired, and their bytes in all; ours. */
const MOST_OF_PARTICIPANT: UploadUsage = { files: 40, bytes: 80_000_000 };
const MOST_OF_DOCUMENT: UploadUsage = { files: 400, bytes: 800_000_000 };

const NOTHING: UploadUsage = { files: 0, bytes: 0 };

/** A file that a participant attaches, on its way. */
export interface FieldFile {
  readonly name: string;
  /** Its first `FIELD_FILE_HEADER_BYTES`, which tell its type. */
  readonly header: Buffer;
}

export class FieldUploads {
  constructor(private readonly uploads: Uploads) {}

  /**
   * Refusals: `InvalidDocumentStatus`, `InvalidFieldValue`, `LimitExceeded`.
   * @param stored the upload that is checked, when it is counted already
   */
  async check(call: SigningCall, field: string, stored: UploadUsage = NOTHING): Promise<void> {
    assertTurn(call);
    const { fields = [] } = call.action;
    if (!fields.some(({ name, type }) => name === field && type === 'Attachment'))
      throw wrongFields([[field, 'This participant has no attachment of this name.']]);
    const { own, document } = await this.uploads.usedBy(participantOf(call));
    if (isFull(own, stored, MOST_OF_PARTICIPANT))
      throw new PortalRefusal(
        'LimitExceeded',
        `A participant may upload ${MOST_OF_PARTICIPANT.files} files for one action, and ${MOST_OF_PARTICIPANT.bytes} bytes in all.`,
      );
    if (isFull(document, stored, MOST_OF_DOCUMENT))
      throw new PortalRefusal(
        'LimitExceeded',
        `The participants of a document may upload ${MOST_OF_DOCUMENT.files} files, and ${MOST_OF_DOCUMENT.bytes} bytes in all.`,
      );
  }

  /**
   * Refusals: those of `check`; `BadRequest`, `PayloadTooLarge`. The sink is used up in any case.
   * @param read the call with the document of now: it may end, or other uploads may be stored, while this one is
   */
  async accept(
    read: () => Promise<SigningCall>,
    field: string,
    sink: BlobSink,
    { name, header }: FieldFile,
  ): Promise<FieldUpload> {
    try {
      const call = await read();
      await this.check(call, field);
      const contentType = attachmentType(field, header);
      const file = { name, contentType, maxBytes: MAX_FIELD_FILE_BYTES };
      const { id } = call.context.organization;
      const made = await this.uploads.acceptOf(id, participantOf(call), sink, file);
      await this.#checkStored(read, field, made);
      return {
        id: made.id,
        name: made.name,
        contentType,
        size: made.size,
        sha256: made.sha256,
      };
    } finally {
      await sink.abort();
    }
  }

  /** Ends an upload that came too late. */
  async #checkStored(read: () => Promise<SigningCall>, field: string, made: UploadView): Promise<void> {
    try {
      await this.check(await read(), field, { files: 1, bytes: made.size });
    } catch (error) {
      await this.uploads.forget(made.id);
      throw error;
    }
  }
}

/** True when no further upload has room besides the stored one. */
function isFull(used: UploadUsage, stored: UploadUsage, most: UploadUsage): boolean {
  return used.files - stored.files >= most.files || used.bytes - stored.bytes >= most.bytes;
}
