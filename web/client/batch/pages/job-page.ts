/** `/jobs/{id}`: one job, its history and its actions. */

import type {
  BatchOperations,
  JobList,
  JobWithHistory,
  Retry,
} from '../../../../clients/typescript/batch.d.ts';
import { createElement, requireElement } from '../../dom.ts';
import { actorLink } from '../actors.ts';
import { getJson, getShared, post, promptReason, runAction } from '../api.ts';
import { startPage } from '../live-page.ts';
import { chip, definitionList, jobLink, refill, timeElement } from '../state-labels.ts';
import { duration } from '../times.ts';

type Profiles = BatchOperations['GET /api/profiles']['answer'];

const TERMINAL = new Set(['Completed', 'Failed', 'Canceled']);

const id = location.pathname.split('/').at(-1) ?? '';
const path = `/api/jobs/${id}`;
const cancel = requireElement('#cancel', HTMLButtonElement);
const retry = requireElement('#retry', HTMLButtonElement);
const download = requireElement('#download');

function startJobPage(refresh: () => void): void {
  cancel.addEventListener('click', async () => {
    const reason = await promptReason('Cancel this job?', 'Cancel the job');
    if (reason === undefined) return;
    await runAction(
      cancel,
      () => post(`${path}/cancel`, reason === '' ? {} : { reason }),
      () => 'The job is canceled.',
    );
    refresh();
  });
  retry.addEventListener('click', async () => {
    let made = '';
    const good = await runAction(
      retry,
      () => post<Retry>(`${path}/retry`),
      ({ newJobId }) => {
        made = newJobId;
        return 'A new job was made.';
      },
    );
    if (good) location.assign(`/jobs/${made}`);
  });
}

/** Resolves with false when the job can no longer change. */
async function refreshJobPage(): Promise<boolean> {
  const [job, { profiles }, children] = await Promise.all([
    getJson<JobWithHistory>(path),
    getJson<Profiles>('/api/profiles'),
    getShared<JobList>(`/api/jobs?parentJobId=${id}`),
  ]);
  document.title = `${job.fileName} - sealwright`;
  requireElement('h1').textContent = job.fileName;
  refill(requireElement('#status'), chip(job.status));
  cancel.hidden = job.status !== 'Queued' && job.status !== 'AwaitingSigner';
  retry.hidden = job.status !== 'Failed';
  download.hidden = job.outputFileName === null;
  refill(requireElement('#facts'), ...definitionList(factsOf(job, children)));
  const profile = profiles.find(({ name }) => name === job.profileName);
  refill(
    requireElement('#profile'),
    ...definitionList(
      profile === undefined ? [[job.profileName, 'no longer configured']] : factsOfProfile(profile),
    ),
  );
  const lines = job.history.map(({ timestamp, status, message }, at) =>
    createElement(
      'li',
      {},
      chip(status),
      ' ',
      timeElement(timestamp),
      spent(timestamp, job.history[at + 1]?.timestamp),
      createElement('br'),
      message,
    ),
  );
  refill(requireElement('#timeline'), ...lines);
  return !TERMINAL.has(job.status);
}

/** Time until the next line of the history. */
function spent(from: string, to: string | undefined): HTMLElement | string {
  if (to === undefined) return '';
  const milliseconds = Date.parse(to) - Date.parse(from);
  const text = milliseconds < 1000 ? `${milliseconds} ms` : duration(milliseconds / 1000);
  return createElement('span', { class: 'quiet' }, ` for ${text}`);
}

function factsOf(
  job: JobWithHistory,
  children: JobList,
): readonly (readonly [string, HTMLElement | string])[] {
  const yes: (readonly [string, HTMLElement | string])[] = [
    ['Format', job.format],
    ['Source', job.folder === null ? job.source : `${job.source} (folder ${job.folder})`],
    ['Created', timeElement(job.createdAt)],
    ['Changed', timeElement(job.updatedAt)],
    ['File', createElement('code', {}, job.originalPath)],
  ];
  if (job.outputFileName !== null) {
    yes.push(['Output', job.outputEncrypted ? `${job.outputFileName} (encrypted)` : job.outputFileName]);
  }
  if (job.errorMessage !== null)
    yes.push(['Error', createElement('span', { class: 'trouble' }, job.errorMessage)]);
  if (job.errorCode !== null)
    yes.push(['Error code', createElement('a', { href: '/failures' }, job.errorCode)]);
  yes.push(['Actor', actorLink('job', job.id)]);
  if (job.remoteDocumentId !== null)
    yes.push(['Remote document', createElement('code', {}, job.remoteDocumentId)]);
  if (job.awaitingSignerSince !== null) yes.push(['Waiting since', timeElement(job.awaitingSignerSince)]);
  if (job.inputSha256 !== null)
    yes.push(['SHA-256 of the input', createElement('code', {}, job.inputSha256)]);
  if (job.outputSha256 !== null)
    yes.push(['SHA-256 of the output', createElement('code', {}, job.outputSha256)]);
  if (job.parentJobId !== null) yes.push(['Retry of', jobLink(job.parentJobId, job.parentJobId)]);
  for (const child of children.items) {
    yes.push(['Retried as', createElement('span', {}, jobLink(child.id, child.id), ' ', chip(child.status))]);
  }
  return yes;
}

function factsOfProfile(
  profile: Profiles['profiles'][number],
): readonly (readonly [string, HTMLElement | string])[] {
  const yesNo = (value: boolean) => (value ? 'yes' : 'no');
  return [
    ['Name', profile.name],
    ['Method', profile.method],
    ['Format', profile.format ?? 'by extension'],
    ['Verify', yesNo(profile.verify)],
    ['Encrypt', yesNo(profile.encrypt)],
    ['Validate certificate', yesNo(profile.validateCertificate)],
    ['Certificate', profile.certificate?.subject ?? 'none'],
    ['Valid until', profile.certificate === null ? '-' : timeElement(profile.certificate.notAfter)],
  ];
}

startPage(refreshJobPage, startJobPage);
