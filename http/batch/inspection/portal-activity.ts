/**
 * `/api/portal/activity`: documents, webhook deliveries and e-mails by the time of their creation, for charts.
 *
 * Not in docs/batch-values.md §0; additive.
 */
import { z } from 'zod';
import type { OperatorActivity } from '../../../actors/portal/api.ts';
import { type AnyRoute, route } from '../../core/router.ts';
import { noParams, seriesQuery } from '../queries.ts';
import { withQueryLimit } from '../query-limits.ts';
import { isoTime, timestamp } from '../shapes.ts';
import { type SharedAnswers, sharedVersion } from './shared-answers.ts';

/** One number for each interval. */
const counts = (description: string) =>
  z
    .array(z.int().meta({ examples: [31] }))
    .max(96)
    .meta({ description, examples: [[31, 40, 29, 27]] });

const activityShape = z
  .strictObject({
    since: timestamp,
    intervalSeconds: z.number(),
    documents: z
      .strictObject({
        created: counts('Documents and envelopes that were created in each interval, oldest first.'),
        concluded: counts('Those of each interval that are concluded now.'),
        refused: counts('Those of each interval that a participant has refused.'),
      })
      .describe('Documents by the interval in which they were created.'),
    webhooks: z
      .strictObject({
        delivered: counts('Deliveries that a receiver has accepted, oldest interval first.'),
        failed: counts('Deliveries that were given up after the last attempt.'),
      })
      .describe('Webhook deliveries by the interval in which they were created.'),
    mails: z
      .strictObject({
        sent: counts('E-mails that the mail server has accepted, oldest interval first.'),
        failed: counts('E-mails that were given up after the last attempt.'),
      })
      .describe('E-mails by the interval in which they were created.'),
    complete: z
      .boolean()
      .describe('False when not all of the window was read: `incomplete` names the counts that are too low.'),
    incomplete: z
      .array(z.enum(['documents', 'webhooks', 'mails']))
      .max(3)
      .meta({
        description: 'Members of which not all was read: their counts are too low. Empty with `complete`.',
        examples: [['webhooks']],
      }),
  })
  .meta({ id: 'PortalActivity' });

export function portalActivityRoutes(portal: OperatorActivity, shared: SharedAnswers): readonly AnyRoute[] {
  return [
    route({
      ...withQueryLimit('route.not-found'),
      path: '/api/portal/activity',
      group: 'System',
      summary: 'Counts documents, webhook deliveries and e-mails of the portal in equal intervals up to now.',
      description:
        'For charts: one number for each interval, oldest first, by the time of creation and with the state of now. Reads at most the newest 5,000 documents, the newest 5,000 e-mails of each state, and the newest 5,000 deliveries of each state of each organization, of at most 1,000 organizations, and stops after 5 seconds. Only where the portal is served.',
      params: noParams,
      query: seriesQuery.extend({ version: sharedVersion }),
      responses: { 200: activityShape },
      examples: {
        responses: {
          200: {
            since: '2026-05-25T15:42:11.123Z',
            intervalSeconds: 21_600,
            documents: { created: [31, 40, 29, 27], concluded: [30, 38, 22, 4], refused: [1, 0, 0, 0] },
            webhooks: { delivered: [62, 78, 51, 30], failed: [0, 2, 0, 0] },
            mails: { sent: [64, 81, 55, 31], failed: [0, 0, 1, 0] },
            complete: true,
            incomplete: [],
          },
        },
      },
      refusals: ['validation.filter-invalid'],
      handle: ({ query: { window, intervals, version } }) =>
        shared.answer(version, ['activity', window, intervals], async () => {
          const { since, interval, ...rest } = await portal.activity(window, intervals);
          return { since: isoTime(since), intervalSeconds: interval / 1000, ...rest };
        }),
    }),
  ];
}
