/** Signing profiles, throughput and failures. Source: docs/batch-values.md §15. */
import { z } from 'zod';
import { entity, maybePart, part, parts, shown, time } from '../fields.ts';
import type { Value } from '../operation.ts';
import { AT, JOB_ID } from './examples.ts';
import { profileName } from './jobs.ts';
import { operationsOf } from './operation.ts';
import { MAX_INTERVALS, seriesQuery, sharedQuery, sharedVersion, window } from './requests.ts';
import { JOB_FORMATS } from './words.ts';

const profiles = entity('Profiles', {
  profiles: parts('Profiles in the order of the configuration.', {
    name: shown(profileName, 'Name of the profile in the configuration.', 'contracts'),
    format: z.enum(JOB_FORMATS).nullable().describe('Signature format.'),
    method: z
      .enum(['Local', 'RemoteSigner'])
      .describe('Whether a key of this service signs, or people on a remote portal.'),
    verify: shown(z.boolean(), 'Whether signed files are verified before they are published.', true),
    encrypt: z.boolean().describe('Whether outputs are encrypted.'),
    validateCertificate: shown(z.boolean(), 'Whether certificates are checked before signing.', true),
    certificate: maybePart('Certificate that signs. Null: the profile has none of its own.', {
      source: shown(z.string(), 'Where the key is kept.', 'Pfx'),
      subject: shown(z.string(), 'Distinguished name of the certificate.', 'CN=Contracts, O=Example'),
      thumbprint: shown(
        z.string(),
        'SHA-1 of the certificate, upper-case hex.',
        '5F1E2D3C4B5A69788796A5B4C3D2E1F001122334',
      ),
      notAfter: shown(time, 'Last moment at which the certificate is valid.', '2028-01-31T23:59:59.000Z'),
    }),
    default: shown(z.boolean(), 'Whether the profile signs uploads that name none.', true),
  }),
});

const stageStatistics = z.strictObject({
  count: shown(z.int(), 'Number of entries that were measured or found.', 3),
  avgMs: shown(z.number().nullable(), 'Mean, milliseconds. Null: no job.', 4.2),
  p50Ms: shown(z.number().nullable(), 'Half of the values are at most this, milliseconds.', 3.9),
  p95Ms: shown(z.number().nullable(), '95 of 100 values are at most this, milliseconds.', 9.1),
  maxMs: shown(z.number().nullable(), 'Greatest value, milliseconds.', 41),
});

const statistics = entity('Statistics', {
  since: time.describe('Time from which this holds or is counted.'),
  completed: shown(z.int(), 'Jobs that were signed and published.', 1280),
  failed: shown(z.int(), 'Jobs that failed.', 4),
  canceled: shown(z.int(), 'Jobs that were canceled.', 1),
  encrypted: shown(z.int(), 'Jobs whose output was encrypted.', 0),
  perStage: part('Durations of each stage of a job.', {
    queueWait: stageStatistics.describe('Time in the queue.'),
    sign: stageStatistics.describe('Time for signing.'),
    verify: stageStatistics.describe('Time for verifying the signed file.'),
    output: stageStatistics.describe('Time for publishing the output.'),
  }),
  perMethod: part('Completed jobs by signing method.', {
    Local: shown(z.int(), 'Jobs signed with a key of this service.', 1275),
    RemoteSigner: shown(z.int(), 'Jobs signed by people on a remote portal.', 5),
  }),
  throughputPerMinute: shown(z.number(), 'Completed jobs of the last minute.', 62),
  lifetimePerMinute: shown(z.number(), 'Completed jobs per minute of the window.', 48.5),
});

const counts = z.array(z.int()).max(MAX_INTERVALS);
const waits = z.array(z.number().nullable()).max(MAX_INTERVALS);

