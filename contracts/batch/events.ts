/** Service-wide events. Source: docs/batch-values.md §0, §15. */
import { z } from 'zod';
import { time } from '../fields.ts';
import type { Value } from '../operation.ts';
import { AT, JOB_ID, OTHER_ID } from './examples.ts';
import { jobId } from './jobs.ts';
import { operation } from './operation.ts';
import { anyOf, pageOf, paging } from './requests.ts';
import { SYSTEM_EVENT_KINDS } from './words.ts';

const event = z.strictObject({
  id: z.guid().meta({ description: 'Identifier.', exampleValue: JOB_ID }),
  timestamp: time.meta({ description: 'Time of the event, UTC.' }),
  kind: z.enum(SYSTEM_EVENT_KINDS).meta({ description: 'Kind of the actor, such as `job`.' }),
  actor: z.string().meta({ description: 'Who caused the event.', exampleValue: 'operator' }),
  jobId: jobId.nullable().meta({
    description: 'Job this is about. Null: none.',
    exampleValue: JOB_ID,
  }),
  code: z.string().nullable().meta({
    description: 'Error in one word, for programs. It is never renamed. Null: no error.',
    exampleValue: 'job.not-found',
  }),
  message: z.string().meta({
    description: 'What happened, for people. The text may change.',
    exampleValue: 'Verified and published.',
  }),
});

export const listEvents = operation({
  method: 'GET',
  path: '/api/events',
  group: 'System',
  summary: 'Lists system events, newest first.',
  description: 'Newest first. `kind` may be repeated or separated by commas.',
  query: z.object({ kind: anyOf(SYSTEM_EVENT_KINDS).default([]), ...paging }),
  reply: pageOf(event).meta({ id: 'EventList' }),
  examples: {
    responses: {
      200: {
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
  },
  refusals: ['validation.filter-invalid'],
});

export type SystemEvent = Value<typeof event>;
