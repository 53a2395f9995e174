/** Signing profiles, throughput and failures. Source: docs/batch-values.md §15. */
import { z } from 'zod';
import { time } from '../fields.ts';
import type { Value } from '../operation.ts';
import { AT, JOB_ID } from './examples.ts';
import { profileName } from './jobs.ts';
import { operation } from './operation.ts';
import { MAX_INTERVALS, seriesQuery, sharedQuery, sharedVersion, window } from './requests.ts';
import { JOB_FORMATS } from './words.ts';

export const profiles = z
  .strictObject({
    profiles: z
      .array(
        z.strictObject({
          name: profileName.meta({
            description: 'Name of the profile in the configuration.',
            exampleValue: 'contracts',
          }),
          format: z.enum(JOB_FORMATS).nullable().meta({ description: 'Signature format.' }),
          method: z
            .enum(['Local', 'RemoteSigner'])
            .meta({ description: 'Whether a key of this service signs, or people on a remote portal.' }),
          verify: z.boolean().meta({
            description: 'Whether signed files are verified before they are published.',
            exampleValue: true,
          }),
          encrypt: z.boolean().meta({ description: 'Whether outputs are encrypted.' }),
          validateCertificate: z
            .boolean()
            .meta({ description: 'Whether certificates are checked before signing.', exampleValue: true }),
          certificate: z
            .strictObject({
              source: z.string().meta({ description: 'Where the key is kept.', exampleValue: 'Pfx' }),
              subject: z.string().meta({
                description: 'Distinguished name of the certificate.',
                exampleValue: 'CN=Contracts, O=Example',
              }),
              thumbprint: z.string().meta({
                description: 'SHA-1 of the certificate, upper-case hex.',
                exampleValue: '5F1E2D3C4B5A69788796A5B4C3D2E1F001122334',
              }),
              notAfter: time.meta({
                description: 'Last moment at which the certificate is valid.',
                exampleValue: '2028-01-31T23:59:59.000Z',
              }),
            })
            .nullable()
            .meta({ description: 'Certificate that signs. Null: the profile has none of its own.' }),
          default: z
            .boolean()
            .meta({ description: 'Whether the profile signs uploads that name none.', exampleValue: true }),
        }),
      )
      .meta({ description: 'Profiles in the order of the configuration.' }),
  })
  .meta({ id: 'Profiles' });

const stageStatistics = z.strictObject({
  count: z.int().meta({ description: 'Number of entries that were measured or found.', exampleValue: 3 }),
  avgMs: z.number().nullable().meta({ description: 'Mean, milliseconds. Null: no job.', exampleValue: 4.2 }),
  p50Ms: z
    .number()
    .nullable()
    .meta({ description: 'Half of the values are at most this, milliseconds.', exampleValue: 3.9 }),
  p95Ms: z
    .number()
    .nullable()
    .meta({ description: '95 of 100 values are at most this, milliseconds.', exampleValue: 9.1 }),
  maxMs: z.number().nullable().meta({ description: 'Greatest value, milliseconds.', exampleValue: 41 }),
});

export const statistics = z
  .strictObject({
    since: time.meta({ description: 'Time from which this holds or is counted.' }),
    completed: z.int().meta({ description: 'Jobs that were signed and published.', exampleValue: 1280 }),
    failed: z.int().meta({ description: 'Jobs that failed.', exampleValue: 4 }),
    canceled: z.int().meta({ description: 'Jobs that were canceled.', exampleValue: 1 }),
    encrypted: z.int().meta({ description: 'Jobs whose output was encrypted.', exampleValue: 0 }),
    perStage: z
      .strictObject({
        queueWait: stageStatistics.meta({ description: 'Time in the queue.' }),
        sign: stageStatistics.meta({ description: 'Time for signing.' }),
        verify: stageStatistics.meta({ description: 'Time for verifying the signed file.' }),
        output: stageStatistics.meta({ description: 'Time for publishing the output.' }),
      })
      .meta({ description: 'Durations of each stage of a job.' }),
    perMethod: z
      .strictObject({
        Local: z.int().meta({ description: 'Jobs signed with a key of this service.', exampleValue: 1275 }),
        RemoteSigner: z
          .int()
          .meta({ description: 'Jobs signed by people on a remote portal.', exampleValue: 5 }),
      })
      .meta({ description: 'Completed jobs by signing method.' }),
    throughputPerMinute: z
      .number()
      .meta({ description: 'Completed jobs of the last minute.', exampleValue: 62 }),
    lifetimePerMinute: z
      .number()
      .meta({ description: 'Completed jobs per minute of the window.', exampleValue: 48.5 }),
  })
  .meta({ id: 'Statistics' });

const counts = z.array(z.int()).max(MAX_INTERVALS);
const waits = z.array(z.number().nullable()).max(MAX_INTERVALS);

