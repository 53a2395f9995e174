/**
 * What operators set off: rescan, cleanup; and the folders it is about.
 *
 * Source: Batch Signing Service API, "Actions", "Rescan response" and "Folder runtime state"; batch-gaps §3.
 */
import type { FolderControl } from '../../actors/api.ts';
import { json } from '../reply.ts';
import { type AnyRoute, route } from '../router.ts';
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

/** Retention is none: outputs, jobs and events stay until somebody removes them. */
const NOTHING_REMOVED = json(200, {
  deleted: 0,
  message: 'No retention policy is configured; nothing was removed.',
});

export function actionRoutes(folders: FolderControl): readonly AnyRoute[] {
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
      summary: 'Applies the retention policy, of which there is none.',
      rate: 'actions',
      query: noQuery,
      responses: { 200: cleanupShape },
      refusals: [],
      handle: () => NOTHING_REMOVED,
    }),
  ];
}
