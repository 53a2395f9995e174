/** Examples of the operations that the pages about actors, charts and failures use. */
import type { OperationExamples } from '../../core/openapi/examples.ts';

const AT = '2026-05-26T15:42:11.123Z';

export const INSPECTION_EXAMPLES: OperationExamples = {
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
