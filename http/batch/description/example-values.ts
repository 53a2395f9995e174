/** Values that the examples of several operations and properties share. */
import type { PropertyTexts } from '../../core/openapi/property-texts.ts';

export const JOB_ID = '0d9a7c3e-5b1f-4a6d-8c2e-1f3b5d7a9c0e';

export const OTHER_ID = '6f2b8e14-93c7-4d5a-b0e1-7a4c2d9f8b36';

export const AT = '2026-05-26T15:42:11.123Z';

export const SHA256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

export const JOB_BODY = {
  id: JOB_ID,
  fileName: 'contract.pdf',
  originalPath: '/var/lib/batch/input/2b1c7d8e-0f3a-4b5c-9d6e-7f8091a2b3c4.pdf',
  format: 'Pades',
  source: 'Upload',
  status: 'Completed',
  createdAt: '2026-05-26T15:42:10.900Z',
  updatedAt: AT,
  parentJobId: null,
  errorMessage: null,
  profileName: 'contracts',
  folder: null,
  outputEncrypted: false,
};

export const JOB_DETAIL = {
  ...JOB_BODY,
  errorCode: null,
  remoteDocumentId: null,
  awaitingSignerSince: null,
  queuedAt: JOB_BODY.createdAt,
  inputSha256: SHA256,
  outputSha256: SHA256,
  outputFileName: 'contract.signed.pdf',
  history: [
    { id: 1, timestamp: JOB_BODY.createdAt, status: 'Queued', message: 'Uploaded.' },
    {
      id: 2,
      timestamp: '2026-05-26T15:42:10.950Z',
      status: 'Processing',
      message: 'Claimed by worker.',
    },
    { id: 3, timestamp: '2026-05-26T15:42:11.020Z', status: 'Verifying', message: 'Signed.' },
    { id: 4, timestamp: AT, status: 'Completed', message: 'Verified and published.' },
  ],
};

/** Examples of properties that their schemas describe. */
export const PROPERTY_EXAMPLES: PropertyTexts = {
  Once: { example: 'b25jZS1sb2dpbi10b2tlbg' },
  'Changes.version': { example: '4711' },
  'Problem.errors': { example: { pageSize: ['must be at most 200'] } },
  'Problem.exception': { example: 'Error: the disk is full' },
  'Problem.requestId': { example: '0H00000000001:00000001' },
  'Problem.status': { example: 404 },
  'Problem.traceId': { example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
  'Problem.type': { example: 'https://tools.ietf.org/html/rfc9110#section-15.5.5' },
  'WebhookDelivery.body': { example: '{"type":"JobCompleted","data":{}}' },
  complete: { example: true },
  detail: { example: 'No job has this id.' },
  examined: { example: 42 },
  hasText: { example: true },
  instance: { example: '/api/jobs/0d9a7c3e' },
  isThis: { example: true },
  operation: { example: 'Sign' },
  password: { example: 'the-password' },
  reply: { example: '250 2.0.0 Ok: queued as 4VdL2k3Z' },
  title: { example: 'The job was not found.' },
};

const CHECKS = {
  isValid: true,
  passedChecks: [
    { type: 'digest.content', message: 'The content is unchanged.', detail: 'SHA-256', inner: null },
  ],
  errors: [],
  warnings: [],
};

export const VALIDATION_BODY = {
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
      signingTime: JOB_BODY.createdAt,
      bestTime: AT,
      scope: { kind: 'document', description: 'the whole file' },
      timestamps: [],
      changes: [],
      counterSignatures: [],
      policy: null,
      reason: null,
      location: null,
      contentIdentifier: null,
      results: CHECKS,
    },
  ],
  results: { ...CHECKS, passedChecks: [] },
};
