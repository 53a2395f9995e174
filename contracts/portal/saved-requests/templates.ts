/** Templates: creation requests with roles, kept in versions. Source: docs/decisions/0120-templates.md. */

import { z } from 'zod';
import { id, maybeFlag, maybeText, members, shown, time, uuid, wholeFrom, withSent } from '../../fields.ts';
import type { Value } from '../../operation.ts';
import { plainText } from '../../plain-text.ts';
import { createdBy, creator, MAX_NAME_LENGTH, recordName, savedRequest } from '../entities.ts';
import { ANA, CREATION, EXAMPLE_IDS, FILE, SIGNER } from '../examples.ts';
import { fieldValues, roles } from '../flow.ts';
import { idIn } from '../ids.ts';
import { cursor, queryText } from '../lists.ts';
import { CREATION_REFUSALS, createdDocument, creationMembers, newDocuments } from '../new-documents.ts';
import { operation } from '../operation.ts';
import { UNKNOWN_FILES } from '../refusals.ts';
import { generation, skipHiddenRows, tableFile } from './generations.ts';
import { recordOperations, recordQuery } from './records.ts';

const MAX_VERSION = 1_000_000;
/** Ten years. */
const MAX_EXPIRATION_DAYS = 3_650;
const MAX_DESCRIPTION = 2_000;

const EXAMPLE = {
  id: '0b8f7c52-6d3e-4c5c-9a55-6f1b8f0f4a10',
  version: 2,
  name: 'Lease',
  description: 'Flats, one year',
  expirationDays: 30,
  roles: ['Tenant', 'Landlord'],
  creationDate: '2030-01-02T03:04:05.678Z',
  createdBy: { id: '5f0ce3b8-7c1d-4a34-8f16-3a1c1a3f2b11', name: 'Back office' },
  updateDate: '2030-02-03T04:05:06.789Z',
  updatedBy: { id: '5f0ce3b8-7c1d-4a34-8f16-3a1c1a3f2b11', name: 'Back office' },
};

const DOCUMENT_EXAMPLE = {
  files: [
    {
      displayName: 'Lease',
      id: '3e1f9f4e-50b5-4e0c-8d6f-2b1a7f6f9d01',
      name: 'lease.pdf',
      contentType: 'application/pdf',
    },
  ],
  flowActions: [
    {
      title: 'Tenant',
      step: 1,
      allowElectronicSignature: true,
      fields: [
        {
          name: 'rent',
          type: 'Number',
          readOnly: true,
          topLeftX: 72,
          topLeftY: 300,
          width: 120,
          height: 20,
        },
      ],
    },
    { title: 'Landlord', step: 2, allowElectronicSignature: true },
  ],
  description: 'Please sign the lease.',
  reminders: { everyDays: 3, maximum: 5, daysBeforeExpiry: [1] },
};

const templateItem = z
  .strictObject({
    id: id.describe('Id of the template; all of its versions have it.'),
    version: shown(z.int().min(1), 'Number of the version, from 1.', 2),
    name: shown(z.string(), 'Name of the template.', 'Lease agreement'),
    description: shown(
      z.string().nullable(),
      'Text for those who choose a template.',
      'Lease of the office in Rua Augusta',
    ),
    expirationDays: shown(
      z.int().nullable(),
      'Days from the creation of a document to its expiry; null: documents do not expire by it.',
      30,
    ),
    roles: shown(
      z.array(z.string()),
      'Titles of the flow actions without a person: who uses the template names one for each.',
      [SIGNER.title],
    ),
    creationDate: time.describe('When the template was made.'),
    createdBy: creator,
    updateDate: time.describe('When this version was made.'),
    updatedBy: createdBy.describe('The application that made this version.'),
  })
  .meta({ id: 'TemplateItem', description: 'A version of a template.', example: EXAMPLE });

const template = templateItem
  .extend({
    document: savedRequest,
  })
  .meta({
    id: 'Template',
    description: 'A version of a template with its request.',
    example: { ...EXAMPLE, document: DOCUMENT_EXAMPLE },
  });

/** Members that a template has and a document has not. */
const settings = {
  description: maybeText
    .transform((given, context) => {
      const cleaned = plainText(given ?? '') || null;
      if ((cleaned?.length ?? 0) > MAX_DESCRIPTION) {
        const message = `A description of a template may have ${MAX_DESCRIPTION} characters.`;
        const refusal = { code: 'LimitExceeded', message };
        context.issues.push({ code: 'custom', message: 'is too long', input: given, params: { refusal } });
      }
      return cleaned;
    })
    .optional()
    .meta({
      description: 'Text for those who choose a template.',
      exampleValue: 'Lease of the office in Rua Augusta',
      openapi: { anyOf: [{ type: 'string', maxLength: MAX_DESCRIPTION }, { type: 'null' }] },
    }),
  expirationDays: shown(
    wholeFrom(1, MAX_EXPIRATION_DAYS).nullish(),
    'Days from the creation of a document to its expiry.',
    30,
  ),
};

