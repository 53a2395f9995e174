/**
 * Validation of documents and of signed files: signatures, results of their checks, operations.
 *
 * Source: docs/portal-values.md §0, §17.
 */
import { z } from 'zod';
import { id, maybeText, maybeUuid, members, text, time, uuid } from '../../fields.ts';
import type { Value } from '../../operation.ts';
import { documentStatus } from '../documents.ts';
import { createdBy } from '../entities.ts';
import { EXAMPLE_IDS } from '../examples.ts';
import { documentParams, keyParams } from '../ids.ts';
import { operation } from '../operation.ts';
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

const validationItem: z.ZodType<ValidationItem> = z
  .strictObject({
    type: z.string().meta({
      description: 'Stable name of the check, such as `certificate.unproven`.',
      exampleValue: 'certificate.unproven',
    }),
    message: z.string().meta({
      description: 'What happened, for people. The text may change.',
      exampleValue: 'The document is already concluded.',
    }),
    detail: z.string().nullable().meta({
      description: 'Technical cause, such as the message of a library. Null: none.',
      exampleValue: 'OCSP response is 3 days old',
    }),
    get innerValidationResults() {
      return validationResults.nullable().meta({
        description:
          'Findings about what this item depends on, such as the certificate of an authority. Null: none.',
      });
    },
  })
  .meta({ id: 'ValidationItem' });

function findings(description: string) {
  return z.array(validationItem).meta({ description });
}

const validationResults: z.ZodType<ValidationResults> = z
  .strictObject({
    isValid: z.boolean().meta({ description: 'There are no errors.', exampleValue: true }),
    passedChecks: findings('Checks that found nothing wrong.'),
    errors: findings('Findings because of which the signature is not valid. Empty: it is valid.'),
    warnings: findings('Findings that do not make the signature invalid.'),
  })
  .meta({ id: 'ValidationResults' });

/** Lazy: `meta` copies a schema, and a copy of one that contains itself gets other names in the API description (zod 4.6.7). */
export const signatureChecks = z
  .lazy(() => validationResults)
  .meta({ description: 'What the checks of the signature found.' });

const validity = {
  validityStart: time.nullable().meta({
    description: 'First moment at which the certificate is valid. Null: not known.',
    exampleValue: '2025-02-01T00:00:00.000Z',
  }),
  validityEnd: time.nullable().meta({
    description: 'Last moment at which the certificate is valid. Null: not known.',
    exampleValue: '2028-01-31T23:59:59.000Z',
  }),
};

const timestamp = z
  .strictObject({
    displayName: z
      .string()
      .meta({ description: 'Name of the authority in its certificate.', exampleValue: 'Example TSA' }),
    genTime: time.meta({ description: 'Time that the authority states.' }),
    ...validity,
  })
  .meta({ id: 'SignatureTimestamp' });
export type TimestampView = Value<typeof timestamp>;

const signature = z
  .strictObject({
    subjectName: z.string().meta({
      description: 'Name of the signer, from the certificate or the flow.',
      exampleValue: 'Ana Silva',
    }),
    emailAddress: z.string().nullable().meta({
      description: 'E-mail address of the signer, from the certificate or the flow. Null: none.',
      exampleValue: 'ana@example.com',
    }),
    issuerName: z
      .string()
      .meta({ description: 'Common name of the issuer of the certificate.', exampleValue: 'Example CA' }),
    identifier: z.string().nullable().meta({
      description: 'National number of the signer in the certificate or the flow. Null: none.',
      exampleValue: '52998224725',
    }),
    companyName: z
      .string()
      .nullable()
      .meta({ description: 'Company in the certificate. Null: none.', exampleValue: 'Example Ltda.' }),
    companyIdentifier: z.string().nullable().meta({
      description: 'Number of the company in the certificate. Null: none.',
      exampleValue: '11222333000181',
    }),
    isElectronic: z
      .boolean()
      .meta({ description: 'Whether the service signed for the person, who had no certificate.' }),
    isTimestamp: z.boolean().meta({ description: 'Whether this is a document time-stamp without a signer.' }),
    signingTime: time
      .nullable()
      .meta({ description: 'Time that the signer states. Null: none. Proven only by a time-stamp.' }),
    certificateThumbprint: z.string().meta({
      description: 'SHA-256 of the certificate, Base64.',
      exampleValue: 'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=',
    }),
    ...validity,
    signatureTimestamps: z.array(timestamp).meta({ description: 'Time-stamps over the signature value.' }),
    archiveTimestamps: z.array(timestamp).meta({
      description: 'Time-stamps over the whole file or signature that keep it verifiable for years.',
    }),
    attributeCertificates: z
      .array(
        z.strictObject({
          details: z.string().meta({ description: 'Attributes as text.', exampleValue: 'role: notary' }),
          issuer: z.string().meta({
            description: 'Distinguished name of who issued the attributes.',
            exampleValue: 'CN=Attributes, O=Example',
          }),
        }),
      )
      .meta({ description: 'Attribute certificates that the signature contains.' }),
    evidences: z
      .looseObject({})
      .nullable()
      .meta({ description: 'Of electronic signatures that were made here.' }),
    validationResults: signatureChecks,
  })
  .meta({ id: 'Signature' });
