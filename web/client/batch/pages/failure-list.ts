/** `/failures`: failed jobs by cause, with what to do, and a retry of all jobs of a cause. */
import type { Failures } from '../../../../clients/typescript/batch.d.ts';
import { createElement, requireElement, setText } from '../../dom.ts';
import { getShared } from '../api.ts';
import { startPage } from '../live-page.ts';
import { confirmOperation } from '../operation-dialog.ts';
import { jobLink, refill, timeElement } from '../state-labels.ts';

let refreshPage = () => {};

function startFailureList(refresh: () => void): void {
  refreshPage = refresh;
}

async function refreshFailureList(): Promise<void> {
  const { groups, examined, complete } = await getShared<Failures>('/api/failures');
  const jobs = `${examined} failed ${examined === 1 ? 'job' : 'jobs'}`;
  setText(requireElement('#total'), complete ? jobs : `The newest ${jobs}; there are more.`);
  const cards = groups.map(groupCard);
  const none = createElement('p', { class: 'quiet' }, 'No job has failed.');
  refill(requireElement('#groups'), ...(cards.length > 0 ? cards : [none]));
}

function groupCard(group: Failures['groups'][number]): HTMLElement {
  const { errorCode, remedy, count, oldestAt, newestAt, example } = group;
  const retry = createElement('button', { type: 'button', id: `retry-${errorCode}` }, 'Retry all of them');
  retry.addEventListener('click', async () => {
    await confirmOperation('retry', { status: ['Failed'], errorCode });
    refreshPage();
  });
  return createElement(
    'section',
    { class: 'panel', 'aria-label': errorCode },
    createElement('h2', {}, `${count} × `, createElement('code', {}, errorCode)),
    createElement('p', {}, remedy ?? 'Read the message of a job for the cause.'),
    createElement(
      'p',
      { class: 'quiet' },
      'Newest ',
      timeElement(newestAt),
      ', oldest ',
      timeElement(oldestAt),
    ),
    createElement('p', {}, jobLink(example.id, example.fileName), ` ${example.message ?? ''}`),
    createElement('p', {}, retry),
  );
}

startPage(refreshFailureList, startFailureList);