const newTemplate = members({
  name: recordName.describe('Name of the template.'),
  document: shown(
    withSent(newDocuments),
    'The body of POST /api/documents. Flow actions have a `title`, the role, and no `user` where the person comes later.',
    CREATION,
  ),
  ...settings,
}).meta({
  id: 'NewTemplate',
  example: {
    name: 'Lease',
    description: 'Flats, one year',
    expirationDays: 30,
    document: DOCUMENT_EXAMPLE,
  },
});

const templateOfDocument = members({
  documentId: uuid.describe('Document of the organization; it does not change.'),
  name: maybeText.meta({
    description: 'Name of the template; left out: that of the document.',
    exampleValue: 'Lease agreement',
    openapi: { anyOf: [{ type: 'string', maxLength: MAX_NAME_LENGTH }, { type: 'null' }] },
  }),
  ...settings,
}).meta({
  id: 'NewTemplateOfDocument',
  example: { documentId: '7c9f3a52-6d3e-4c5c-9a55-6f1b8f0f4a77', name: 'Lease' },
});

/** Members of a request that replace those of the template. */
const replacements = {
  ...creationMembers,
  version: shown(wholeFrom(1, MAX_VERSION).nullish(), 'Version of the template; left out: the newest.', 2),
  documentName: shown(
    maybeText,
    'Name of the document, which mails have in their subject.',
    'Lease of Rua Augusta 12',
  ),
};

function replaced({
  version,
  documentName,
  participantsDataFile: _participants,
  securityContextId: _context,
  templateId: _template,
  templateFieldValues: _values,
  ...properties
}: z.output<z.ZodObject<typeof replacements>>) {
  return { version: version ?? null, documentName: documentName ?? null, properties };
}

const templateDocuments = members({
  participants: roles,
  fieldValues,
  ...replacements,
})
  .transform(({ participants, fieldValues: values, ...given }) => ({
    ...replaced(given),
    participants: participants ?? [],
    fieldValues: values ?? {},
  }))
  .meta({ id: 'TemplateDocuments' });

const templateGeneration = members({
  dataFile: tableFile,
  skipRefusedRows: maybeFlag.describe(
    'True: rows that are refused become no documents, and the others do. Otherwise one such row refuses the call, as do more than 1,000 of them.',
  ),
  skipHiddenRows,
  ...replacements,
})
  .transform(({ dataFile, skipRefusedRows, skipHiddenRows: skipsHidden, ...given }) => ({
    ...replaced(given),
    dataFile,
    skipRefusedRows: skipRefusedRows === true,
    skipHiddenRows: skipsHidden === true,
  }))
  .meta({ id: 'TemplateGeneration' });

const version = z
  .string()
  .regex(/^\d{1,7}$/, { error: `must be a whole number from 1 to ${MAX_VERSION}` })
  .transform(Number)
  .optional()
  .meta({ description: 'Version; left out: the newest.', openapi: { type: 'integer', minimum: 1 } });

const params = z.object({ id: idIn('Identifier, unique within the instance.') });

const TEMPLATE = { files: [FILE], flowActions: [{ ...SIGNER, user: null }] };

const operations = recordOperations({
  path: '/api/templates',
  group: 'Templates',
  texts: {
    list: {
      summary: 'Lists templates, each in its newest version.',
      description: '`q` searches in names, `role` in the titles of flow actions.',
    },
    create: {
      summary:
        'Creates a template: a creation request with its files, in which the titles of flow actions are roles.',
      description:
        '`document` is the body of `POST /api/documents`, in which flow actions may have no `user`; it is checked as a creation, with the same refusals. Its files are kept as long as the version. An organization has at most 1,000 templates (`LimitExceeded`). The same `Idempotency-Key` with the same request returns the same template.',
      examples: { request: { name: 'Lease agreement', document: TEMPLATE } },
    },
    get: {
      summary: 'Returns a template in its newest version, or in another one that is kept.',
      description:
        '`TemplateVersionNotFound`: the version does not exist, or is not among the newest 50, which are kept.',
    },
    replace: {
      summary: 'Adds a version to a template; documents created from earlier versions do not change.',
      description:
        'The version is checked as a creation, with the same refusals. The newest 50 versions are kept. The same `Idempotency-Key` with the same request adds one version.',
      examples: { request: { name: 'Lease agreement 2027', document: TEMPLATE } },
    },
    remove: {
      summary: 'Deletes a template with all its versions; documents created from it do not change.',
      description: 'Running generations continue, because they have their own copy of the request.',
    },
  },
  params,
  body: newTemplate,
  item: templateItem,
  view: template,
  notFound: 'TemplateNotFound',
  notSaved: [...UNKNOWN_FILES, ...CREATION_REFUSALS],
});

