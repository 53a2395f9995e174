/**
 * Pipeline, input folders, cleanup, events, profiles and statistics.
 *
 * Source: docs/batch-values.md §0, §3 and §15.
 */
import type { Batch } from '../../actors/index.ts';
import { listEvents } from '../../contracts/batch/events.ts';
import { cleanUp, listFolders, rescanFolders } from '../../contracts/batch/folders.ts';
import { pausePipeline, readPipeline, resumePipeline } from '../../contracts/batch/pipeline.ts';
import { listProfiles, readFailures, readSeries, readStatistics } from '../../contracts/batch/statistics.ts';
import type { AnyRoute } from '../core/router.ts';
import { handle } from './handle.ts';
import type { SharedAnswers } from './shared-answers.ts';

export function controlRoutes(
  { pipeline, folders, retention, events, profiles, statistics, jobs }: Batch,
  shared: SharedAnswers,
): readonly AnyRoute[] {
  return [
    handle(listProfiles, () => ({ profiles: profiles.list() })),
    handle(readStatistics, ({ query }) => statistics.over(query.window), { shared }),
    handle(
      readSeries,
      async ({ query }) => ({
        ...(await statistics.series(query.window, query.intervals)),
        oldestQueuedAt: await pipeline.oldestQueuedAt(),
      }),
      { shared },
    ),
    handle(readFailures, () => jobs.failures(), { shared }),
    handle(readPipeline, () => pipeline.state(), { shared }),
    handle(pausePipeline, ({ body }) => pipeline.pause(body.reason)),
    handle(resumePipeline, ({ body }) => pipeline.resume(body.reason)),
    handle(listFolders, async () => ({ folders: await folders.list() }), { shared }),
    handle(rescanFolders, ({ query }) => {
      const name = query.folder?.trim();
      return folders.rescan(name === '' ? undefined : name);
    }),
    handle(cleanUp, async () => {
      if (!retention.isConfigured)
        return { deleted: 0, message: 'No retention policy is configured; nothing was removed.' };
      const deleted = await retention.sweep();
      return { deleted, message: `${deleted} finished jobs were removed by age; files stay.` };
    }),
    handle(listEvents, async ({ query: { kind: kinds, page, pageSize } }) => {
      const { items, totalCount } = await events.list({ kinds, page, pageSize });
      return { items, page, pageSize, totalCount };
    }),
  ];
}