export type SignatureView = Value<typeof signature>;

const validationRecord = z
  .strictObject({
    id: id.meta({ description: 'Identifier, unique within the instance.' }),
    name: z.string().meta({ description: 'Name that people read.', exampleValue: 'Lease agreement' }),
    filename: z.string().meta({ description: 'File name with its extension.', exampleValue: 'contract.pdf' }),
    mimeType: z.string().meta({ description: 'Media type of the file.', exampleValue: 'application/pdf' }),
    isConcluded: z
      .boolean()
      .meta({ description: 'Whether all actions are completed and the final file is made.' }),
    status: documentStatus.meta({ description: 'State of the document.' }),
    creationDate: time.meta({ description: 'Time of the creation, UTC.' }),
    updateDate: time.meta({ description: 'Time of the last change, UTC.' }),
    createdBy: createdBy.meta({ description: 'Application or user that created it.' }),
    isEnvelope: z.boolean().meta({ description: 'Whether the document was merged from several files.' }),
    isFile: z.boolean().meta({ description: 'Always false: the record is of a document.' }),
    type: z
      .string()
      .nullable()
      .meta({ description: 'Kind of document, as given at creation. Null: none.', exampleValue: 'Deed' }),
    signatureType: z.string().nullable().meta({
      description: 'Lowest level that signatures must have, as given at creation. Null: none.',
      exampleValue: 'Advanced',
    }),
    securityContext: z.null().meta({ description: 'Always null.' }),
    signers: z.array(signature).meta({ description: 'Signatures, oldest first.' }),
  })
  .meta({ id: 'ValidationRecord' });
export type ValidationRecord = Value<typeof validationRecord>;

export const validateByKey = operation({
  method: 'GET',
  path: '/api/documents/keys/{key}/signatures',
  group: 'Validation',
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

export const validateDocument = operation({
  method: 'GET',
  path: '/api/documents/{id}/signatures-details',
  group: 'Validation',
  summary: 'Validates the signatures of a document.',
  description:
    'As `GET /api/documents/keys/{key}/signatures`, by the id of the document. `DocumentHasNoSignatures`: nobody has signed yet.',
  scope: 'Read',
  folderKeys: true,
  params: documentParams,
  reply: validationRecord,
  refusals: [...UNKNOWN_DOCUMENT, 'DocumentHasNoSignatures'],
});

export const getValidationReport = operation({
  method: 'GET',
  path: '/api/documents/{id}/validation-report',
  group: 'Validation',
  summary: 'Returns the validation report of a document (ETSI TS 119 102-2).',
  description:
    'XML with each check of each signature, and the certificates, time-stamps and revocation data that it used. `DocumentHasNoSignatures`: nobody has signed yet.',
  scope: 'Read',
  folderKeys: true,
  params: documentParams,
  reply: 'xml',
  refusals: [...UNKNOWN_DOCUMENT, 'DocumentHasNoSignatures', 'DocumentUnreadable'],
});

export const validateUpload = operation({
  method: 'POST',
  path: '/api/documents/validate-signatures',
  group: 'Validation',
  summary: 'Validates the signatures of an uploaded file.',
  description:
    'The file need not be a document of this service; upload it first. The format is detected from the content. Signatures of documents of the organization are recognized, and reported with their participants. `DocumentHasNoSignatures`: the file is readable and has no signature.',
  scope: 'Read',
  folderKeys: true,
  body: members({
    fileId: uuid.meta({ description: 'Upload with the signed file.', exampleValue: EXAMPLE_IDS.upload }),
    mimeType: text.meta({ description: 'Media type of the file.', exampleValue: 'application/pdf' }),
    signatureType: maybeText.meta({
      description: 'Accepted and ignored: the format is found in the file.',
      exampleValue: 'Pades',
    }),
    securityContextId: maybeUuid.meta({ description: 'Accepted and ignored.' }),
  }).meta({ id: 'FileToValidate' }),
  reply: z.array(signature),
  examples: { request: { fileId: EXAMPLE_IDS.upload, mimeType: 'application/pdf' } },
  refusals: ['UploadNotFound', 'DocumentHasNoSignatures', 'DocumentUnreadable'],
});