export const templates = {
  ...operations,
  list: {
    ...operations.list,
    query: members({
      ...recordQuery,
      role: shown(queryText, 'Templates with a role whose name contains this text, in any case.', 'tenant'),
      cursor,
    }),
  },
  get: {
    ...operations.get,
    query: members({ version }),
    refusals: [...operations.get.refusals, 'TemplateVersionNotFound'],
  },
  // Each replacement stays as a version.
  replace: {
    ...operations.replace,
    idempotent: true,
    refusals: [...operations.replace.refusals, 'IdempotencyConflict'],
  },
} as const;

export const createTemplateOfDocument = operation('POST /api/templates/from-document', {
  group: 'Templates',
  scope: 'Create',
  summary: 'Creates a template from the files, flow and fields of a document, without its people.',
  description:
    'The role of an action is its title, or else its type and a number; the members of rules stay. The document does not change. The template is checked as a creation, with the same refusals. An organization has at most 1,000 templates (`LimitExceeded`). The same `Idempotency-Key` with the same request returns the same template.',
  idempotent: true,
  body: templateOfDocument,
  reply: templateItem,
  examples: { request: { documentId: EXAMPLE_IDS.document, name: 'Lease agreement' } },
  refusals: [
    'DocumentNotFound',
    'DocumentIsDeleted',
    ...UNKNOWN_FILES,
    ...CREATION_REFUSALS,
    'IdempotencyConflict',
  ],
});

export const listTemplateVersions = operation('GET /api/templates/{id}/versions', {
  group: 'Templates',
  summary: 'Lists the versions of a template that are kept, newest first.',
  description:
    'The newest 50 are kept; an older version is deleted with its files. A document names the version from which it was created.',
  scope: 'Read',
  params,
  reply: z.array(templateItem).describe('Newest first.'),
  refusals: ['TemplateNotFound'],
});

export const createTemplateDocuments = operation('POST /api/templates/{id}/documents', {
  group: 'Templates',
  summary: 'Creates documents from a template, with people for its roles and values for its fields.',
  description:
    'Uses the newest version, or `version`. Members of the request replace those of the template. Checks, refusals, e-mails and events are those of `POST /api/documents`. `InvalidFlowAction`: a role of the template has no person, or a role of the request is not in the template.',
  scope: 'Create',
  idempotent: true,
  params,
  body: templateDocuments,
  largeBody: true,
  reply: z.array(createdDocument),
  examples: { request: { participants: [{ role: 'Tenant', user: ANA }] } },
  refusals: [
    'TemplateNotFound',
    'TemplateVersionNotFound',
    'IdempotencyConflict',
    ...UNKNOWN_FILES,
    ...CREATION_REFUSALS,
  ],
});

export const generateTemplateDocuments = operation('POST /api/templates/{id}/generation', {
  group: 'Generation',
  summary: 'Creates documents from a template for every row of a table, whose columns are people and fields.',
  description:
    'The table is CSV, JSON or XLSX. A column has the name of a field, or `<role>.name`, `<role>.email` and so on. Every row is checked before the first document is created; the request is refused with the code of the first row that is not valid, unless `skipRefusedRows` is true. `InvalidGenerationFile`: the table or its columns are not valid. The documents are created after the reply; `GET /api/documents/generation/{id}` returns the progress.',
  scope: 'Create',
  idempotent: true,
  params,
  body: templateGeneration,
  largeBody: true,
  reply: generation,
  examples: {
    request: { dataFile: { id: EXAMPLE_IDS.table, name: 'people.csv', contentType: 'text/csv' } },
  },
  refusals: [
    'TemplateNotFound',
    'TemplateVersionNotFound',
    'IdempotencyConflict',
    'InvalidGenerationFile',
    ...UNKNOWN_FILES,
    ...CREATION_REFUSALS,
  ],
});

export type TemplateItem = Value<typeof templateItem>;
export type TemplateView = Value<typeof template>;
export type NewTemplate = Value<typeof newTemplate>;
export type TemplateOfDocument = Value<typeof templateOfDocument>;
export type TemplateDocuments = Value<typeof templateDocuments>;
export type TemplateGeneration = Value<typeof templateGeneration>;
/** Replaces members of the template's request. */
export type TemplateReplacements = Pick<TemplateDocuments, 'version' | 'documentName' | 'properties'>;
