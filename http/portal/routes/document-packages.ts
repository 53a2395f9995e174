/**
 * Files of several documents in one: `/api/documents/archive` and `/api/documents/combined`.
 *
 * Source: docs/decisions/0128-files-of-several-documents.md.
 */

import type { DocumentPackages, TemporaryFile } from '../../../actors/portal/api.ts';
import { list, members, uuid, word } from '../../../contracts/fields.ts';
import { EXAMPLE_IDS } from '../../../contracts/portal/examples.ts';
import { UNKNOWN_DOCUMENT } from '../../../contracts/portal/refusals.ts';
import { DOWNLOAD_TYPES } from '../../../contracts/portal/words.ts';
import type { EmptyReply, FileReply } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { documentId } from '../input/ids.ts';
import { portalRoute } from '../route.ts';
import { storedFileReply } from '../stored-file.ts';

/** Documents of one file; as many as one creation call makes. */
const MAX_DOCUMENTS = 50;

const packageInput = members({
  documents: list(uuid, { least: 1, most: MAX_DOCUMENTS }).describe('Ids of the documents, in order.'),
  type: word(DOWNLOAD_TYPES).nullish().describe('Which file of each document; `Original` when absent.'),
});

const REFUSALS = [
  ...UNKNOWN_DOCUMENT,
  'DocumentHasNoSignatures',
  'DownloadTypeNotAvailable',
  'LimitExceeded',
] as const;

export function documentPackageRoutes(packages: DocumentPackages): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'POST',
      path: '/api/documents/archive',
      group: 'Documents',
      summary: 'Sends a ZIP file with one file of each document.',
      description:
        'For at most 50 documents; `type` selects the file of each. Together the files have at most 1 GiB (`LimitExceeded`). The request is refused when one document has no such file (`DocumentHasNoSignatures`, `DownloadTypeNotAvailable`). The history of each document records the download. An organization has at most two of these downloads at a time (`TooManyRequests`).',
      scope: 'Read',
      folderKeys: true,
      body: packageInput,
      responses: { 200: 'file' },
      examples: { request: { documents: [EXAMPLE_IDS.document], type: 'Original' } },
      refusals: REFUSALS,
      async handle({ tenant, body }) {
        const ids = body.documents.map(documentId);
        return temporaryFileReply(await packages.archive(tenant, ids, body.type ?? 'Original'));
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/combined',
      group: 'Documents',
      summary: 'Sends one PDF with the pages of several documents, without their signatures.',
      description:
        'For printing: at most 50 PDF documents, in the given order. The pages are copied without signatures, so the file proves nothing; `archive` sends the signed files. `EnvelopeRequiresPdf`: a file is not a PDF.',
      scope: 'Read',
      folderKeys: true,
      body: packageInput,
      responses: { 200: 'file' },
      examples: { request: { documents: [EXAMPLE_IDS.document], type: 'Original' } },
      refusals: [...REFUSALS, 'DocumentUnreadable', 'EnvelopeRequiresPdf'],
      async handle({ tenant, body }) {
        const ids = body.documents.map(documentId);
        return temporaryFileReply(await packages.combine(tenant, ids, body.type ?? 'Original'));
      },
    }),
  ];
}

/** The file, which is removed when it has been sent. */
async function temporaryFileReply(stored: TemporaryFile): Promise<FileReply | EmptyReply> {
  try {
    const reply = await storedFileReply(stored, () => '');
    if (reply.kind !== 'file') return reply;
    const { file } = reply;
    const source: FileReply['file'] = {
      read: (...where) => file.read(...where),
      async close() {
        await file.close();
        await stored.remove();
      },
    };
    return { ...reply, file: source };
  } catch (error) {
    await stored.remove();
    throw error;
  }
}
