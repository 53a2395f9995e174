/**
 * `GET /api/events`: service-wide events.
 *
 * Source: docs/batch-values.md §0, §15.
 */
import type { SystemEvents } from '../../actors/batch/api/service.ts';
import { json } from '../core/reply.ts';
import { type AnyRoute, route } from '../core/router.ts';
import { AT, OTHER_ID } from './description/example-values.ts';
import { eventQuery, noBody, noParams } from './queries.ts';
import { eventListShape, isoTime } from './shapes.ts';

export function eventRoutes(events: SystemEvents): readonly AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/events',
      group: 'System',
      summary: 'Lists system events, newest first.',
      description: 'Newest first. `kind` may be repeated or separated by commas.',
      auth: 'operator',
      rate: 'none',
      bodyPolicy: 'none',
      headers: [],
      params: noParams,
      query: eventQuery,
      body: noBody,
      invalidInput: {
        params: 'route.not-found',
        query: 'validation.filter-invalid',
        body: 'validation.body-invalid',
      },
      responses: { 200: eventListShape },
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
      async handle({ query }) {
        const { kind: kinds, page, pageSize } = query;
        const { items, totalCount } = await events.list({ kinds, page, pageSize });
        return json(200, {
          items: items.map(({ timestamp, ...event }) => ({ timestamp: isoTime(timestamp), ...event })),
          page,
          pageSize,
          totalCount,
        });
      },
    }),
  ];
}
