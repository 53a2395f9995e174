/** Examples of the operations that the pages about actors, charts, failures and webhooks use. */
import type { OperationExamples } from '../../core/openapi/examples.ts';

const AT = '2026-05-26T15:42:11.123Z';
const ORGANIZATION = '6f2b8e14-93c7-4d5a-b0e1-7a4c2d9f8b36';
const DOCUMENT = '0d9a7c3e-5b1f-4a6d-8c2e-1f3b5d7a9c0e';

export const INSPECTION_EXAMPLES: OperationExamples = {
  'GET /api/webhooks/portal': {
    answers: { 200: { items: [{ id: ORGANIZATION, name: 'Acme', pending: 1, delivered: 40, failed: 2 }] } },
  },
  'GET /api/webhooks/portal/{organizationId}/deliveries': {
    answers: {
      200: {
        items: [
          {
            id: `${ORGANIZATION}.${DOCUMENT}.1`,
            webhookId: ORGANIZATION,
            documentId: DOCUMENT,
            type: 'DocumentConcluded',
            sequence: 1,
            status: 'Pending',
            createdAt: AT,
            nextAttemptAt: AT,
            attempts: [],
          },
        ],
        page: 1,
        pageSize: 50,
        totalCount: 1,
      },
    },
  },
  'POST /api/webhooks/portal/{organizationId}/deliveries/{id}/resend': {
    answers: { 202: { id: `${ORGANIZATION}.${DOCUMENT}.1` } },
  },
  'GET /api/statistics/series': {
    answers: {
      200: {
        since: '2026-05-25T15:42:11.123Z',
        intervalSeconds: 21_600,
        completed: [310, 402, 298, 270],
        failed: [0, 3, 1, 0],
        canceled: [0, 0, 1, 0],
      },
    },
  },
  'GET /api/failures': {
    answers: {
      200: {
        groups: [
          {
            errorCode: 'pdf.malformed',
            remedy: 'The PDF is damaged. Save it again with a PDF program.',
            count: 3,
            oldestAt: AT,
            newestAt: AT,
            example: {
              id: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
              fileName: 'contract.pdf',
              message: 'This is no PDF: its first 1024 bytes have no %PDF- header.',
            },
          },
        ],
        examined: 3,
        complete: true,
      },
    },
  },
  'GET /api/actor-kinds/{kind}': {
    answers: {
      200: {
        kind: 'pipeline',
        version: 1,
        initial: 'Running',
        states: [
          { name: 'Running', final: false },
          { name: 'Paused', final: false },
        ],
        transitions: [
          { from: 'Running', to: 'Paused', event: 'PAUSE' },
          { from: 'Paused', to: 'Running', event: 'RESUME' },
        ],
      },
    },
  },
  'GET /api/changes': { answers: { 200: { version: '8c1f2a34-5b6d-4e7f-8091-a2b3c4d5e6f7.1042' } } },
};
