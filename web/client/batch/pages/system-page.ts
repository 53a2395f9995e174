/** `/system`: the pipeline's switch, readiness, profiles and cleanup. */

import type {
  BatchOperations,
  Cleanup,
  JobList,
  PipelineState,
  Readiness,
} from '../../../../clients/typescript/batch.d.ts';
import { requireElement } from '../../dom.ts';
import { getJson, getShared, post, promptReason, requestAny, runAction } from '../api.ts';
import { startPage } from '../live-page.ts';
import { clearPipelineState, pipelineState } from '../pipeline.ts';
import { chip, definitionList, refill, row, timeElement } from '../state-labels.ts';

const toggle = requireElement('#toggle', HTMLButtonElement);
let paused = false;

function startSystemPage(refresh: () => void): void {
  toggle.addEventListener('click', async () => {
    const action = paused ? 'resume' : 'pause';
    const title = paused ? 'Resume the pipeline?' : 'Pause the pipeline?';
    const reason = await promptReason(title, paused ? 'Resume' : 'Pause');
    if (reason === undefined) return;
    await runAction(
      toggle,
      () => post<PipelineState>(`/api/pipeline/${action}`, reason === '' ? {} : { reason }),
      (state) => (state.paused ? 'The pipeline is paused.' : 'The pipeline is running.'),
    );
    clearPipelineState();
    refresh();
  });
  const cleanup = requireElement('#cleanup', HTMLButtonElement);
  cleanup.addEventListener('click', () => {
    void runAction(
      cleanup,
      () => post<Cleanup>('/api/cleanup'),
      ({ message }) => message,
    );
  });
}

async function refreshSystemPage(): Promise<void> {
  const [state, ready, { profiles }, queued] = await Promise.all([
    pipelineState(),
    requestAny<Readiness>('/api/ready'),
    getJson<BatchOperations['GET /api/profiles']['answer']>('/api/profiles'),
    getShared<JobList>('/api/jobs?pageSize=1&status=Queued'),
  ]);
  ({ paused } = state);
  toggle.hidden = false;
  toggle.textContent = paused ? 'Resume' : 'Pause';
  refill(
    requireElement('#pipeline'),
    ...definitionList([
      ['State', chip(paused ? 'Paused' : state.held ? 'Held' : 'Running')],
      ...(state.held
        ? ([
            ['Held since', timeElement(state.held.since)],
            ['Held because', state.held.reason],
          ] as const)
        : []),
      ['Queue', String(queued.totalCount)],
      ['In flight', `${state.jobsInFlight} of ${state.maxConcurrency}`],
      [paused ? 'Paused' : 'Resumed', timeElement(paused ? state.pausedAtUtc : state.resumedAtUtc)],
      ['By', state.pausedBy],
      ['Reason', state.reason ?? '-'],
    ]),
  );
  refill(
    requireElement('#checks'),
    ...ready.checks.map(({ name, status, detail }) => row(name, chip(status), detail ?? '')),
  );
  refill(
    requireElement('#profiles'),
    ...profiles.map((profile) =>
      row(
        profile.default ? `${profile.name} (default)` : profile.name,
        profile.format ?? 'by extension',
        profile.method,
        profile.verify ? 'yes' : 'no',
        profile.encrypt ? 'yes' : 'no',
        profile.certificate === null ? '-' : `${profile.certificate.source}: ${profile.certificate.subject}`,
        profile.certificate === null ? '-' : timeElement(profile.certificate.notAfter),
      ),
    ),
  );
}

startPage(refreshSystemPage, startSystemPage);
