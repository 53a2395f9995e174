/** One example of each JSON body of the batch service; a test validates them by their schemas. */
import type { OperationExamples } from '../../core/openapi/examples.ts';
import { INSPECTION_EXAMPLES } from './inspection-examples.ts';

const JOB = '0d9a7c3e-5b1f-4a6d-8c2e-1f3b5d7a9c0e';
const NEXT = '6f2b8e14-93c7-4d5a-b0e1-7a4c2d9f8b36';
const AT = '2026-05-26T15:42:11.123Z';
const SHA256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

const JOB_BODY = {
  id: JOB,
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

const JOB_DETAIL = {
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

const PIPELINE = {
  paused: true,
  pausedAtUtc: AT,
  resumedAtUtc: null,
  pausedBy: 'operator',
  reason: 'certificate change',
  held: null,
  maxConcurrency: 8,
  jobsInFlight: 2,
  jobsInFlightByFormat: { pades: 1, cades: 0, xades: 1, total: 2 },
};

const COUNTS = { scanned: 3, enqueued: 1, alreadyActive: 1, ignored: 1, errors: 0 };
const DURATIONS = { count: 1280, avgMs: 4.2, p50Ms: 3.9, p95Ms: 9.1, maxMs: 41 };
const DELAYS = { p50Ms: 0.4, p99Ms: 3.1, maxMs: 12 };
const ACTOR = {
  kind: 'job',
  id: JOB,
  state: 'Completed',
  revision: 4,
  mailbox: 0,
  stopped: null,
  trouble: null,
};

const READY = {
  status: 'Ready',
  checkedAtUtc: AT,
  checks: [
    { name: 'database', status: 'Healthy', detail: 'reachable (LMDB (/var/lib/batch/db))' },
    { name: 'input-folder:invoices', status: 'Healthy', detail: null },
    { name: 'license', status: 'Healthy', detail: 'not required' },
  ],
};

const MAIL = {
  id: NEXT,
  organizationId: JOB,
  about: 'pending',
  to: 'ana@example.com',
  documentId: JOB,
  status: 'Waiting',
  tries: 1,
  createdAt: AT,
  endedAt: null,
  nextTryAt: '2026-05-26T15:43:11.123Z',
  reply: null,
  lastError: { code: 'mail.folder', message: 'ENOSPC: no space left on device' },
  hasText: false,
  textRemoved: false,
};

const OPERATION = {
  id: NEXT,
  action: 'retry',
  state: 'Running',
  filter: {
    status: [],
    profile: 'contracts',
    format: [],
    source: [],
    folder: null,
    fileName: null,
    errorCode: 'remote.unreachable',
    parentJobId: null,
    createdFrom: null,
    createdTo: AT,
  },
  reason: null,
  matched: 12000,
  done: 2560,
  skipped: 3,
  skippedByCode: { 'job.input-missing': 3 },
  createdAt: AT,
  updatedAt: AT,
  endedAt: null,
};

const DELIVERY = {
  id: `5c0c1f0d7be1a2f4.${JOB}`,
  url: 'https://hooks.example.com/jobs',
  jobId: JOB,
  type: 'JobCompleted',
  status: 'Delivered',
  body: '{"type":"JobCompleted","timestamp":"2026-05-26T15:42:11.123Z","data":{}}',
  createdAt: AT,
  nextAttemptAt: null,
  attempts: [
    {
      at: AT,
      url: 'https://hooks.example.com/jobs',
      status: 204,
      milliseconds: 18,
      error: null,
      response: '',
    },
  ],
};

/** By method and path. */
export const OPERATION_EXAMPLES: OperationExamples = {
  ...INSPECTION_EXAMPLES,
  'POST /api/files': {
    answers: {
      200: JOB_DETAIL,
      202: {
        jobId: JOB,
        fileName: 'contract.pdf',
        originalPath: JOB_BODY.originalPath,
        format: 'Pades',
        status: 'Queued',
      },
    },
  },
  'GET /api/jobs': { answers: { 200: { items: [JOB_BODY], page: 1, pageSize: 50, totalCount: 1 } } },
  'DELETE /api/jobs': {
    answers: {
      200: { deleted: 1280, skipped: 3, message: '1280 finished jobs were forgotten; 3 jobs stay.' },
    },
  },
  'GET /api/jobs/{id}': {
    answers: {
      200: JOB_DETAIL,
    },
  },
  'POST /api/jobs/{id}/cancel': {
    sends: { reason: 'sent twice' },
    answers: { 200: { jobId: JOB, status: 'Canceled' } },
  },
  'POST /api/jobs/{id}/retry': {
    answers: { 200: { newJobId: NEXT, parentJobId: JOB, status: 'Queued' } },
  },
  'POST /api/jobs/retry': {
    sends: { status: 'Failed', errorCode: 'remote.unreachable', since: '2026-05-26T00:00:00Z', limit: 100 },
    answers: {
      200: { matched: 1, created: 1, skipped: 0, items: [{ jobId: JOB, newJobId: NEXT, code: null }] },
    },
  },
  'POST /api/jobs/cancel': {
    sends: { status: ['Queued'], profile: 'contracts', reason: 'wrong batch' },
    answers: {
      200: { matched: 1, canceled: 0, skipped: 1, items: [{ jobId: JOB, code: 'job.race-lost' }] },
    },
  },
  'POST /api/operations': {
    sends: { action: 'retry', filter: { profile: 'contracts', errorCode: 'remote.unreachable' } },
    answers: { 200: { matched: 12000 }, 202: OPERATION },
  },
  'GET /api/operations': {
    answers: { 200: { items: [OPERATION], page: 1, pageSize: 50, totalCount: 1 } },
  },
  'GET /api/operations/{id}': { answers: { 200: OPERATION } },
  'POST /api/operations/{id}/cancel': { answers: { 200: { ...OPERATION, state: 'Canceling' } } },
  'GET /api/webhooks/deliveries': {
    answers: { 200: { items: [DELIVERY], page: 1, pageSize: 50, totalCount: 1 } },
  },
  'POST /api/webhooks/deliveries/{id}/resend': {
    answers: { 202: { ...DELIVERY, status: 'Pending', nextAttemptAt: AT } },
  },
  'POST /api/webhooks/replay': {
    sends: { from: '2026-05-26T00:00:00Z', failedOnly: true },
    answers: { 202: { count: 12, complete: true } },
  },
  'GET /api/profiles': {
    answers: {
      200: {
        profiles: [
          {
            name: 'contracts',
            format: 'Pades',
            method: 'Local',
            verify: true,
            encrypt: false,
            validateCertificate: true,
            certificate: {
              source: 'Pfx',
              subject: 'CN=Contracts, O=Example',
              thumbprint: '5F1E2D3C4B5A69788796A5B4C3D2E1F001122334',
              notAfter: '2028-01-31T23:59:59.000Z',
            },
            default: true,
          },
        ],
      },
    },
  },
  'GET /api/statistics': {
    answers: {
      200: {
        since: '2026-05-25T15:42:11.123Z',
        completed: 1280,
        failed: 4,
        canceled: 1,
        encrypted: 0,
        perStage: { queueWait: DURATIONS, sign: DURATIONS, verify: DURATIONS, output: DURATIONS },
        perMethod: { Local: 1275, RemoteSigner: 5 },
        throughputPerMinute: 62,
        lifetimePerMinute: 48.5,
      },
    },
  },
  'GET /api/pipeline/state': { answers: { 200: PIPELINE } },
  'POST /api/pipeline/pause': { sends: { reason: 'certificate change' }, answers: { 200: PIPELINE } },
  'POST /api/pipeline/resume': {
    sends: { reason: 'done' },
    answers: {
      200: { ...PIPELINE, paused: false, resumedAtUtc: '2026-05-26T15:50:00.000Z', reason: 'done' },
    },
  },
  'GET /api/folders': {
    answers: {
      200: {
        folders: [
          {
            name: 'invoices',
            path: '/srv/in/invoices',
            exists: true,
            status: 'Running',
            lastEnqueueAt: AT,
            lastError: null,
            processedCount: 412,
            fileCount: 50,
            fileCountCapped: true,
            profile: 'invoices',
          },
        ],
      },
    },
  },
  'POST /api/rescan': {
    answers: {
      200: {
        folders: [
          { name: 'invoices', path: '/srv/in/invoices', ...COUNTS, enqueuedFiles: ['may/order.xml'] },
        ],
        totals: { folders: 1, ...COUNTS },
      },
    },
  },
  'POST /api/cleanup': {
    answers: {
      200: { deleted: 0, message: 'No retention policy is configured; nothing was removed.' },
    },
  },
  'GET /api/events': {
    answers: {
      200: {
        items: [
          {
            id: NEXT,
            timestamp: AT,
            kind: 'PipelinePaused',
            actor: 'operator',
            jobId: null,
            code: null,
            message: 'Pipeline paused by operator. Reason: certificate change.',
          },
        ],
        page: 1,
        pageSize: 50,
        totalCount: 1,
      },
    },
  },
  'GET /api/actors': { answers: { 200: { items: [ACTOR], next: null } } },
  'GET /api/actors/{kind}/{id}': {
    answers: {
      200: {
        ...ACTOR,
        version: 1,
        context: { fileName: 'contract.pdf' },
        accepts: ['CLEAR'],
        timers: [],
        effects: [],
        history: [{ id: 1, at: AT, state: 'Queued', message: 'Uploaded.', cause: 'create' }],
        parent: null,
        children: [],
        shard: 0,
      },
    },
  },
  'POST /api/actors/{kind}/{id}/restart': { answers: { 200: { kind: 'job', id: JOB, restarted: true } } },
  'GET /api/mails': {
    answers: {
      200: { items: [{ ...MAIL, subject: 'Please sign: Contract' }], page: 1, pageSize: 50, totalCount: 1 },
    },
  },
  'GET /api/mails/{id}': {
    answers: { 200: { ...MAIL, failures: [{ at: AT, ...MAIL.lastError }] } },
  },
  'POST /api/runtime/nodes/{id}/drain': { answers: { 202: { name: 'node-2', draining: true } } },
  'GET /api/runtime': {
    answers: {
      200: {
        nodes: [
          {
            ...{ name: 'node-1', version: '1.4.0', isThis: true, startedAt: AT, silentMs: 412 },
            ...{ leaseMs: 5000, session: 17, draining: false, leases: ['folders', 'history'] },
            ...{ effectsInFlight: 3, lagMs: 41, storeMs: 0.9 },
          },
        ],
        eventLoopDelay: DELAYS,
        effectsInFlight: 3,
        shards: [
          {
            shard: 0,
            thread: 'main',
            losses: 0,
            lastLoss: null,
            awakeActors: 2,
            deepestMailbox: 1,
            commit: DELAYS,
            eventLoopDelay: DELAYS,
          },
        ],
        pool: { threads: 2, busy: 1, waiting: 0, utilisation: 0.61, stalled: [] },
        store: { engine: 'LMDB', bytes: 41_943_040 },
        memory: { residentBytes: 187_000_000, heapBytes: 61_000_000 },
        uptimeSeconds: 86_400,
      },
    },
  },
  'GET /api/health': { answers: { 200: { status: 'Healthy' } } },
  'GET /api/whoami': { answers: { 200: { operator: 'operator', scheme: 'ApiKey' } } },
  'GET /api/ready': { answers: { 200: READY } },
};
