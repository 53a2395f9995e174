/** The JSON form of a validation report, and its construction: times are ISO 8601, what is absent is null. */
import { z } from 'zod';
import type { ValidationReport } from '../../actors/batch/api/service.ts';
import { AT } from './description/example-values.ts';
import { isoTime, timestamp } from './shapes.ts';

type SignatureRecord = ValidationReport['signatures'][number];
type Results = ValidationReport['results'];
type Certificate = NonNullable<SignatureRecord['certificate']>;

interface ResultsBody {
  isValid: boolean;
  passedChecks: ItemBody[];
  errors: ItemBody[];
  warnings: ItemBody[];
}
interface ItemBody {
  type: string;
  message: string;
  detail: string | null;
  inner: ResultsBody | null;
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

const itemShape: z.ZodType<ItemBody> = z
  .strictObject({
    type: word('Identifier of the check; the list is in docs/validation-report.md.', 'digest.content'),
    message: word('What was found, for people. The text may change.', 'The content is unchanged.'),
    detail: wordOrNull('Values, names and times that were read. Null: none.', 'SHA-256'),
    get inner() {
      return resultsShape
        .nullable()
        .describe('Checks that this one depends on, such as those of a certificate of the path. Null: none.');
    },
  })
  .meta({ id: 'ValidationCheck' });

const resultsShape: z.ZodType<ResultsBody> = z
  .strictObject({
    isValid: flag('True when there are no errors.', true),
    passedChecks: z.array(itemShape).describe('Checks without a finding.'),
    errors: z.array(itemShape).describe('Findings that decide the verdict.'),
    warnings: z.array(itemShape).describe('Findings that leave the verdict as it is.'),
  })
  .meta({ id: 'ValidationChecks' });

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

const certificateShape = z
  .strictObject({
    subjectName: word('Common name of the holder, or the whole subject.', 'Ana Lima'),
    issuerName: word('Common name of the authority that issued it, or its whole name.', 'Example CA'),
    emailAddress: wordOrNull('Address of the holder for mail. Null: none.', 'ana@example.com'),
    identifier: wordOrNull('Identifier of the person in the subject. Null: none.', 'PNOBR-12345678909'),
    companyName: wordOrNull('Organization of the subject. Null: none.', 'Example Ltd'),
    companyIdentifier: wordOrNull(
      'Identifier of the organization in the subject. Null: none.',
      'NTRBR-12345678000195',
    ),
    thumbprint: word('SHA-256 of the certificate, Base64.', 'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg='),
    validityStart: time('First moment at which it is valid.'),
    validityEnd: time('Last moment at which it is valid.'),
  })
  .meta({ id: 'ReportedCertificate' });

const signer = certificateShape
  .nullable()
  .describe('Certificate whose key signed. Null: it is not in the file, or cannot be read.');

const timestampShape = z
  .strictObject({
    ...reasoned,
    kind: z.enum(['content', 'signature', 'archive', 'document']).meta({
      description: 'What the time-stamp covers.',
      examples: ['signature'],
    }),
    displayName: word('Name of the authority that stamped.', 'Example TSA'),
    genTime: timeOrNull('Moment that it proves. Null: it cannot be read.'),
    certificate: signer,
    results: resultsShape,
  })
  .meta({ id: 'ReportedTimestamp' });

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
      description: 'Highest baseline level whose values are all present. Null: below B.',
      examples: ['LTA'],
    }),
  name: word('What tells it from the others: field of the PDF, Id in XML, place in CMS.', 'Signature1'),
  isTimestamp: flag('True for a document time-stamp of a PDF.', false),
  isInContent: flag('True for a signature of the content of a CMS signature, not of the file.', false),
  certificate: signer,
  signingTime: timeOrNull('Moment that the signer claims. Null: none.'),
  bestTime: time('Moment at which it existed for certain; without proof, that of the validation.'),
  scope: z
    .strictObject({
      kind: z.enum(['document', 'revision', 'element', 'content', 'container', 'signature']).meta({
        description: 'What sort of content it covers.',
        examples: ['document'],
      }),
      description: word('Which content it covers, for people.', 'the whole file'),
    })
    .describe('Content that the signature covers.'),
  timestamps: z.array(timestampShape).describe('Its time-stamps, oldest first.'),
  changes: z
    .array(
      z.strictObject({
        revision: z.int().meta({ description: 'Revision of the file, from 1.', examples: [2] }),
        permitted: flag('True when the signature allows the change.', true),
        description: word('What was changed, for people.', 'a signature was added'),
      }),
    )
    .describe('Later changes to a PDF.'),
  policy: wordOrNull('Object identifier of its explicit policy. Null: none.', '2.16.76.1.7.1.11.1.1'),
  reason: wordOrNull('Why the person signed, as the PDF states it. Null: none.', 'I agree'),
  location: wordOrNull('Where the person signed, as the PDF states it. Null: none.', 'Lisbon'),
  contentIdentifier: wordOrNull('Content identifier of CMS. Null: none, or not printable.', 'order 7'),
  results: resultsShape,
};

