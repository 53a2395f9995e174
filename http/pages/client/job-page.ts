/** `/jobs/{id}`: one job, its history, and what can be done with it. */
import { act, ask, askReason, post } from './api.ts';
import { document, location, make, type PageElement, part } from './browser.ts';
import { chip, facts, type Job, type JobList, jobLink, moment, refill } from './shown.ts';

interface JobDetail extends Job {
  readonly errorCode: string | null;
  readonly remoteDocumentId: string | null;
  readonly awaitingSignerSince: string | null;
  readonly inputSha256: string | null;
  readonly outputSha256: string | null;
  readonly outputFileName: string | null;
  readonly history: readonly {
    readonly timestamp: string;
    readonly status: string;
    readonly message: string;
  }[];
}

interface Profile {
  readonly name: string;
  readonly format: string | null;
  readonly method: string;
  readonly verify: boolean;
  readonly encrypt: boolean;
  readonly validateCertificate: boolean;
  readonly certificate: { readonly subject: string; readonly notAfter: string } | null;
}

const TERMINAL = new Set(['Completed', 'Failed', 'Canceled']);

const id = location.pathname.split('/').at(-1) ?? '';
const path = `/api/jobs/${id}`;
const cancel = part('#cancel');
const retry = part('#retry');
const download = part('#download');

export function startJobPage(refresh: () => void): void {
  cancel.addEventListener('click', async () => {
    const reason = await askReason('Cancel this job?', 'Cancel the job');
    if (reason === undefined) return;
    await act(
      cancel,
      () => post(`${path}/cancel`, reason === '' ? {} : { reason }),
      () => 'The job is canceled.',
    );
    refresh();
  });
  retry.addEventListener('click', async () => {
    let made = '';
    const good = await act(
      retry,
      () => post<{ readonly newJobId: string }>(`${path}/retry`),
      ({ newJobId }) => {
        made = newJobId;
        return 'A new job was made.';
      },
    );
    if (good) location.assign(`/jobs/${made}`);
  });
}

/** Resolves with false once nothing more will change. */
export async function refreshJobPage(): Promise<boolean> {
  const [job, { profiles }, children] = await Promise.all([
    ask<JobDetail>(path),
    ask<{ readonly profiles: readonly Profile[] }>('/api/profiles'),
    ask<JobList>(`/api/jobs?parentJobId=${id}`),
  ]);
  document.title = `${job.fileName} - sealwright`;
  part('h1').textContent = job.fileName;
  refill(part('#status'), chip(job.status));
  cancel.hidden = job.status !== 'Queued' && job.status !== 'AwaitingSigner';
  retry.hidden = job.status !== 'Failed';
  download.hidden = job.outputFileName === null;
  refill(part('#facts'), ...facts(factsOf(job, children)));
  const profile = profiles.find(({ name }) => name === job.profileName);
  refill(
    part('#profile'),
    ...facts(profile === undefined ? [[job.profileName, 'no longer configured']] : factsOfProfile(profile)),
  );
  const lines = job.history.map(({ timestamp, status, message }) =>
    make('li', {}, chip(status), ' ', moment(timestamp), make('br'), message),
  );
  refill(part('#timeline'), ...lines);
  return !TERMINAL.has(job.status);
}

function factsOf(job: JobDetail, children: JobList): readonly (readonly [string, PageElement | string])[] {
  const yes: (readonly [string, PageElement | string])[] = [
    ['Format', job.format],
    ['Source', job.folder === null ? job.source : `${job.source} (folder ${job.folder})`],
    ['Created', moment(job.createdAt)],
    ['Changed', moment(job.updatedAt)],
    ['File', make('code', {}, job.originalPath)],
  ];
  if (job.outputFileName !== null) {
    yes.push(['Output', job.outputEncrypted ? `${job.outputFileName} (encrypted)` : job.outputFileName]);
  }
  if (job.errorMessage !== null) yes.push(['Error', make('span', { class: 'trouble' }, job.errorMessage)]);
  if (job.remoteDocumentId !== null) yes.push(['Remote document', make('code', {}, job.remoteDocumentId)]);
  if (job.awaitingSignerSince !== null) yes.push(['Waiting since', moment(job.awaitingSignerSince)]);
  if (job.inputSha256 !== null) yes.push(['SHA-256 of the input', make('code', {}, job.inputSha256)]);
  if (job.outputSha256 !== null) yes.push(['SHA-256 of the output', make('code', {}, job.outputSha256)]);
  if (job.parentJobId !== null) yes.push(['Retry of', jobLink(job.parentJobId, job.parentJobId)]);
  for (const child of children.items) {
    yes.push(['Retried as', make('span', {}, jobLink(child.id, child.id), ' ', chip(child.status))]);
  }
  return yes;
}

function factsOfProfile(profile: Profile): readonly (readonly [string, PageElement | string])[] {
  const yesNo = (value: boolean) => (value ? 'yes' : 'no');
  return [
    ['Name', profile.name],
    ['Method', profile.method],
    ['Format', profile.format ?? 'by extension'],
    ['Verify', yesNo(profile.verify)],
    ['Encrypt', yesNo(profile.encrypt)],
    ['Validate certificate', yesNo(profile.validateCertificate)],
    ['Certificate', profile.certificate?.subject ?? 'none'],
    ['Valid until', profile.certificate === null ? '-' : moment(profile.certificate.notAfter)],
  ];
}
