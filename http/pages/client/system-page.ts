/** `/system`: the pipeline's switch, readiness, profiles and cleanup. */
import { act, ask, askAny, askReason, post } from './api.ts';
import { make, part } from './browser.ts';
import { forgetPipelineState, type PipelineState, pipelineState } from './pipeline.ts';
import { chip, facts, type JobList, moment, refill } from './shown.ts';

interface Ready {
  readonly checks: readonly {
    readonly name: string;
    readonly status: string;
    readonly detail: string | null;
  }[];
}

interface Profiles {
  readonly profiles: readonly {
    readonly name: string;
    readonly format: string | null;
    readonly method: string;
    readonly verify: boolean;
    readonly encrypt: boolean;
    readonly certificate: {
      readonly source: string;
      readonly subject: string;
      readonly notAfter: string;
    } | null;
    readonly default: boolean;
  }[];
}

const toggle = part('#toggle');
let paused = false;

export function startSystemPage(refresh: () => void): void {
  toggle.addEventListener('click', async () => {
    const action = paused ? 'resume' : 'pause';
    const title = paused ? 'Resume the pipeline?' : 'Pause the pipeline?';
    const reason = await askReason(title, paused ? 'Resume' : 'Pause');
    if (reason === undefined) return;
    await act(
      toggle,
      () => post<PipelineState>(`/api/pipeline/${action}`, reason === '' ? {} : { reason }),
      (state) => (state.paused ? 'The pipeline is paused.' : 'The pipeline is running.'),
    );
    forgetPipelineState();
    refresh();
  });
  const cleanup = part('#cleanup');
  cleanup.addEventListener('click', () => {
    void act(
      cleanup,
      () => post<{ readonly message: string }>('/api/cleanup'),
      ({ message }) => message,
    );
  });
}

export async function refreshSystemPage(): Promise<void> {
  const [state, ready, { profiles }, queued] = await Promise.all([
    pipelineState(),
    askAny<Ready>('/api/ready'),
    ask<Profiles>('/api/profiles'),
    ask<JobList>('/api/jobs?pageSize=1&status=Queued'),
  ]);
  ({ paused } = state);
  toggle.hidden = false;
  toggle.textContent = paused ? 'Resume' : 'Pause';
  refill(
    part('#pipeline'),
    ...facts([
      ['State', chip(paused ? 'Paused' : 'Running')],
      ['Queue', String(queued.totalCount)],
      ['In flight', `${state.jobsInFlight} of ${state.maxConcurrency}`],
      [paused ? 'Paused' : 'Resumed', moment(paused ? state.pausedAtUtc : state.resumedAtUtc)],
      ['By', state.pausedBy],
      ['Reason', state.reason ?? '-'],
    ]),
  );
  refill(
    part('#checks'),
    ...ready.checks.map(({ name, status, detail }) =>
      make('tr', {}, make('td', {}, name), make('td', {}, chip(status)), make('td', {}, detail ?? '')),
    ),
  );
  refill(
    part('#profiles'),
    ...profiles.map((profile) =>
      make(
        'tr',
        {},
        make('td', {}, profile.default ? `${profile.name} (default)` : profile.name),
        make('td', {}, profile.format ?? 'by extension'),
        make('td', {}, profile.method),
        make('td', {}, profile.verify ? 'yes' : 'no'),
        make('td', {}, profile.encrypt ? 'yes' : 'no'),
        make(
          'td',
          {},
          profile.certificate === null
            ? '-'
            : `${profile.certificate.source}: ${profile.certificate.subject}`,
        ),
        make('td', {}, profile.certificate === null ? '-' : moment(profile.certificate.notAfter)),
      ),
    ),
  );
}
