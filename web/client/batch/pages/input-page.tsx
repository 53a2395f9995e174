/** `/input`: a card for each input folder, and rescans. */
import type { Folders, JobList, Rescan } from '../../../../clients/typescript/batch.d.ts';
import { jobStatesIn } from '../../../../contracts/batch/words.ts';
import { type FolderData, InputView } from '../../../pages/batch/input.tsx';
import { getShared, post, runAction } from '../api.ts';
import { startPage } from '../live-page.tsx';

async function load(): Promise<readonly FolderData[]> {
  const { folders } = await getShared<Folders>('/api/folders');
  return Promise.all(
    folders.map(async (folder) => {
      const [waiting, failed] = await Promise.all([
        countOf(folder.name, jobStatesIn('waiting', 'in-flight')),
        countOf(folder.name, ['Failed']),
      ]);
      return { ...folder, waiting, failed };
    }),
  );
}

/** Number of jobs of the folder in these states. */
async function countOf(folder: string, states: readonly string[]): Promise<number> {
  const query = new URLSearchParams([
    ...states.map((state) => ['status', state]),
    ['folder', folder],
    ['pageSize', '1'],
  ]);
  return (await getShared<JobList>(`/api/jobs?${query}`)).totalCount;
}

const actions = {
  async rescan(button: HTMLButtonElement, name?: string) {
    const query = name === undefined ? '' : `?folder=${encodeURIComponent(name)}`;
    await runAction(
      button,
      () => post<Rescan>(`/api/rescan${query}`),
      ({ totals }) =>
        `${totals.scanned} scanned, ${totals.enqueued} queued, ${totals.alreadyActive} active already, ${totals.ignored} ignored, ${totals.errors} errors.`,
    );
    live.refresh();
  },
};

const live = startPage<readonly FolderData[]>({
  load,
  view: (data) => <InputView data={data} actions={actions} />,
});