const series = entity('StatisticsSeries', {
  since: time.describe('Time from which this holds or is counted.'),
  intervalSeconds: shown(z.number(), 'Length of an interval, seconds.', 21600),
  completed: shown(counts, 'Jobs that were completed in each interval, oldest first.', [310, 402, 365, 203]),
  failed: shown(counts, 'Jobs that failed in each interval, oldest first.', [1, 0, 3, 0]),
  canceled: shown(counts, 'Jobs that were canceled in each interval, oldest first.', [0, 1, 0, 0]),
  queueWaitMs: shown(
    waits,
    '95 of 100 jobs that were completed in each interval waited in the queue at most this, milliseconds, oldest first. Null: none was completed.',
    [12.5, 40, 18, null],
  ),
  signMs: shown(
    waits,
    '95 of 100 jobs that were completed in each interval were signed within this, milliseconds, oldest first. Null: none was signed here.',
    [38, 41.5, 37, null],
  ),
  oldestQueuedAt: shown(
    time.nullable(),
    'Since when the job at the head of the queue has waited. Null: none waits.',
    AT,
  ),
});

const failures = entity('Failures', {
  groups: z
    .array(
      z.strictObject({
        errorCode: shown(z.string(), 'Error that ended the job. Null: none, or any.', 'pdf.malformed'),
        remedy: shown(
          z.string().nullable(),
          'What usually ends the error. Null: not known.',
          'Save the file again with a PDF program.',
        ),
        count: shown(z.int(), 'Number of entries that were measured or found.', 3),
        oldestAt: time.describe('Time of the oldest failure.'),
        newestAt: time.describe('Time of the newest failure.'),
        example: part('The newest job of the group.', {
          id: shown(z.guid(), 'Identifier.', JOB_ID),
          fileName: shown(z.string(), 'File name as the client or the folder had it.', 'contract.pdf'),
          message: shown(
            z.string().nullable(),
            'What happened, for people. The text may change.',
            'Verified and published.',
          ),
        }),
      }),
    )
    .max(200)
    .describe('Failures by error, the most frequent first.'),
  examined: shown(z.int(), 'Failed jobs that were read: the newest, at most 10,000.', 42),
  complete: shown(z.boolean(), 'False when there are more failed jobs.', true),
});

const DURATIONS = { count: 1280, avgMs: 4.2, p50Ms: 3.9, p95Ms: 9.1, maxMs: 41 };

const operation = operationsOf({ group: 'System' });

export const listProfiles = operation('GET /api/profiles', {
  summary: 'Lists the signing profiles an upload may name.',
  description: 'In the order of the configuration. The one with `default` signs uploads that name none.',
  reply: profiles,
});

export const readStatistics = operation('GET /api/statistics', {
  summary: 'Says how many jobs ended within a window up to now, and how long their stages took.',
  description:
    'Over a window up to now (`15m`, `24h`, `7d`). Times are in milliseconds; the time that people need to sign is not included. Deleted jobs are not counted.',
  query: z.object({ window, version: sharedVersion }),
  reply: statistics,
  examples: {
    reply: {
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
  refusals: ['validation.filter-invalid'],
});

export const readSeries = operation('GET /api/statistics/series', {
  summary: 'Counts the jobs that ended in equal intervals of a window up to now, oldest first.',
  description:
    'For charts: one number for each interval and end, oldest first. Deleted jobs are not counted.',
  query: seriesQuery,
  reply: series,
  examples: {
    reply: {
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
  refusals: ['validation.filter-invalid'],
});

export const readFailures = operation('GET /api/failures', {
  summary: 'Groups the failed jobs by error code, with what to do.',
  description:
    'Reads the newest 10,000 failed jobs. `remedy` says what usually ends the error; `POST /api/operations` retries the jobs of a group by `errorCode`.',
  query: sharedQuery,
  reply: failures,
  examples: {
    reply: {
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
});

export type ProfileView = Value<typeof profiles>['profiles'][number];

export type StatisticsView = Value<typeof statistics>;

export type StageStatistics = Value<typeof stageStatistics>;

export type StatisticsSeries = Value<typeof series>;

export type FailureReport = Value<typeof failures>;
export type FailureGroup = FailureReport['groups'][number];
