/** Files that participants upload for fields of the type Attachment, before they sign. */
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { MAX_FIELD_FILE_BYTES, type PortalSigning } from '../api/signing.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { assertTurn, type SigningCall } from './signing-access.ts';
import { attachmentType, participantOf, wrongFields } from './signing-fields.ts';

/** Most uploads of a participant in one action that have not expired, and their bytes in all; ours. */
const MAX_FILES = 40;
const MAX_BYTES = 80_000_000;

type AcceptParameters = Parameters<PortalSigning['acceptFieldUpload']>;

export class FieldUploads {
  readonly #uploads: Pick<Uploads, 'acceptOf' | 'usedBy'>;

  constructor(uploads: Pick<Uploads, 'acceptOf' | 'usedBy'>) {
    this.#uploads = uploads;
  }

  /** Refusals: `InvalidDocumentStatus`, `InvalidFieldValue`, `LimitExceeded`. */
  async check(call: SigningCall, field: string): Promise<void> {
    assertTurn(call);
    const { fields = [] } = call.action;
    if (!fields.some(({ name, type }) => name === field && type === 'Attachment'))
      throw wrongFields([[field, 'This participant has no attachment of this name.']]);
    const { files, bytes } = await this.#uploads.usedBy(participantOf(call));
    if (files >= MAX_FILES || bytes >= MAX_BYTES)
      throw new PortalRefusal(
        'LimitExceeded',
        `A participant may upload ${MAX_FILES} files for one action, and ${MAX_BYTES} bytes in all.`,
      );
  }

  /** Refusals: those of `check`; `BadRequest`, `PayloadTooLarge`. The sink is used up in any case. */
  async accept(
    call: SigningCall,
    field: AcceptParameters[1],
    sink: AcceptParameters[2],
    { name, header }: AcceptParameters[3],
  ): ReturnType<PortalSigning['acceptFieldUpload']> {
    try {
      await this.check(call, field);
      const contentType = attachmentType(field, header);
      const file = { name, contentType, maxBytes: MAX_FIELD_FILE_BYTES };
      const { id } = call.context.organization;
      const made = await this.#uploads.acceptOf(id, participantOf(call), sink, file);
      return {
        ...{ id: made.id, name: made.name, contentType: made.contentType },
        ...{ size: made.size, sha256: made.sha256 },
      };
    } finally {
      await sink.abort();
    }
  }
}
