/** Validation of signed files: the JSON form of the report of ETSI TS 119 102-2. What is absent is null. */
import { z } from 'zod';
import { entity, part, parts, shown, time as timestamp } from '../fields.ts';
import type { Value } from '../operation.ts';
import { qualification, timestampQualification } from '../qualification.ts';
import { AT } from './examples.ts';
import { PASSWORD_HEADER } from './files.ts';
import { JOB_EXAMPLE } from './jobs.ts';
import { operation } from './operation.ts';

interface ReportedResults {
  readonly isValid: boolean;
  readonly passedChecks: readonly ReportedCheck[];
  readonly errors: readonly ReportedCheck[];
  readonly warnings: readonly ReportedCheck[];
}
interface ReportedCheck {
  readonly type: string;
  readonly message: string;
  readonly detail: string | null;
  readonly inner: ReportedResults | null;
}

const word = (description: string, example: string) => z.string().meta({ description, examples: [example] });
const wordOrNull = (description: string, example: string) =>
  z
    .string()
    .nullable()
    .meta({ description, examples: [example] });
const time = (description: string) => timestamp.meta({ description, examples: [AT] });
const timeOrNull = (description: string) => timestamp.nullable().meta({ description, examples: [AT] });
const flag = (description: string, example: boolean) =>
  z.boolean().meta({ description, examples: [example] });

const itemShape: z.ZodType<ReportedCheck> = entity('ValidationCheck', {
  type: word('Identifier of the check; the list is in docs/validation-report.md.', 'digest.content'),
  message: word('What was found, for people. The text may change.', 'The content is unchanged.'),
  detail: wordOrNull('Values, names and times that were read. Null: none.', 'SHA-256'),
  get inner() {
    return resultsShape
      .nullable()
      .describe('Checks that this one depends on, such as those of a certificate of the path. Null: none.');
  },
});

const resultsShape: z.ZodType<ReportedResults> = entity('ValidationChecks', {
  isValid: flag('True when there are no errors.', true),
  passedChecks: z.array(itemShape).describe('Checks without a finding.'),
  errors: z.array(itemShape).describe('Findings that decide the verdict.'),
  warnings: z.array(itemShape).describe('Findings that leave the verdict as it is.'),
});

/** A reference: a described copy of a schema that contains itself would be a second one. */
const results = z.lazy(() => resultsShape).describe('Checks that were made, and what they found.');

const verdict = {
  indication: z
    .enum(['TOTAL-PASSED', 'INDETERMINATE', 'TOTAL-FAILED'])
    .meta({ description: 'Verdict of ETSI EN 319 102-1.', examples: ['TOTAL-PASSED'] }),
};
const reasoned = {
  ...verdict,
  subIndication: wordOrNull(
    'Reason of the verdict, of ETSI EN 319 102-1 tables 5 and 6. Null: the verdict is TOTAL-PASSED.',
    'HASH_FAILURE',
  ),
};

const certificateShape = entity('ReportedCertificate', {
  subjectName: word('Name of the holder, without the identity number beside it.', 'Ana Lima'),
  issuerName: word('Name of the authority that issued it.', 'Example CA'),
  emailAddress: wordOrNull('Address of the holder for mail. Null: none.', 'ana@example.com'),
  identifier: wordOrNull(
    'Identifier of the person in the subject, or beside the name. Null: none.',
    'PNOBR-12345678909',
  ),
  companyName: wordOrNull('Organization of the subject. Null: none.', 'Example Ltd'),
  companyIdentifier: wordOrNull(
    'Identifier of the organization in the subject. Null: none.',
    'NTRBR-12345678000195',
  ),
  thumbprint: word('SHA-256 of the certificate, Base64.', 'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg='),
  validityStart: time('First moment at which it is valid.'),
  validityEnd: time('Last moment at which it is valid.'),
});

