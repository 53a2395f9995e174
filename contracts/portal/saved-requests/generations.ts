/** Many documents of a template and a table. Source: docs/portal-values.md §20. */

import { z } from 'zod';
import { entity, id, maybeFlag, maybePart, maybeText, maybeUuid, members, shown } from '../../fields.ts';
import type { Value } from '../../operation.ts';
import { failureCode, failureMessage, identity } from '../entities.ts';
import { EXAMPLE_IDS, SIGNER } from '../examples.ts';
import { fileReference } from '../flow.ts';
import { idIn } from '../ids.ts';
import { pageOf, paging } from '../lists.ts';
import { creationMembers, newFlowActions } from '../new-documents.ts';
import { operationsOf } from '../operation.ts';

export const generation = entity('DocumentGeneration', {
  id: identity,
  status: z
    .enum(['Pending', 'Init', 'Completed', 'Done', 'Error', 'WaitingSignatures', 'Canceling', 'Canceled'])
    .describe('Current state.'),
  type: shown(z.string().nullable(), 'Kind of the documents. Null: none.', 'Deed'),
  agentId: id.describe('The application that asked for it.'),
  folderId: id
    .nullable()
    .describe('Folder of the document. Null or absent: none. It takes precedence over `newFolderName`.'),
  subscriptionId: shown(z.null(), 'Always null.', null),
  totalDocumentsCount: shown(z.int(), 'Documents that the generation creates if no row is refused.', 120),
  initializedCount: shown(z.int(), 'Documents that were made.', 118),
  completedCount: shown(z.int(), 'Documents that are concluded.', 96),
  error: maybePart('Reason of the failure. Null: the generation did not fail.', {
    code: failureCode,
    message: failureMessage,
  }),
  refusedRowsCount: shown(z.int(), 'Rows that became no documents; the list of rows tells why.', 2),
  template: maybePart('The template that the documents are made of; null: a text.', {
    id: id.describe('Id of the template.'),
    version: shown(z.int(), 'The version of the template that is used.', 2),
  }),
});

const generationRow = z
  .strictObject({
    row: shown(z.int().min(1), 'Number of the row; the first one below the names of the columns is 1.', 1),
    status: z
      .enum(['Pending', 'Made', 'Refused'])
      .describe('`Pending`: not made yet, or never, where the generation was canceled or failed.'),
    documentIds: z.array(id).describe('The documents of the row.'),
    error: maybePart('Why a row was refused.', {
      code: shown(z.string(), 'Code of the refusal.', 'InvalidDocumentStatus'),
      message: shown(z.string(), 'What is wrong with the row.', 'The document is already concluded.'),
    }),
  })
  .meta({
    id: 'DocumentGenerationRow',
    description: 'A row of the table of a generation.',
    example: {
      row: 2,
      status: 'Refused',
      documentIds: [],
      error: {
        code: 'InvalidFieldValue',
        message: 'A field was not filled in as it must be. rent: The value must be a number.',
      },
    },
  });

export const tableFile = fileReference.describe(
  'Upload with the table: CSV, XLSX or a JSON list of flat objects, of at most 8 MiB. Its first line names the columns; each of at most 10,000 further rows makes a document.',
);

export const skipHiddenRows = maybeFlag.describe(
  'True: rows that are hidden in a spreadsheet, by a filter or by hand, become no documents. Otherwise one such row refuses the call.',
);

const { folderId, newFolderName, type, expirationDate, notifiedEmails, observers } = creationMembers;

const newGeneration = members({
  flowActions: newFlowActions,
  observers,
  folderId,
  newFolderName,
  organizationId: maybeUuid.describe('Accepted and ignored: the key decides the organization.'),
  type,
  notaryType: shown(maybeText, 'Accepted and ignored.', 'None'),
  expirationDate,
  notifiedEmails,
  dataFile: tableFile,
  skipHiddenRows,
  templateFile: fileReference.describe(
    'Upload with the template, a text. Names of columns of the table stand in double braces.',
  ),
})
  .transform(
    ({ organizationId: _organization, notaryType: _notary, skipHiddenRows: skipsHidden, ...request }) => ({
      ...request,
      skipHiddenRows: skipsHidden === true,
    }),
  )
  .meta({ id: 'NewDocumentGeneration' });

const params = z.object({ id: idIn('Id of the generation.') });

const operation = operationsOf({ group: 'Generation' });

export const createGeneration = operation('POST /api/documents/generation', {
  summary: 'Creates a document from a text template for every row of a table.',
  description:
    '`templateFile` is an uploaded text, `dataFile` an uploaded table (CSV, JSON or XLSX). `{{column}}` in the text, its name and the flow is replaced by the value of the row. Every row is checked before the first document is created (`InvalidGenerationFile`, `InvalidFlowAction`, `InvalidIdentifier`). The documents are created after the reply, which has the id of the generation. The same `Idempotency-Key` with the same request returns the same generation.',
  scope: 'Create',
  idempotent: true,
  body: newGeneration,
  largeBody: true,
  reply: generation,
  examples: {
    request: {
      templateFile: { id: EXAMPLE_IDS.template, name: 'letter.txt', contentType: 'text/plain' },
      dataFile: { id: EXAMPLE_IDS.table, name: 'people.csv', contentType: 'text/csv' },
      flowActions: [{ ...SIGNER, user: { name: '{{name}}', email: '{{email}}' } }],
    },
  },
  refusals: [
    'FolderNotFound',
    'IdempotencyConflict',
    'InvalidFieldValue',
    'InvalidFlowAction',
    'InvalidGenerationFile',
    'InvalidIdentifier',
    'LimitExceeded',
    'UploadNotFound',
  ],
});

export const getGeneration = operation('GET /api/documents/generation/{id}', {
  summary: 'Returns a generation with its progress.',
  description:
    'Contains the number of documents in total, created and concluded. `error` is the reason why the generation failed. A generation of another organization is `DocumentGenerationNotFound`.',
  scope: 'Read',
  params,
  reply: generation,
  refusals: ['DocumentGenerationNotFound'],
});

export const listGenerationRows = operation('GET /api/documents/generation/{id}/rows', {
  summary: 'Lists the rows of a generation, with their documents or the reason of a refusal.',
  description:
    'Rows are numbered from 1. A refused row has an error code and a message, and does not stop the others.',
  scope: 'Read',
  params,
  query: members({ limit: paging.limit, offset: paging.offset }),
  reply: pageOf(generationRow),
  refusals: ['DocumentGenerationNotFound'],
});

export const cancelGeneration = operation('POST /api/documents/generation/{id}/cancellation', {
  summary: 'Cancels a generation after the rows in progress; its documents stay.',
  description:
    'Documents that exist are not canceled; `POST /api/documents/operations` does that. `DocumentOperationEnded`: the generation has ended.',
  scope: 'Create',
  params,
  reply: generation,
  refusals: ['DocumentGenerationNotFound', 'DocumentOperationEnded'],
});

export type NewGeneration = Value<typeof newGeneration>;
export type GenerationView = Value<typeof generation>;
export type GenerationRow = Value<typeof generationRow>;
