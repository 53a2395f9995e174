/**
 * Actions of operators (rescan, cleanup), and the input folders.
 *
 * Source: docs/batch-values.md §0, §3.
 */

import type { Retention } from '../../actors/batch/api/bulk.ts';
import type { FolderControl } from '../../actors/batch/api/service.ts';
import { json } from '../core/reply.ts';
import { type AnyRoute, route } from '../core/router.ts';
import { AT } from './description/example-values.ts';
import { type SharedAnswers, sharedQuery } from './inspection/shared-answers.ts';
import { noBody, noParams, noQuery, rescanQuery } from './queries.ts';
import { cleanupShape, foldersBody, foldersShape, rescanBody, rescanShape } from './shapes.ts';

const COMMON = {
  auth: 'operator',
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

/** Reply without `Retention:JobsDays`. */
const NOTHING_REMOVED = json(200, {
  deleted: 0,
  message: 'No retention policy is configured; nothing was removed.',
});

const COUNTS = { scanned: 3, enqueued: 1, alreadyActive: 1, ignored: 1, errors: 0 };

export function actionRoutes(
  folders: FolderControl,
  retention: Retention,
  shared: SharedAnswers,
): readonly AnyRoute[] {
  return [
    route({
      ...COMMON,
      method: 'GET',
      path: '/api/folders',
      group: 'System',
      summary: 'Shows every input folder and its watcher.',
      description:
        '`fileCount` counts waiting files up to 50. A watcher that used up its budget of failures is `Stopped` with its `lastError` until the service is started anew.',
      rate: 'none',
      query: sharedQuery,
      responses: { 200: foldersShape },
      examples: {
        responses: {
          200: {
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
      },
      refusals: [],
      handle: ({ query: { version } }) =>
        shared.answer(version, ['folders'], async () => foldersBody(await folders.list())),
    }),
    route({
      ...COMMON,
      method: 'POST',
      path: '/api/rescan',
      group: 'Actions',
      summary: 'Queues every file of one or all input folders that no active job has.',
      description:
        'Does not wait until files are stable, and takes canceled and failed ones too. Files below a folder that is watched recursively are named by their relative path.',
      rate: 'actions',
      query: rescanQuery,
      responses: { 200: rescanShape },
      examples: {
        responses: {
          200: {
            folders: [
              { name: 'invoices', path: '/srv/in/invoices', ...COUNTS, enqueuedFiles: ['may/order.xml'] },
            ],
            totals: { folders: 1, ...COUNTS },
          },
        },
      },
      refusals: ['folder.not-found', 'validation.filter-invalid', 'service.busy'],
      async handle({ query }) {
        const name = query.folder?.trim();
        return json(200, rescanBody(await folders.rescan(name === '' ? undefined : name)));
      },
    }),
    route({
      ...COMMON,
      method: 'POST',
      path: '/api/cleanup',
      group: 'Actions',
      summary: 'Removes finished jobs that are older than the configured age.',
      description:
        'Runs the hourly cleanup now: deletes jobs that ended more than `Retention:JobsDays` ago. Their files stay. Without that setting nothing is removed.',
      rate: 'actions',
      query: noQuery,
      responses: { 200: cleanupShape },
      examples: {
        responses: {
          200: { deleted: 0, message: 'No retention policy is configured; nothing was removed.' },
        },
      },
      refusals: ['service.busy'],
      async handle() {
        if (!retention.isConfigured) return NOTHING_REMOVED;
        const deleted = await retention.sweep();
        return json(200, { deleted, message: `${deleted} finished jobs were removed by age; files stay.` });
      },
    }),
  ];
}