const series = z
  .strictObject({
    since: time.meta({ description: 'Time from which this holds or is counted.' }),
    intervalSeconds: z.number().meta({ description: 'Length of an interval, seconds.', exampleValue: 21600 }),
    completed: counts.meta({
      description: 'Jobs that were completed in each interval, oldest first.',
      exampleValue: [310, 402, 365, 203],
    }),
    failed: counts.meta({
      description: 'Jobs that failed in each interval, oldest first.',
      exampleValue: [1, 0, 3, 0],
    }),
    canceled: counts.meta({
      description: 'Jobs that were canceled in each interval, oldest first.',
      exampleValue: [0, 1, 0, 0],
    }),
    queueWaitMs: waits.meta({
      description:
        '95 of 100 jobs that were completed in each interval waited in the queue at most this, milliseconds, oldest first. Null: none was completed.',
      exampleValue: [12.5, 40, 18, null],
    }),
    signMs: waits.meta({
      description:
        '95 of 100 jobs that were completed in each interval were signed within this, milliseconds, oldest first. Null: none was signed here.',
      exampleValue: [38, 41.5, 37, null],
    }),
    oldestQueuedAt: time.nullable().meta({
      description: 'Since when the job at the head of the queue has waited. Null: none waits.',
      exampleValue: AT,
    }),
  })
  .meta({ id: 'StatisticsSeries' });

const failures = z
  .strictObject({
    groups: z
      .array(
        z.strictObject({
          errorCode: z.string().meta({
            description: 'Error that ended the job. Null: none, or any.',
            exampleValue: 'pdf.malformed',
          }),
          remedy: z.string().nullable().meta({
            description: 'What usually ends the error. Null: not known.',
            exampleValue: 'Save the file again with a PDF program.',
          }),
          count: z
            .int()
            .meta({ description: 'Number of entries that were measured or found.', exampleValue: 3 }),
          oldestAt: time.meta({ description: 'Time of the oldest failure.' }),
          newestAt: time.meta({ description: 'Time of the newest failure.' }),
          example: z
            .strictObject({
              id: z.guid().meta({ description: 'Identifier.', exampleValue: JOB_ID }),
              fileName: z.string().meta({
                description: 'File name as the client or the folder had it.',
                exampleValue: 'contract.pdf',
              }),
              message: z.string().nullable().meta({
                description: 'What happened, for people. The text may change.',
                exampleValue: 'Verified and published.',
              }),
            })
            .meta({ description: 'The newest job of the group.' }),
        }),
      )
      .max(200)
      .meta({ description: 'Failures by error, the most frequent first.' }),
    examined: z
      .int()
      .meta({ description: 'Failed jobs that were read: the newest, at most 10,000.', exampleValue: 42 }),
    complete: z.boolean().meta({ description: 'False when there are more failed jobs.', exampleValue: true }),
  })
  .meta({ id: 'Failures' });

const DURATIONS = { count: 1280, avgMs: 4.2, p50Ms: 3.9, p95Ms: 9.1, maxMs: 41 };

export const listProfiles = operation({
  method: 'GET',
  path: '/api/profiles',
  group: 'System',
  summary: 'Lists the signing profiles an upload may name.',
  description: 'In the order of the configuration. The one with `default` signs uploads that name none.',
  reply: profiles,
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
});

export const readStatistics = operation({
  method: 'GET',
  path: '/api/statistics',
  group: 'System',
  summary: 'Says how many jobs ended within a window up to now, and how long their stages took.',
  description:
    'Over a window up to now (`15m`, `24h`, `7d`). Times are in milliseconds; the time that people need to sign is not included. Deleted jobs are not counted.',
  query: z.object({ window, version: sharedVersion }),
  reply: statistics,
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
});

export const readSeries = operation({
  method: 'GET',
  path: '/api/statistics/series',
  group: 'System',
  summary: 'Counts the jobs that ended in equal intervals of a window up to now, oldest first.',
  description:
    'For charts: one number for each interval and end, oldest first. Deleted jobs are not counted.',
  query: seriesQuery,
  reply: series,
  examples: {
    responses: {
      200: {
        since: '2026-05-25T15:42:11.123Z',
        intervalSeconds: 21_600,
        completed: [310, 402, 298, 270],
        failed: [0, 3, 1, 0],
        canceled: [0, 0, 1, 0],
        queueWaitMs: [12.5, 40, 18, 15],
        signMs: [38, 41.5, 37, 36.2],
        oldestQueuedAt: AT,
      },
    },
  },
  refusals: ['validation.filter-invalid'],
});

export const readFailures = operation({
  method: 'GET',
  path: '/api/failures',
  group: 'System',
  summary: 'Groups the failed jobs by error code, with what to do.',
  description:
    'Reads the newest 10,000 failed jobs. `remedy` says what usually ends the error; `POST /api/operations` retries the jobs of a group by `errorCode`.',
  query: sharedQuery,
  reply: failures,
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
});

export type ProfileView = Value<typeof profiles>['profiles'][number];

export type StatisticsView = Value<typeof statistics>;

export type StageStatistics = Value<typeof stageStatistics>;

export type StatisticsSeries = Value<typeof series>;

export type FailureReport = Value<typeof failures>;
export type FailureGroup = FailureReport['groups'][number];
