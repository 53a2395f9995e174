/**
 * Validation of documents and of signed files: signatures, results of their checks, operations.
 *
 * Source: docs/portal-values.md §0, §17.
 */

import { z } from 'zod';
import { entity, maybeText, maybeUuid, members, parts, shown, text, time, uuid } from '../../fields.ts';
import type { Value } from '../../operation.ts';
import { qualification } from '../../qualification.ts';
import { documentStatus } from '../documents.ts';
import {
  creationDate,
  creator,
  documentType,
  entityName,
  failureMessage,
  filename,
  identity,
  isConcluded,
  isEnvelope,
  mimeType,
  signatureLevel,
  updateDate,
} from '../entities.ts';
import { EXAMPLE_IDS } from '../examples.ts';
import { documentParams, keyParams } from '../ids.ts';
import { operationsOf } from '../operation.ts';
import { UNKNOWN_DOCUMENT } from '../refusals.ts';

export interface ValidationResults {
  readonly isValid: boolean;
  readonly passedChecks: readonly ValidationItem[];
  readonly errors: readonly ValidationItem[];
  readonly warnings: readonly ValidationItem[];
}

export interface ValidationItem {
  readonly type: string;
  readonly message: string;
  readonly detail: string | null;
  readonly innerValidationResults: ValidationResults | null;
}

const validationItem: z.ZodType<ValidationItem> = entity('ValidationItem', {
  type: shown(
    z.string(),
    'Stable name of the check, such as `certificate.unproven`.',
    'certificate.unproven',
  ),
  message: failureMessage,
  detail: shown(
    z.string().nullable(),
    'Technical cause, such as the message of a library. Null: none.',
    'OCSP response is 3 days old',
  ),
  get innerValidationResults() {
    return validationResults
      .nullable()
      .describe(
        'Findings about what this item depends on, such as the certificate of an authority. Null: none.',
      );
  },
});

function findings(description: string) {
  return z.array(validationItem).meta({ description });
}

const validationResults: z.ZodType<ValidationResults> = entity('ValidationResults', {
  isValid: shown(z.boolean(), 'There are no errors.', true),
  passedChecks: findings('Checks that found nothing wrong.'),
  errors: findings('Findings because of which the signature is not valid. Empty: it is valid.'),
  warnings: findings('Findings that do not make the signature invalid.'),
});

/** Lazy: `meta` copies a schema, and a copy of one that contains itself gets other names in the API description (zod 4.6.7). */
export const signatureChecks = z
  .lazy(() => validationResults)
  .describe('What the checks of the signature found.');

const validity = {
  validityStart: shown(
    time.nullable(),
    'First moment at which the certificate is valid. Null: not known.',
    '2025-02-01T00:00:00.000Z',
  ),
  validityEnd: shown(
    time.nullable(),
    'Last moment at which the certificate is valid. Null: not known.',
    '2028-01-31T23:59:59.000Z',
  ),
};

const timestamp = entity('SignatureTimestamp', {
  displayName: shown(z.string(), 'Name of the authority in its certificate.', 'Example TSA'),
  genTime: time.describe('Time that the authority states.'),
  ...validity,
});
export type TimestampView = Value<typeof timestamp>;

const signature = entity('Signature', {
  subjectName: shown(z.string(), 'Name of the signer, from the certificate or the flow.', 'Ana Silva'),
  emailAddress: shown(
    z.string().nullable(),
    'E-mail address of the signer, from the certificate or the flow. Null: none.',
    'ana@example.com',
  ),
  issuerName: shown(z.string(), 'Common name of the issuer of the certificate.', 'Example CA'),
  identifier: shown(
    z.string().nullable(),
    'National number of the signer in the certificate or the flow. Null: none.',
    '52998224725',
  ),
  companyName: shown(z.string().nullable(), 'Company in the certificate. Null: none.', 'Example Ltda.'),
  companyIdentifier: shown(
    z.string().nullable(),
    'Number of the company in the certificate. Null: none.',
    '11222333000181',
  ),
  isElectronic: z.boolean().describe('Whether the service signed for the person, who had no certificate.'),
  isTimestamp: z.boolean().describe('Whether this is a document time-stamp without a signer.'),
  signingTime: time
    .nullable()
    .describe('Time that the signer states. Null: none. Proven only by a time-stamp.'),
  certificateThumbprint: shown(
    z.string(),
    'SHA-256 of the certificate, Base64.',
    'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=',
  ),
  ...validity,
  signatureTimestamps: z.array(timestamp).describe('Time-stamps over the signature value.'),
  archiveTimestamps: z
    .array(timestamp)
    .describe('Time-stamps over the whole file or signature that keep it verifiable for years.'),
  attributeCertificates: parts('Attribute certificates that the signature contains.', {
    details: shown(z.string(), 'Attributes as text.', 'role: notary'),
    issuer: shown(z.string(), 'Distinguished name of who issued the attributes.', 'CN=Attributes, O=Example'),
  }),
  qualification: qualification.describe(
    'By the European trusted lists. Null: none are configured, or the service signed for the person.',
  ),
  evidences: z.looseObject({}).nullable().describe('Of electronic signatures that were made here.'),
  signingProvider: entity('KeepingProvider', {
    name: shown(z.string(), 'Name that the organization or the operator gave it.', 'Acme Trust'),
    address: shown(z.string(), 'Address of its API.', 'https://remote.example.org/csc/v2'),
  })
    .optional()
    .describe('Remote signing service that keeps the certificate, when signed there. Absent: none.'),
  validationResults: signatureChecks,
});
export type SignatureView = Value<typeof signature>;

