/** Many documents of a template and a table. Source: docs/portal-values.md §20. */
import { z } from 'zod';
import { id, maybeText, maybeUuid, members } from '../../fields.ts';
import type { Value } from '../../operation.ts';
import { EXAMPLE_IDS, SIGNER } from '../examples.ts';
import { fileReference } from '../flow.ts';
import { idIn } from '../ids.ts';
import { pageOf, paging } from '../lists.ts';
import { creationMembers, newFlowActions } from '../new-documents.ts';
import { operation } from '../operation.ts';

export const generation = z
  .strictObject({
    id: id.meta({ description: 'Identifier, unique within the instance.' }),
    status: z
      .enum(['Pending', 'Init', 'Completed', 'Done', 'Error', 'WaitingSignatures', 'Canceling', 'Canceled'])
      .meta({ description: 'Current state.' }),
    type: z
      .string()
      .nullable()
      .meta({ description: 'Kind of the documents. Null: none.', exampleValue: 'Deed' }),
    agentId: id.describe('The application that asked for it.'),
    folderId: id.nullable().meta({
      description: 'Folder of the document. Null or absent: none. It takes precedence over `newFolderName`.',
    }),
    subscriptionId: z.null().meta({ description: 'Always null.', exampleValue: null }),
    totalDocumentsCount: z.int().meta({
      description: 'Documents that the generation creates if no row is refused.',
      exampleValue: 120,
    }),
    initializedCount: z.int().meta({ description: 'Documents that were made.', exampleValue: 118 }),
    completedCount: z.int().meta({ description: 'Documents that are concluded.', exampleValue: 96 }),
    error: z
      .strictObject({
        code: z.string().meta({
          description: 'Error code, for programs. It is never renamed.',
          exampleValue: 'InvalidDocumentStatus',
        }),
        message: z.string().meta({
          description: 'What happened, for people. The text may change.',
          exampleValue: 'The document is already concluded.',
        }),
      })
      .nullable()
      .meta({ description: 'Reason of the failure. Null: the generation did not fail.' }),
    refusedRowsCount: z
      .int()
      .meta({ description: 'Rows that became no documents; the list of rows tells why.', exampleValue: 2 }),
    template: z
      .strictObject({
        id: id.describe('Id of the template.'),
        version: z.int().meta({ description: 'The version of the template that is used.', exampleValue: 2 }),
      })
      .nullable()
      .describe('The template that the documents are made of; null: a text.'),
  })
  .meta({ id: 'DocumentGeneration' });

const generationRow = z
  .strictObject({
    row: z.int().min(1).meta({
      description: 'Number of the row; the first one below the names of the columns is 1.',
      exampleValue: 1,
    }),
    status: z
      .enum(['Pending', 'Made', 'Refused'])
      .describe('`Pending`: not made yet, or never, where the generation was canceled or failed.'),
    documentIds: z.array(id).describe('The documents of the row.'),
    error: z
      .strictObject({
        code: z.string().meta({ description: 'Code of the refusal.', exampleValue: 'InvalidDocumentStatus' }),
        message: z.string().meta({
          description: 'What is wrong with the row.',
          exampleValue: 'The document is already concluded.',
        }),
      })
      .nullable()
      .describe('Why a row was refused.'),
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
  'Upload with the table: CSV, XLSX or a JSON list of flat objects. Its first line names the columns; each of at most 1,000 further rows makes a document.',
);

const { folderId, newFolderName, type, expirationDate, notifiedEmails, observers } = creationMembers;

const newGeneration = members({
  flowActions: newFlowActions,
  observers,
  folderId,
  newFolderName,
  organizationId: maybeUuid.meta({ description: 'Accepted and ignored: the key decides the organization.' }),
  type,
  notaryType: maybeText.meta({ description: 'Accepted and ignored.', exampleValue: 'None' }),
  expirationDate,
  notifiedEmails,
  dataFile: tableFile,
  templateFile: fileReference.meta({
    description: 'Upload with the template, a text. Names of columns of the table stand in double braces.',
  }),
})
  .transform(({ organizationId: _organization, notaryType: _notary, ...request }) => request)
  .meta({ id: 'NewDocumentGeneration' });

const params = z.object({ id: idIn('Id of the generation.') });

export const createGeneration = operation({
  method: 'POST',
  path: '/api/documents/generation',
  group: 'Generation',
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

export const getGeneration = operation({
  method: 'GET',
  path: '/api/documents/generation/{id}',
  group: 'Generation',
  summary: 'Returns a generation with its progress.',
  description:
    'Contains the number of documents in total, created and concluded. `error` is the reason why the generation failed. A generation of another organization is `DocumentGenerationNotFound`.',
  scope: 'Read',
  params,
  reply: generation,
  refusals: ['DocumentGenerationNotFound'],
});

export const listGenerationRows = operation({
  method: 'GET',
  path: '/api/documents/generation/{id}/rows',
  group: 'Generation',
  summary: 'Lists the rows of a generation, with their documents or the reason of a refusal.',
  description:
    'Rows are numbered from 1. A refused row has an error code and a message, and does not stop the others.',
  scope: 'Read',
  params,
  query: members({ limit: paging.limit, offset: paging.offset }),
  reply: pageOf(generationRow),
  refusals: ['DocumentGenerationNotFound'],
});

export const cancelGeneration = operation({
  method: 'POST',
  path: '/api/documents/generation/{id}/cancellation',
  group: 'Generation',
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
