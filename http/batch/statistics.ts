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
import { AT } from './description/example-values.ts';
import { type SharedAnswers, sharedQuery, sharedVersion } from './inspection/shared-answers.ts';
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
  invalidInput: {
    params: 'route.not-found',
    query: 'validation.filter-invalid',
    body: 'validation.body-invalid',
  },
} as const;

const DURATIONS = { count: 1280, avgMs: 4.2, p50Ms: 3.9, p95Ms: 9.1, maxMs: 41 };

export function statisticsRoutes(
  profiles: ProfileList,
  statistics: Statistics,
  jobs: Pick<Jobs, 'failures'>,
  shared: SharedAnswers,
): readonly AnyRoute[] {
  return [
    route({
      ...COMMON,
      path: '/api/profiles',
      group: 'System',
      summary: 'Lists the signing profiles an upload may name.',
      description: 'In the order of the configuration. The one with `default` signs uploads that name none.',
      query: noQuery,
      responses: { 200: profilesShape },
      examples: {
        responses: {
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
      refusals: [],
      handle: () => json(200, { profiles: profiles.list().map(profileBody) }),
    }),
    route({
      ...COMMON,
      path: '/api/statistics',
      group: 'System',
      summary: 'Says how many jobs ended within a window up to now, and how long their stages took.',
      description:
        'Over a window up to now (`15m`, `24h`, `7d`). Times are in milliseconds; the time that people need to sign is not included. Deleted jobs are not counted.',
      query: statisticsQuery.extend({ version: sharedVersion }),
      responses: { 200: statisticsShape },
      examples: {
        responses: {
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
      refusals: ['validation.filter-invalid'],
      handle: ({ query: { version, window } }) =>
        shared.answer(version, ['statistics', window], async () => {
          const { since, ...more } = await statistics.over(window);
          return { since: isoTime(since), ...more };
        }),
    }),
    route({
      ...COMMON,
      path: '/api/statistics/series',
      group: 'System',
      summary: 'Counts the jobs that ended in equal intervals of a window up to now, oldest first.',
      description:
        'For charts: one number for each interval and end, oldest first. Deleted jobs are not counted.',
      query: seriesQuery.extend({ version: sharedVersion }),
      responses: { 200: seriesShape },
      examples: {
        responses: {
          200: {
            since: '2026-05-25T15:42:11.123Z',
            intervalSeconds: 21_600,
            completed: [310, 402, 298, 270],
            failed: [0, 3, 1, 0],
            canceled: [0, 0, 1, 0],
          },
        },
      },
      refusals: ['validation.filter-invalid'],
      handle: ({ query: { version, window, intervals } }) =>
        shared.answer(version, ['series', window, intervals], async () => {
          const { since, interval, ...more } = await statistics.series(window, intervals);
          return { since: isoTime(since), intervalSeconds: interval / 1000, ...more };
        }),
    }),
    failureRoute(jobs, shared),
  ];
}

function failureRoute(jobs: Pick<Jobs, 'failures'>, shared: SharedAnswers): AnyRoute {
  return route({
    ...COMMON,
    path: '/api/failures',
    group: 'System',
    summary: 'Groups the failed jobs by error code, with what to do.',
    description:
      'Reads the newest 10,000 failed jobs. `remedy` says what usually ends the error; `POST /api/operations` retries the jobs of a group by `errorCode`.',
    query: sharedQuery,
    responses: { 200: failuresShape },
    examples: {
      responses: {
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
    refusals: [],
    handle: ({ query: { version } }) =>
      shared.answer(version, ['failures'], async () => {
        const { groups, ...more } = await jobs.failures();
        return {
          groups: groups.map(({ oldest, newest, ...group }) => ({
            ...group,
            oldestAt: isoTime(oldest),
            newestAt: isoTime(newest),
          })),
          ...more,
        };
      }),
  });
}

function profileBody({ certificate, isDefault, ...profile }: ProfileView) {
  return {
    ...profile,
    certificate: certificate && { ...certificate, notAfter: isoTime(certificate.notAfter) },
    default: isDefault,
  };
}
