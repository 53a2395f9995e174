/** Input folders, and the actions of operators on them. Source: docs/batch-values.md §0, §3. */
import { z } from 'zod';
import { entity, part, parts, shown, time } from '../fields.ts';
import type { Value } from '../operation.ts';
import { FOLDER_STATES } from './component-states.ts';
import { AT } from './examples.ts';
import { folderName, profileName } from './jobs.ts';
import { operation } from './operation.ts';
import { sharedQuery, single } from './requests.ts';

const folderMembers = {
  name: shown(folderName, 'Name of the input folder in the configuration.', 'invoices'),
  path: shown(z.string(), 'Path of the folder on the server.', '/srv/in/invoices'),
};

const folders = entity('Folders', {
  folders: parts('Result for each input folder.', {
    ...folderMembers,
    exists: shown(z.boolean(), 'Whether the folder is on the disk.', true),
    status: z.enum(FOLDER_STATES).describe('State of it.'),
    lastEnqueueAt: time
      .nullable()
      .describe('Time of the last file that became a job. Null: none since the start.'),
    lastError: shown(z.string().nullable(), 'Last failure. Null: none.', 'EACCES: permission denied'),
    processedCount: shown(z.int(), 'Files that became jobs since the start.', 412),
    fileCount: shown(z.int(), 'Files that wait in the folder, counted up to 50.', 12),
    fileCountCapped: z.boolean().describe('Whether there are more files than were counted.'),
    profile: shown(profileName, 'Signature profile. Null: any.', 'contracts'),
  }),
});

const rescanCounts = {
  scanned: shown(z.int(), 'Files that were looked at.', 3),
  enqueued: shown(z.int(), 'Files that became jobs.', 1),
  alreadyActive: shown(z.int(), 'Files that already have an active job.', 1),
  ignored: shown(z.int(), 'Files that no profile accepts.', 1),
  errors: shown(z.int(), 'Files that could not be read.', 0),
};

const rescan = entity('Rescan', {
  folders: parts('Result for each input folder.', {
    ...folderMembers,
    ...rescanCounts,
    enqueuedFiles: shown(z.array(z.string()), 'Names of the files that became jobs.', ['order.xml']),
  }),
  totals: part('Sums over all folders.', {
    folders: shown(z.int(), 'Folders that were scanned.', 1),
    ...rescanCounts,
  }),
});

const cleanup = entity('Cleanup', {
  deleted: shown(z.int(), 'Jobs that were deleted. Their files stay.', 1280),
  message: shown(z.string(), 'What happened, for people. The text may change.', 'Verified and published.'),
});

const COUNTS = { scanned: 3, enqueued: 1, alreadyActive: 1, ignored: 1, errors: 0 };

export const listFolders = operation('GET /api/folders', {
  group: 'System',
  summary: 'Shows every input folder and its watcher.',
  description:
    '`fileCount` counts waiting files up to 50. A watcher that used up its budget of failures is `Stopped` with its `lastError` until the service is started anew.',
  query: sharedQuery,
  reply: folders,
  examples: {
    reply: {
      folders: [
        {
          name: 'invoices',
          path: '/srv/in/invoices',
          exists: true,
          status: 'Running',
          lastEnqueueAt: AT,
          lastError: null,
          processedCount: 412,
          fileCount: 50,
          fileCountCapped: true,
          profile: 'invoices',
        },
      ],
    },
  },
});

export const rescanFolders = operation('POST /api/rescan', {
  group: 'Actions',
  summary: 'Queues every file of one or all input folders that no active job has.',
  description:
    'Does not wait until files are stable, and takes canceled and failed ones too. Files below a folder that is watched recursively are named by their relative path.',
  rate: 'actions',
  query: z.object({
    folder: shown(single.optional(), 'Name of an input folder, or `(upload)`. Absent: all.', 'invoices'),
  }),
  reply: rescan,
  examples: {
    reply: {
      folders: [{ name: 'invoices', path: '/srv/in/invoices', ...COUNTS, enqueuedFiles: ['may/order.xml'] }],
      totals: { folders: 1, ...COUNTS },
    },
  },
  refusals: ['folder.not-found', 'validation.filter-invalid', 'service.busy'],
});

export const cleanUp = operation('POST /api/cleanup', {
  group: 'Actions',
  summary: 'Removes finished jobs that are older than the configured age.',
  description:
    'Runs the hourly cleanup now: deletes jobs that ended more than `Retention:JobsDays` ago. Their files stay. Without that setting nothing is removed.',
  rate: 'actions',
  reply: cleanup,
  examples: {
    reply: { deleted: 0, message: 'No retention policy is configured; nothing was removed.' },
  },
  refusals: ['service.busy'],
});

export type FolderView = Value<typeof folders>['folders'][number];

export type RescanReport = Value<typeof rescan>;
export type RescanCounts = Omit<RescanReport['totals'], 'folders'>;