const validationRecord = entity('ValidationRecord', {
  id: identity,
  name: entityName,
  filename,
  mimeType,
  isConcluded,
  status: documentStatus.describe('State of the document.'),
  creationDate,
  updateDate,
  createdBy: creator,
  isEnvelope,
  isFile: z.boolean().describe('Always false: the record is of a document.'),
  type: documentType,
  signatureType: signatureLevel,
  securityContext: z.null().describe('Always null.'),
  signers: z.array(signature).describe('Signatures, oldest first.'),
});
export type ValidationRecord = Value<typeof validationRecord>;

const operation = operationsOf({ group: 'Validation' });

export const validateByKey = operation('GET /api/documents/keys/{key}/signatures', {
  summary: 'Validates the signatures of a document by its validation key.',
  description:
    'Case, hyphens and spaces of the key are ignored. Each record has the signer, times, evidence and `validationResults`; a signature is valid when these contain no errors. A client may send ten requests a second (`TooManyRequests`). An unknown key is `DocumentInvalidKey`.',
  scope: 'Read',
  folderKeys: true,
  rate: 'validation',
  params: keyParams,
  reply: validationRecord,
  refusals: ['DocumentInvalidKey', 'DocumentIsDeleted', 'DocumentHasNoSignatures'],
});

export const validateDocument = operation('GET /api/documents/{id}/signatures-details', {
  summary: 'Validates the signatures of a document.',
  description:
    'As `GET /api/documents/keys/{key}/signatures`, by the id of the document. `DocumentHasNoSignatures`: nobody has signed yet.',
  scope: 'Read',
  folderKeys: true,
  params: documentParams,
  reply: validationRecord,
  refusals: [...UNKNOWN_DOCUMENT, 'DocumentHasNoSignatures'],
});

export const getValidationReport = operation('GET /api/documents/{id}/validation-report', {
  summary: 'Returns the validation report of a document (ETSI TS 119 102-2).',
  description:
    'XML with each check of each signature, and the certificates, time-stamps and revocation data that it used. `DocumentHasNoSignatures`: nobody has signed yet.',
  scope: 'Read',
  folderKeys: true,
  params: documentParams,
  reply: 'xml',
  refusals: [...UNKNOWN_DOCUMENT, 'DocumentHasNoSignatures', 'DocumentUnreadable'],
});

export const validateUpload = operation('POST /api/documents/validate-signatures', {
  summary: 'Validates the signatures of an uploaded file.',
  description:
    'The file need not be a document of this service; upload it first. The format is detected from the content. Signatures of documents of the organization are recognized, and reported with their participants. `DocumentHasNoSignatures`: the file is readable and has no signature.',
  scope: 'Read',
  folderKeys: true,
  body: members({
    fileId: shown(uuid, 'Upload with the signed file.', EXAMPLE_IDS.upload),
    mimeType: shown(text, 'Media type of the file.', 'application/pdf'),
    signatureType: shown(maybeText, 'Accepted and ignored: the format is found in the file.', 'Pades'),
    securityContextId: maybeUuid.describe('Accepted and ignored.'),
    certificates: shown(
      z.string().max(32_768).includes('-----BEGIN CERTIFICATE-----').nullish(),
      "Certificates in PEM, one after the other, for signatures that do not hold their signer's. One counts when the signature names it and its key fits; none is trusted for being here.",
      '-----BEGIN CERTIFICATE-----\nMIIB...\n-----END CERTIFICATE-----',
    ),
  }).meta({ id: 'FileToValidate' }),
  reply: z.array(signature),
  examples: { request: { fileId: EXAMPLE_IDS.upload, mimeType: 'application/pdf' } },
  refusals: ['UploadNotFound', 'DocumentHasNoSignatures', 'DocumentUnreadable'],
});
