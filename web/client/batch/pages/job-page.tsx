/** `/jobs/{id}`: one job, its history and its actions. */
import type {
  BatchOperations,
  Failures,
  JobList,
  JobWithHistory,
  Retry,
} from '../../../../clients/typescript/batch.d.ts';
import { JOB_STATE } from '../../../../contracts/batch/words.ts';
import { type JobData, JobView } from '../../../pages/batch/job-page.tsx';
import { copyCommand, getJson, getShared, post, runAction } from '../api.ts';
import { promptReason } from '../dialogs.tsx';
import { startPage } from '../live-page.tsx';

const id = location.pathname.split('/').at(-1) ?? '';
const path = `/api/jobs/${id}`;

async function load(): Promise<JobData> {
  const [job, { profiles }, children] = await Promise.all([
    getJson<JobWithHistory>(path),
    getJson<BatchOperations['GET /api/profiles']['answer']>('/api/profiles'),
    getShared<JobList>(`/api/jobs?parentJobId=${id}`),
  ]);
  document.title = `${job.fileName} - sealwright`;
  const profile = profiles.find(({ name }) => name === job.profileName);
  const group = job.errorCode === null ? undefined : await groupOf(job.errorCode);
  const alike = group === undefined || job.status !== 'Failed' ? 0 : group.count - 1;
  return { job, profile, children, remedy: group?.remedy ?? null, alike };
}

async function groupOf(errorCode: string): Promise<Failures['groups'][number] | undefined> {
  const { groups } = await getShared<Failures>('/api/failures');
  return groups.find((group) => group.errorCode === errorCode);
}

const actions = {
  copy: () => copyCommand(path),
  async cancel(button: HTMLButtonElement) {
    const reason = await promptReason('Cancel this job?', 'Cancel the job');
    if (reason === undefined) return;
    await runAction(
      button,
      () => post(`${path}/cancel`, reason === '' ? {} : { reason }),
      () => 'The job is canceled.',
    );
    live.refresh();
  },
  async retry(button: HTMLButtonElement) {
    let made = '';
    const good = await runAction(
      button,
      () => post<Retry>(`${path}/retry`),
      ({ newJobId }) => {
        made = newJobId;
        return 'A new job was made.';
      },
    );
    if (good) location.assign(`/jobs/${made}`);
  },
};

const live = startPage<JobData>({
  load,
  view: (data) => <JobView data={data} actions={actions} />,
  goesOn: ({ job }) => JOB_STATE[job.status].phase !== 'ended',
});
