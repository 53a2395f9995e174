/** `/api/templates`: creation requests with roles, kept in versions. Source: docs/decisions/0120-templates.md. */

import { z } from 'zod';
import type {
  DocumentTemplates,
  IdempotentRequests,
  TemplateItem,
  TemplateView,
} from '../../../actors/portal/api.ts';
import { id, maybeText, members, text, uuid, wholeFrom, withSent } from '../../../contracts/fields.ts';
import { createdBy } from '../../../contracts/portal/entities.ts';
import { ANA, CREATION, EXAMPLE_IDS, FILE, SIGNER } from '../../../contracts/portal/examples.ts';
import { cursor, queryText } from '../../../contracts/portal/lists.ts';
import { CREATION_REFUSALS, createdDocument, newDocuments } from '../../../contracts/portal/new-documents.ts';
import { UNKNOWN_FILES } from '../../../contracts/portal/refusals.ts';
import { isoTime } from '../../../contracts/times.ts';
import { fingerprintOf } from '../../core/body/json-body.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { IDEMPOTENCY_HEADER, idempotencyKeyOf, withIdempotency } from '../idempotency.ts';
import { templateDocumentsInput, templateGenerationInput } from '../input/flow-inputs.ts';
import { documentId, idParams } from '../input/ids.ts';
import { parsedInput } from '../input/invalid-input.ts';
import { positionIn } from '../input/query-fields.ts';
import { portalRoute } from '../route.ts';
import { createdBody, createdByBody, timestamp } from '../shapes/shared-shapes.ts';
import { generationBody, generationShape } from './generation.ts';
import { recordQuery, recordRoutes } from './record-routes.ts';

const MAX_VERSION = 1_000_000;
/** Ten years. */
const MAX_EXPIRATION_DAYS = 3_650;

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
          ...{ topLeftX: 72, topLeftY: 300, width: 120, height: 20 },
        },
      ],
    },
    { title: 'Landlord', step: 2, allowElectronicSignature: true },
  ],
  description: 'Please sign the lease.',
  reminders: { everyDays: 3, maximum: 5, daysBeforeExpiry: [1] },
};

const itemShape = z
  .strictObject({
    id: id.describe('Id of the template; all of its versions have it.'),
    version: z.int().min(1).describe('Number of the version, from 1.'),
    name: z.string().describe('Name of the template.'),
    description: z.string().nullable().describe('Text for those who choose a template.'),
    expirationDays: z
      .int()
      .nullable()
      .describe('Days from the creation of a document to its expiry; null: documents do not expire by it.'),
    roles: z
      .array(z.string())
      .describe('Titles of the flow actions without a person: who uses the template names one for each.'),
    creationDate: timestamp.describe('When the template was made.'),
    createdBy: createdBy,
    updateDate: timestamp.describe('When this version was made.'),
    updatedBy: createdBy.describe('The application that made this version.'),
  })
  .meta({ id: 'TemplateItem', description: 'A version of a template.', example: EXAMPLE });

const templateShape = itemShape
  .extend({ document: z.unknown().describe('The body of POST /api/documents, as it was sent.') })
  .meta({
    id: 'Template',
    description: 'A version of a template with its request.',
    example: { ...EXAMPLE, document: DOCUMENT_EXAMPLE },
  });

const versionsShape = z.array(itemShape).describe('Newest first.');

export const templateInput = members({
  name: text.describe('Name of the template.'),
  document: withSent(newDocuments).meta({
    description:
      'The body of POST /api/documents. Flow actions have a `title`, the role, and no `user` where the person comes later.',
    exampleValue: CREATION,
  }),
  description: maybeText.describe('Text for those who choose a template.'),
  expirationDays: wholeFrom(1, MAX_EXPIRATION_DAYS)
    .nullish()
    .describe('Days from the creation of a document to its expiry.'),
})
  .transform(({ name, document, description, expirationDays }) => ({
    name,
    document: document.sent,
    description: description ?? null,
    expirationDays: expirationDays ?? null,
  }))
  .meta({
    example: {
      name: 'Lease',
      description: 'Flats, one year',
      expirationDays: 30,
      document: DOCUMENT_EXAMPLE,
    },
  });