type SignatureBody = z.infer<z.ZodObject<typeof signatureFields>> & { counterSignatures: SignatureBody[] };

const signatureShape: z.ZodType<SignatureBody> = z
  .strictObject({
    ...signatureFields,
    get counterSignatures() {
      return z.array(signatureShape).describe('Signatures over the value of this one.');
    },
  })
  .meta({ id: 'ReportedSignature' });

export const validationShape = z
  .strictObject({
    fileName: word('Name that the file was sent under.', 'contract.pdf'),
    ...verdict,
    format: z
      .enum(['Pades', 'Cades', 'Xades', 'Asic'])
      .meta({ description: 'Format of the signed file.', examples: ['Pades'] }),
    signatures: z.array(signatureShape).describe('Signatures of the file, in its order.'),
    results: resultsShape,
  })
  .meta({ id: 'Validation' });

export function validationBody(fileName: string, report: ValidationReport): z.infer<typeof validationShape> {
  const { indication, format, signatures, results } = report;
  return {
    fileName,
    indication,
    format,
    signatures: signatures.map(signatureBody),
    results: resultsBody(results),
  };
}

function signatureBody(record: SignatureRecord): SignatureBody {
  const { signingTime, scope } = record;
  return {
    format: record.format,
    level: record.level ?? null,
    indication: record.indication,
    subIndication: record.subIndication ?? null,
    name: record.name,
    isTimestamp: record.isTimestamp,
    isInContent: record.isInContent ?? false,
    certificate: certificateBody(record.certificate),
    signingTime: isoOrNull(signingTime),
    bestTime: isoTime(record.bestTime),
    scope: { kind: scope.kind, description: scope.description },
    timestamps: record.timestamps.map((stamp) => ({
      kind: stamp.kind,
      displayName: stamp.displayName,
      genTime: isoOrNull(stamp.genTime),
      certificate: certificateBody(stamp.certificate),
      indication: stamp.indication,
      subIndication: stamp.subIndication ?? null,
      results: resultsBody(stamp.results),
    })),
    changes: record.changes.map(({ revision, permitted, description }) => ({
      revision,
      permitted,
      description,
    })),
    counterSignatures: record.counterSignatures.map(signatureBody),
    policy: record.policy ?? null,
    reason: record.reason ?? null,
    location: record.location ?? null,
    contentIdentifier: record.contentIdentifier ?? null,
    results: resultsBody(record.results),
  };
}

function certificateBody(given: Certificate | undefined): z.infer<typeof certificateShape> | null {
  if (given === undefined) return null;
  return {
    subjectName: given.subjectName,
    issuerName: given.issuerName,
    emailAddress: given.emailAddress ?? null,
    identifier: given.identifier ?? null,
    companyName: given.companyName ?? null,
    companyIdentifier: given.companyIdentifier ?? null,
    thumbprint: given.thumbprint,
    validityStart: isoTime(given.validityStart),
    validityEnd: isoTime(given.validityEnd),
  };
}

function resultsBody({ isValid, passedChecks, errors, warnings }: Results): ResultsBody {
  return {
    isValid,
    passedChecks: passedChecks.map(itemBody),
    errors: errors.map(itemBody),
    warnings: warnings.map(itemBody),
  };
}

function itemBody({ type, message, detail, inner }: Results['errors'][number]): ItemBody {
  return { type, message, detail: detail ?? null, inner: inner === undefined ? null : resultsBody(inner) };
}

function isoOrNull(at: number | undefined): string | null {
  return at === undefined ? null : isoTime(at);
}
