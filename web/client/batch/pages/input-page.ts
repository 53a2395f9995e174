/** `/input`: a card for each input folder, and rescans. */

import type { Folders, JobList, Rescan } from '../../../../clients/typescript/batch.d.ts';
import { createElement, requireElement } from '../../dom.ts';
import { getShared, post, runAction } from '../api.ts';
import { startPage } from '../live-page.ts';
import { chip, definitionList, refill, timeElement } from '../state-labels.ts';

const rescan = async (button: HTMLButtonElement, query: string, refresh: () => void) => {
  await runAction(
    button,
    () => post<Rescan>(`/api/rescan${query}`),
    ({ totals }) =>
      `${totals.scanned} scanned, ${totals.enqueued} queued, ${totals.alreadyActive} active already, ${totals.ignored} ignored, ${totals.errors} errors.`,
  );
  refresh();
};

let refreshPage = () => {};

function startInputPage(refresh: () => void): void {
  refreshPage = refresh;
  const all = requireElement('#rescan-all', HTMLButtonElement);
  all.addEventListener('click', () => void rescan(all, '', refresh));
}

async function refreshInputPage(): Promise<void> {
  const { folders } = await getShared<Folders>('/api/folders');
  const cards = folders.map(async (folder) => {
    const [waiting, failed] = await Promise.all([
      countOf(folder, ['Queued', 'Processing', 'Verifying', 'AwaitingSigner']),
      countOf(folder, ['Failed']),
    ]);
    return card(folder, waiting, failed);
  });
  refill(requireElement('#folders'), ...(await Promise.all(cards)));
}

/** Number of jobs of the folder in these states. */
async function countOf({ name }: Folders['folders'][number], states: readonly string[]): Promise<number> {
  const query = new URLSearchParams([
    ...states.map((state) => ['status', state]),
    ['folder', name],
    ['pageSize', '1'],
  ]);
  return (await getShared<JobList>(`/api/jobs?${query}`)).totalCount;
}

function card(folder: Folders['folders'][number], waiting: number, failed: number): HTMLElement {
  const button = createElement('button', { type: 'button', id: `rescan-${folder.name}` }, 'Rescan this');
  button.addEventListener('click', () => {
    void rescan(button, `?folder=${encodeURIComponent(folder.name)}`, refreshPage);
  });
  const pairs: (readonly [string, HTMLElement | string])[] = [
    ['Path', createElement('code', {}, folder.path)],
    ['Profile', folder.profile],
    ['Waiting jobs', String(waiting)],
    ['Failed jobs', failed === 0 ? '0' : createElement('a', { href: '/failures' }, String(failed))],
    ['Files in the folder', `${folder.fileCount}${folder.fileCountCapped ? '+' : ''}`],
    ['Handled since start', String(folder.processedCount)],
    ['Last queued', timeElement(folder.lastEnqueueAt)],
  ];
  if (folder.lastError !== null) {
    pairs.push(['Last error', createElement('span', { class: 'trouble' }, folder.lastError)]);
  }
  return createElement(
    'section',
    { class: 'panel', 'aria-label': `Folder ${folder.name}` },
    createElement('h2', {}, `${folder.name} `, chip(folder.exists ? folder.status : 'Missing')),
    createElement('dl', { class: 'facts' }, ...definitionList(pairs)),
    createElement('p', {}, button),
  );
}

startPage(refreshInputPage, startInputPage);