const signer = certificateShape
  .nullable()
  .describe('Certificate whose key signed. Null: it is not in the file, or cannot be read.');

const timestampShape = entity('ReportedTimestamp', {
  ...reasoned,
  kind: z.enum(['content', 'signature', 'archive', 'document']).meta({
    description: 'What the time-stamp covers.',
    examples: ['signature'],
  }),
  displayName: word('Name of the authority that stamped.', 'Example TSA'),
  genTime: timeOrNull('Moment that it proves. Null: it cannot be read.'),
  certificate: signer,
  qualification: timestampQualification.describe('By the trusted lists. Null: none are configured.'),
  results,
});

const signatureFormat = z
  .enum(['Pades', 'Cades', 'Xades'])
  .meta({ description: 'Format of this signature.', examples: ['Pades'] });

const signatureFields = {
  ...reasoned,
  format: signatureFormat,
  level: z
    .enum(['B', 'T', 'LT', 'LTA'])
    .nullable()
    .meta({
      description:
        'Highest baseline level whose values are all present and, above B, whose time-stamp is trusted. Null: below B.',
      examples: ['LTA'],
    }),
  name: word('What tells it from the others: field of the PDF, Id in XML, place in CMS.', 'Signature1'),
  isTimestamp: flag('True for a document time-stamp of a PDF.', false),
  isInContent: flag('True for a signature of the content of a CMS signature, not of the file.', false),
  certificate: signer,
  signingTime: timeOrNull('Moment that the signer claims. Null: none.'),
  bestTime: time('Moment at which it existed for certain; without proof, that of the validation.'),
  scope: part('Content that the signature covers.', {
    kind: z.enum(['document', 'revision', 'element', 'content', 'container', 'signature']).meta({
      description: 'What sort of content it covers.',
      examples: ['document'],
    }),
    description: word('Which content it covers, for people.', 'the whole file'),
  }),
  timestamps: z.array(timestampShape).describe('Its time-stamps, oldest first.'),
  changes: parts('Later changes to a PDF.', {
    revision: z.int().meta({ description: 'Revision of the file, from 1.', examples: [2] }),
    permitted: flag('True when the signature allows the change.', true),
    description: word('What was changed, for people.', 'a signature was added'),
  }),
  policy: wordOrNull('Object identifier of its explicit policy. Null: none.', '2.16.76.1.7.1.11.1.1'),
  claimedRoles: shown(
    z.array(z.string()).max(10),
    'What the signer says of itself, as on whose behalf it signs; nothing proves it. Empty: nothing.',
    [],
  ),
  reason: wordOrNull('Why the person signed, as the PDF states it. Null: none.', 'I agree'),
  location: wordOrNull('Where the person signed, as the PDF states it. Null: none.', 'Lisbon'),
  qualification: qualification.describe('By the trusted lists. Null: none are configured, or a time-stamp.'),
  contentIdentifier: wordOrNull('Content identifier of CMS. Null: none, or not printable.', 'order 7'),
  results,
};

type SignatureFields = Value<z.ZodObject<typeof signatureFields>>;
export interface ReportedSignature extends SignatureFields {
  readonly counterSignatures: readonly ReportedSignature[];
}

const signatureShape: z.ZodType<ReportedSignature> = entity('ReportedSignature', {
  ...signatureFields,
  get counterSignatures() {
    return z.array(signatureShape).describe('Signatures over the value of this one.');
  },
});

export const SIGNED_FORMATS = ['Pades', 'Cades', 'Xades', 'Asic'] as const;

const validation = entity('Validation', {
  fileName: word('Name that the file was sent under.', 'contract.pdf'),
  ...verdict,
  format: z.enum(SIGNED_FORMATS).meta({ description: 'Format of the signed file.', examples: ['Pades'] }),
  signatures: z.array(signatureShape).describe('Signatures of the file, in its order.'),
  results,
});

