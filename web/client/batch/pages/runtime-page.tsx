/** `/runtime`: nodes, threads, pool, store and memory. */
import type { Runtime } from '../../../../clients/typescript/batch.d.ts';
import { RuntimeView } from '../../../pages/batch/runtime.tsx';
import { getShared, post, runAction } from '../api.ts';
import { ask } from '../dialogs.tsx';
import { startPage } from '../live-page.tsx';

const actions = {
  async drain(button: HTMLButtonElement, name: string) {
    const question = `Let ${name} finish its work and end? The other nodes go on.`;
    if (!(await ask(question, `Drain ${name}`))) return;
    await runAction(
      button,
      () => post(`/api/runtime/nodes/${encodeURIComponent(name)}/drain`),
      () => `${name} finishes its work and ends.`,
    );
    live.refresh();
  },
};

const live = startPage<Runtime>({
  load: () => getShared<Runtime>('/api/runtime'),
  view: (data) => <RuntimeView data={data} actions={actions} />,
});
