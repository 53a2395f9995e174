/** `/system`: the pipeline's switch, readiness, profiles and cleanup. */
import type { BatchOperations, Cleanup, JobList, Readiness } from '../../../../clients/typescript/batch.d.ts';
import { type SystemData, type SystemInfo, SystemView } from '../../../pages/batch/system.tsx';
import { requireElement } from '../../dom.ts';
import { getJson, getShared, post, requestAny, runAction } from '../api.ts';
import { startPage } from '../live-page.tsx';
import { pipelineState, togglePipeline } from '../pipeline.ts';

const info = JSON.parse(requireElement('#page-data').textContent ?? '[]') as SystemInfo;

async function load(): Promise<SystemData> {
  const [state, { checks }, { profiles }, queued] = await Promise.all([
    pipelineState(),
    requestAny<Readiness>('/api/ready'),
    getJson<BatchOperations['GET /api/profiles']['answer']>('/api/profiles'),
    getShared<JobList>('/api/jobs?pageSize=1&status=Queued'),
  ]);
  return { state, checks, profiles, queued: queued.totalCount };
}

const actions = {
  async toggle(button: HTMLButtonElement) {
    await togglePipeline(button);
    live.refresh();
  },
  cleanup(button: HTMLButtonElement) {
    void runAction(
      button,
      () => post<Cleanup>('/api/cleanup'),
      ({ message }) => message,
    );
  },
};

const live = startPage<SystemData>({
  load,
  view: (data) => <SystemView info={info} data={data} actions={actions} />,
});
