/** `/failures`: failed jobs by cause, and a retry of all jobs of a cause. */
import type { Failures } from '../../../../clients/typescript/batch.d.ts';
import { FailuresView } from '../../../pages/batch/failures.tsx';
import { getShared } from '../api.ts';
import { confirmOperation } from '../dialogs.tsx';
import { startPage } from '../live-page.tsx';

const actions = {
  async retry(errorCode: string) {
    await confirmOperation('retry', { status: ['Failed'], errorCode });
    live.refresh();
  },
};

const live = startPage<Failures>({
  load: () => getShared<Failures>('/api/failures'),
  view: (data) => <FailuresView data={data} actions={actions} />,
});
