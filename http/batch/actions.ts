/**
 * Actions of operators (rescan, cleanup), and the input folders.
 *
 * Source: docs/batch-values.md §0, §3.
 */

import type { Retention } from '../../actors/batch/api/bulk.ts';
import type { FolderControl } from '../../actors/batch/api/service.ts';
import { json } from '../core/reply.ts';
import { type AnyRoute, route } from '../core/router.ts';
import { noBody, noParams, noQuery, rescanQuery } from './queries.ts';
import { cleanupShape, foldersBody, foldersShape, rescanBody, rescanShape } from './shapes.ts';

const COMMON = {
  auth: 'operator',
  bodyPolicy: 'none',
  headers: [],
  params: noParams,
  body: noBody,
  unfit: { params: 'route.not-found', query: 'validation.filter-invalid', body: 'validation.body-invalid' },
} as const;

/** Reply without `Retention:JobsDays`. */
const NOTHING_REMOVED = json(200, {
  deleted: 0,
  message: 'No retention policy is configured; nothing was removed.',
});

export function actionRoutes(folders: FolderControl, retention: Retention): readonly AnyRoute[] {
  return [
    route({
      ...COMMON,
      method: 'GET',
      path: '/api/folders',
      summary: 'Shows every input folder and its watcher.',
      rate: 'none',
      query: noQuery,
      responses: { 200: foldersShape },
      refusals: [],
      async handle() {
        return json(200, foldersBody(await folders.list()));
      },
    }),
    route({
      ...COMMON,
      method: 'POST',
      path: '/api/rescan',
      summary: 'Queues every file of one or all input folders that no active job has.',
      rate: 'actions',
      query: rescanQuery,
      responses: { 200: rescanShape },
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
      summary: 'Removes finished jobs that are older than the configured age.',
      rate: 'actions',
      query: noQuery,
      responses: { 200: cleanupShape },
      refusals: ['service.busy'],
      async handle() {
        if (!retention.isConfigured) return NOTHING_REMOVED;
        const deleted = await retention.sweep();
        return json(200, { deleted, message: `${deleted} finished jobs were removed by age; files stay.` });
      },
    }),
  ];
}
