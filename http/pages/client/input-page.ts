/** `/input`: a card for each input folder, and rescans. */
import { act, ask, post } from './api.ts';
import { make, type PageElement, part } from './browser.ts';
import { chip, facts, moment, refill } from './shown.ts';

interface Folder {
  readonly name: string;
  readonly path: string;
  readonly exists: boolean;
  readonly status: string;
  readonly lastEnqueueAt: string | null;
  readonly lastError: string | null;
  readonly processedCount: number;
  readonly fileCount: number;
  readonly fileCountCapped: boolean;
  readonly profile: string;
}

interface Rescan {
  readonly totals: {
    readonly scanned: number;
    readonly enqueued: number;
    readonly alreadyActive: number;
    readonly ignored: number;
    readonly errors: number;
  };
}

const rescan = async (button: PageElement, query: string, refresh: () => void) => {
  await act(
    button,
    () => post<Rescan>(`/api/rescan${query}`),
    ({ totals }) =>
      `${totals.scanned} scanned, ${totals.enqueued} queued, ${totals.alreadyActive} active already, ${totals.ignored} ignored, ${totals.errors} errors.`,
  );
  refresh();
};

let refreshPage = () => {};

export function startInputPage(refresh: () => void): void {
  refreshPage = refresh;
  const all = part('#rescan-all');
  all.addEventListener('click', () => void rescan(all, '', refresh));
}

export async function refreshInputPage(): Promise<void> {
  const { folders } = await ask<{ readonly folders: readonly Folder[] }>('/api/folders');
  refill(part('#folders'), ...folders.map(card));
}

function card(folder: Folder): PageElement {
  const button = make('button', { type: 'button', id: `rescan-${folder.name}` }, 'Rescan this');
  button.addEventListener('click', () => {
    void rescan(button, `?folder=${encodeURIComponent(folder.name)}`, refreshPage);
  });
  const pairs: (readonly [string, PageElement | string])[] = [
    ['Path', make('code', {}, folder.path)],
    ['Profile', folder.profile],
    ['Waiting files', `${folder.fileCount}${folder.fileCountCapped ? '+' : ''}`],
    ['Handled since start', String(folder.processedCount)],
    ['Last queued', moment(folder.lastEnqueueAt)],
  ];
  if (folder.lastError !== null) {
    pairs.push(['Last error', make('span', { class: 'trouble' }, folder.lastError)]);
  }
  return make(
    'section',
    { class: 'panel', 'aria-label': `Folder ${folder.name}` },
    make('h2', {}, `${folder.name} `, chip(folder.exists ? folder.status : 'Missing')),
    make('dl', { class: 'facts' }, ...facts(pairs)),
    make('p', {}, button),
  );
}
