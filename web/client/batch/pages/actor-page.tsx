/** `/actors/{kind}/{id}`: one actor with the picture of its machine, its timers and its effects. */
import type { Actor, ActorChart } from '../../../../clients/typescript/batch.d.ts';
import { type ActorData, ActorView } from '../../../pages/batch/actor-page.tsx';
import { copyCommand, getJson, getShared, post, runAction } from '../api.ts';
import { promptReason } from '../dialogs.tsx';
import { startPage } from '../live-page.tsx';

const path = `/api${location.pathname}`;
let chart: ActorChart | undefined;
let isShown = false;

async function load(): Promise<ActorData> {
  const actor = await getShared<Actor>(path);
  chart ??= await getJson<ActorChart>(`/api/actor-kinds/${encodeURIComponent(actor.kind)}`);
  return { actor, chart };
}

const actions = {
  async restart(button: HTMLButtonElement) {
    const reason = await promptReason('Let this actor go on?', 'Go on', { required: true });
    if (reason === undefined) return;
    await runAction(
      button,
      () => post(`${path}/restart`, { reason }),
      () => 'The actor goes on from its last stored state.',
    );
    live.refresh();
  },
  copy: () => copyCommand(path),
  /** At first the current state is in view, also where the picture is wider than the screen. */
  shown(place: HTMLElement | null) {
    const current = place?.querySelector('.current')?.getBoundingClientRect();
    if (!place || current === undefined || isShown) return;
    isShown = true;
    const { left, width } = place.getBoundingClientRect();
    place.scrollLeft = current.left - left - (width - current.width) / 2;
  },
};

const live = startPage<ActorData>({
  load,
  view: (data) => <ActorView data={data} actions={actions} />,
});
