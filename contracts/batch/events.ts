/** Service-wide events. Source: docs/batch-values.md §0, §15. */
import { z } from 'zod';
import { shown, time } from '../fields.ts';
import type { Value } from '../operation.ts';
import { AT, JOB_ID, OTHER_ID } from './examples.ts';
import { jobId } from './jobs.ts';
import { operation } from './operation.ts';
import { anyOf, pageOf, paging } from './requests.ts';
import { SYSTEM_EVENT_KINDS } from './words.ts';

const event = z.strictObject({
  id: shown(z.guid(), 'Identifier.', JOB_ID),
  timestamp: time.describe('Time of the event, UTC.'),
  kind: z.enum(SYSTEM_EVENT_KINDS).describe('Kind of the actor, such as `job`.'),
  actor: shown(z.string(), 'Who caused the event.', 'operator'),
  jobId: shown(jobId.nullable(), 'Job this is about. Null: none.', JOB_ID),
  code: shown(
    z.string().nullable(),
    'Error in one word, for programs. It is never renamed. Null: no error.',
    'job.not-found',
  ),
  message: shown(z.string(), 'What happened, for people. The text may change.', 'Verified and published.'),
});

export const listEvents = operation('GET /api/events', {
  group: 'System',
  summary: 'Lists system events, newest first.',
  description: 'Newest first. `kind` may be repeated or separated by commas.',
  query: z.object({ kind: anyOf(SYSTEM_EVENT_KINDS).default([]), ...paging }),
  reply: pageOf(event).meta({ id: 'EventList' }),
  examples: {
    reply: {
      items: [
        {
          id: OTHER_ID,
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
  refusals: ['validation.filter-invalid'],
});

export type SystemEvent = Value<typeof event>;