const CHECKS = {
  isValid: true,
  passedChecks: [
    { type: 'digest.content', message: 'The content is unchanged.', detail: 'SHA-256', inner: null },
  ],
  errors: [],
  warnings: [],
};

const VALIDATION = {
  fileName: 'contract.pdf',
  indication: 'TOTAL-PASSED',
  format: 'Pades',
  signatures: [
    {
      format: 'Pades',
      level: 'B',
      indication: 'TOTAL-PASSED',
      subIndication: null,
      name: 'Signature1',
      isTimestamp: false,
      isInContent: false,
      certificate: {
        subjectName: 'Contracts',
        issuerName: 'Example CA',
        emailAddress: null,
        identifier: null,
        companyName: 'Example Ltd',
        companyIdentifier: null,
        thumbprint: 'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=',
        validityStart: '2026-01-01T00:00:00.000Z',
        validityEnd: '2027-12-31T23:59:59.000Z',
      },
      signingTime: JOB_EXAMPLE.createdAt,
      bestTime: AT,
      scope: { kind: 'document', description: 'the whole file' },
      timestamps: [],
      changes: [],
      counterSignatures: [],
      policy: null,
      claimedRoles: [],
      reason: null,
      location: null,
      qualification: null,
      contentIdentifier: null,
      results: CHECKS,
    },
  ],
  results: { ...CHECKS, passedChecks: [] },
};

/** Longest list of certificates in PEM, bytes: some ten of them. */
export const CERTIFICATES_BYTES = 32_768;

const validateForm = z.object({
  file: z.file().describe('The signed file; the first part that has a file name.'),
  content: z
    .array(z.file().meta({ contentMediaType: 'application/octet-stream' }))
    .max(99)
    .optional()
    .describe(
      'Files that a detached signature is over, after the signed file; the part may occur several times.',
    ),
  format: z
    .string()
    .max(16)
    .optional()
    .meta({
      description: 'Pades, Cades, Xades or Asic; left out, it is found out from the content.',
      examples: ['Pades'],
    }),
  password: shown(
    z.string().max(127).optional(),
    'Password of an encrypted PDF, for the form of the page; programs send the header X-Document-Password, which takes precedence.',
    'the-password',
  ),
  certificates: shown(
    z.string().max(CERTIFICATES_BYTES).optional(),
    "Certificates in PEM, one after the other, for signatures that do not hold their signer's. One counts when the signature names it and its key fits; none is trusted for being here.",
    '-----BEGIN CERTIFICATE-----\nMIIB...\n-----END CERTIFICATE-----',
  ),
});

export const validatePage = operation('GET /validate', {
  group: 'Pages',
  summary: 'A page for people: validates the signatures of a file.',
  description: 'Sends the chosen file to `POST /api/validate` and shows its answer.',
  auth: 'page',
  reply: 'page',
});

export const validateFile = operation('POST /api/validate', {
  group: 'Files',
  summary: 'Validates the signatures of a file and answers with the report of ETSI TS 119 102-2.',
  description:
    'A form with one part `file`, and `format` where the content is ambiguous. `Signing:Trust` and the anchors of all profiles are trusted. The file is validated in the pool and removed. Clients that prefer HTML get a page, those that name `application/json` in `Accept` the same checks as JSON, and all others the XML report of ETSI TS 119 102-2. `TOTAL-PASSED`: every signature is valid. A detached signature needs the files that it is over, in parts `content` after the signed file.',
  rate: 'upload',
  bodyPolicy: 'stream',
  headers: ['content-type', 'content-length', 'accept', PASSWORD_HEADER],
  body: validateForm,
  replies: { 200: [validation, 'xml', 'page'] },
  examples: { reply: VALIDATION },
  refusals: [
    'upload.empty',
    'upload.too-large',
    'upload.invalid-name',
    'upload.too-many-files',
    'upload.format-unsupported',
    'validation.body-invalid',
    'job.path-too-long',
    'service.busy',
  ],
});
