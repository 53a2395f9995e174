/**
 * Public configuration and throughput of the service: signing profiles and statistics.
 *
 * Source: docs/batch-values.md §15.
 */
import { z } from 'zod';
import type { Statistics } from '../../actors/batch/api/inspection.ts';
import type { Jobs } from '../../actors/batch/api/jobs.ts';
import type { ProfileList, ProfileView } from '../../actors/batch/api/service.ts';
import { json } from '../core/reply.ts';
import { type AnyRoute, route } from '../core/router.ts';
import { noBody, noParams, noQuery, seriesQuery, statisticsQuery } from './queries.ts';
import { isoTime, jobFormat, timestamp } from './shapes.ts';

export const profilesShape = z.strictObject({
  profiles: z.array(
    z.strictObject({
      name: z.string(),
      format: jobFormat.nullable(),
      method: z.enum(['Local', 'RemoteSigner']),
      verify: z.boolean(),
      encrypt: z.boolean(),
      validateCertificate: z.boolean(),
      certificate: z
        .strictObject({
          source: z.string(),
          subject: z.string(),
          thumbprint: z.string(),
          notAfter: timestamp,
        })
        .nullable(),
      default: z.boolean(),
    }),
  ),
});

const stageStatistics = z.strictObject({
  count: z.int(),
  avgMs: z.number().nullable(),
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
  maxMs: z.number().nullable(),
});

export const statisticsShape = z.strictObject({
  since: timestamp,
  completed: z.int(),
  failed: z.int(),
  canceled: z.int(),
  encrypted: z.int(),
  perStage: z.strictObject({
    queueWait: stageStatistics,
    sign: stageStatistics,
    verify: stageStatistics,
    output: stageStatistics,
  }),
  perMethod: z.strictObject({ Local: z.int(), RemoteSigner: z.int() }),
  throughputPerMinute: z.number(),
  lifetimePerMinute: z.number(),
});

const counts = z.array(z.int()).max(96);

const seriesShape = z
  .strictObject({
    since: timestamp,
    intervalSeconds: z.number(),
    completed: counts,
    failed: counts,
    canceled: counts,
  })
  .meta({ id: 'StatisticsSeries' });

const failuresShape = z
  .strictObject({
    groups: z
      .array(
        z.strictObject({
          errorCode: z.string(),
          remedy: z.string().nullable(),
          count: z.int(),
          oldestAt: timestamp,
          newestAt: timestamp,
          example: z.strictObject({ id: z.guid(), fileName: z.string(), message: z.string().nullable() }),
        }),
      )
      .max(200),
    examined: z.int().describe('Failed jobs that were read: the newest, at most 10,000.'),
    complete: z.boolean().describe('False when there are more failed jobs.'),
  })
  .meta({ id: 'Failures' });

const COMMON = {
  method: 'GET',
  auth: 'operator',
  rate: 'none',
  bodyPolicy: 'none',
  headers: [],
  params: noParams,
  body: noBody,
  unfit: { params: 'route.not-found', query: 'validation.filter-invalid', body: 'validation.body-invalid' },
} as const;

export function statisticsRoutes(
  profiles: ProfileList,
  statistics: Statistics,
  jobs: Pick<Jobs, 'failures'>,
): readonly AnyRoute[] {
  return [
    route({
      ...COMMON,
      path: '/api/profiles',
      summary: 'Lists the signing profiles an upload may name.',
      query: noQuery,
      responses: { 200: profilesShape },
      refusals: [],
      handle: () => json(200, { profiles: profiles.list().map(profileBody) }),
    }),
    route({
      ...COMMON,
      path: '/api/statistics',
      summary: 'Says how many jobs ended within a window up to now, and how long their stages took.',
      query: statisticsQuery,
      responses: { 200: statisticsShape },
      refusals: ['validation.filter-invalid'],
      async handle({ query }) {
        const { since, ...more } = await statistics.over(query.window);
        return json(200, { since: isoTime(since), ...more });
      },
    }),
    route({
      ...COMMON,
      path: '/api/statistics/series',
      summary: 'Counts the jobs that ended in equal intervals of a window up to now, oldest first.',
      query: seriesQuery,
      responses: { 200: seriesShape },
      refusals: ['validation.filter-invalid'],
      async handle({ query }) {
        const { since, interval, ...more } = await statistics.series(query.window, query.intervals);
        return json(200, { since: isoTime(since), intervalSeconds: interval / 1000, ...more });
      },
    }),
    failureRoute(jobs),
  ];
}

function failureRoute(jobs: Pick<Jobs, 'failures'>): AnyRoute {
  return route({
    ...COMMON,
    path: '/api/failures',
    summary: 'Groups the failed jobs by error code, with what to do.',
    query: noQuery,
    responses: { 200: failuresShape },
    refusals: [],
    async handle() {
      const { groups, ...more } = await jobs.failures();
      return json(200, {
        groups: groups.map(({ oldest, newest, ...group }) => ({
          ...group,
          oldestAt: isoTime(oldest),
          newestAt: isoTime(newest),
        })),
        ...more,
      });
    },
  });
}

function profileBody({ certificate, isDefault, ...profile }: ProfileView) {
  return {
    ...profile,
    certificate: certificate && { ...certificate, notAfter: isoTime(certificate.notAfter) },
    default: isDefault,
  };
}