const templateOfDocumentInput = members({
  documentId: uuid.describe('Document of the organization; it does not change.'),
  name: maybeText.describe('Name of the template; left out: that of the document.'),
  description: maybeText.describe('Text for those who choose a template.'),
  expirationDays: wholeFrom(1, MAX_EXPIRATION_DAYS)
    .nullish()
    .describe('Days from the creation of a document to its expiry.'),
}).meta({ example: { documentId: '7c9f3a52-6d3e-4c5c-9a55-6f1b8f0f4a77', name: 'Lease' } });

const version = z
  .string()
  .regex(/^\d{1,7}$/, { error: `must be a whole number from 1 to ${MAX_VERSION}` })
  .transform(Number)
  .optional()
  .meta({ description: 'Version; left out: the newest.', openapi: { type: 'integer', minimum: 1 } });

/** Reads the request of a template. Refusals: `BadRequest`. */
export const readTemplate = (document: unknown) => parsedInput(newDocuments, document, 'BadRequest');

const TEMPLATE = { files: [FILE], flowActions: [{ ...SIGNER, user: null }] };

export function templateRoutes(
  templates: DocumentTemplates,
  requests: IdempotentRequests,
): readonly AnyRoute[] {
  return [
    ...recordRoutes({
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
      body: templateInput,
      largeBody: 'template',
      notFound: 'TemplateNotFound',
      notSaved: [...UNKNOWN_FILES, ...CREATION_REFUSALS],
      fixed: [],
      item: { shape: itemShape, body: itemBody },
      view: {
        shape: templateShape,
        body: ({ document, ...item }: TemplateView) => ({ ...itemBody(item), document }),
      },
      listQuery: members({
        ...recordQuery,
        role: queryText.describe('Templates with a role whose name contains this text, in any case.'),
        cursor,
      }),
      cursorFilter: (query) => templateFilter(query),
      getQuery: members({ version }),
      notRead: ['TemplateVersionNotFound'],
      requests,
      keepsReplacements: true,
      records: {
        list: (tenant, { cursor: given, ...query }) =>
          templates.list(tenant, { ...query, position: positionIn(given, templateFilter(query)) }),
        create: (tenant, body, seed) => templates.create(tenant, body, readTemplate, seed),
        get: (tenant, template, query) => templates.get(tenant, template, query.version ?? null),
        replace: (tenant, template, body, request) =>
          templates.replace(tenant, template, body, readTemplate, request),
        remove: (tenant, template) => templates.remove(tenant, template),
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/templates/from-document',
      group: 'Templates',
      scope: 'Create',
      summary: 'Creates a template from the files, flow and fields of a document, without its people.',
      description:
        'The role of an action is its title, or else its type and a number; the members of rules stay. The document does not change. The template is checked as a creation, with the same refusals. An organization has at most 1,000 templates (`LimitExceeded`). The same `Idempotency-Key` with the same request returns the same template.',
      headers: [IDEMPOTENCY_HEADER],
      body: templateOfDocumentInput,
      responses: { 200: itemShape },
      examples: { request: { documentId: EXAMPLE_IDS.document, name: 'Lease agreement' } },
      refusals: [
        'DocumentNotFound',
        'DocumentIsDeleted',
        ...UNKNOWN_FILES,
        ...CREATION_REFUSALS,
        'IdempotencyConflict',
      ],
      async handle({ tenant, body: { documentId: given, ...settings }, fingerprint, header }) {
        const { name, description = null, expirationDays = null } = settings;
        const key = idempotencyKeyOf(header(IDEMPOTENCY_HEADER));
        const request = {
          route: 'POST /api/templates/from-document',
          key,
          fingerprint: key ? fingerprint() : '',
        };
        const template = { name: name?.trim() ?? '', description, expirationDays };
        const made = await withIdempotency(requests, tenant, request, async (seed) =>
          itemBody(await templates.createOfDocument(tenant, documentId(given), template, readTemplate, seed)),
        );
        return json(200, made);
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/templates/{id}/versions',
      group: 'Templates',
      summary: 'Lists the versions of a template that are kept, newest first.',
      description:
        'The newest 50 are kept; an older version is deleted with its files. A document names the version from which it was created.',
      scope: 'Read',
      params: idParams,
      responses: { 200: versionsShape },
      refusals: ['TemplateNotFound'],
      async handle({ tenant, params }) {
        return json(200, (await templates.versions(tenant, params.id.toLowerCase())).map(itemBody));
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/templates/{id}/documents',
      group: 'Templates',
      summary: 'Creates documents from a template, with people for its roles and values for its fields.',
      description:
        'Uses the newest version, or `version`. Members of the request replace those of the template. Checks, refusals, e-mails and events are those of `POST /api/documents`. `InvalidFlowAction`: a role of the template has no person, or a role of the request is not in the template.',
      scope: 'Create',
      headers: [IDEMPOTENCY_HEADER],
      params: idParams,
      body: templateDocumentsInput,
      largeBody: 'template-documents',
      responses: { 200: z.array(createdDocument) },
      examples: { request: { participants: [{ role: 'Tenant', user: ANA }] } },
      refusals: [
        'TemplateNotFound',
        'TemplateVersionNotFound',
        'IdempotencyConflict',
        ...UNKNOWN_FILES,
        ...CREATION_REFUSALS,
      ],
      async handle({ tenant, params, body, fingerprint, header }) {
        const key = idempotencyKeyOf(header(IDEMPOTENCY_HEADER));
        const template = params.id.toLowerCase();
        const request = {
          route: 'POST /api/templates/{id}/documents',
          key,
          fingerprint: key ? fingerprintOf([template, fingerprint()]) : '',
        };
        const made = await withIdempotency(requests, tenant, request, async (seed) =>
          (await templates.createDocuments(tenant, template, body, readTemplate, seed)).map(createdBody),
        );
        return json(200, made);
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/templates/{id}/generation',
      group: 'Generation',
      summary:
        'Creates documents from a template for every row of a table, whose columns are people and fields.',
      description:
        'The table is CSV, JSON or XLSX. A column has the name of a field, or `<role>.name`, `<role>.email` and so on. Every row is checked before the first document is created; the request is refused with the code of the first row that is not valid, unless `skipRefusedRows` is true. `InvalidGenerationFile`: the table or its columns are not valid. The documents are created after the reply; `GET /api/documents/generation/{id}` returns the progress.',
      scope: 'Create',
      headers: [IDEMPOTENCY_HEADER],
      params: idParams,
      body: templateGenerationInput,
      largeBody: 'template-generation',
      responses: { 200: generationShape },
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
      async handle({ tenant, params, body, fingerprint, header }) {
        const key = idempotencyKeyOf(header(IDEMPOTENCY_HEADER));
        const template = params.id.toLowerCase();
        const request = {
          route: 'POST /api/templates/{id}/generation',
          key,
          fingerprint: key ? fingerprintOf([template, fingerprint()]) : '',
        };
        const made = await withIdempotency(requests, tenant, request, async (seed) =>
          generationBody(await templates.generate(tenant, template, body, readTemplate, seed)),
        );
        return json(200, made);
      },
    }),
  ];
}

/** Filters and order of the list. */
function templateFilter(query: {
  readonly q?: string | undefined;
  readonly role?: string | undefined;
  readonly order?: string | undefined;
}) {
  const { q, role, order } = query;
  return { q, role, newestFirst: order === 'Desc' };
}

function itemBody(item: TemplateItem): z.infer<typeof itemShape> {
  return {
    id: item.id,
    version: item.version,
    name: item.name,
    description: item.description,
    expirationDays: item.expirationDays,
    roles: [...item.roles],
    creationDate: isoTime(item.creationDate),
    createdBy: createdByBody(item.createdBy),
    updateDate: isoTime(item.updateDate),
    updatedBy: createdByBody(item.updatedBy),
  };
}
