/** `/actors` and `/documents`: kinds of actors, and the actors of one kind with filters. */
import type { ActorChart, ActorPage, PortalActivity } from '../../../../clients/typescript/batch.d.ts';
import { type ActorListData, ActorsView, DocumentsView } from '../../../pages/batch/actors.tsx';
import { currentTime } from '../../dom.ts';
import { getJson, getShared } from '../api.ts';
import { CachedAnswer } from '../cached-answer.ts';
import { ListAddress } from '../list-address.ts';
import { startPage } from '../live-page.tsx';

const isDocuments = location.pathname === '/documents';
const View = isDocuments ? DocumentsView : ActorsView;

class ActorListAddress extends ListAddress {
  first(): void {
    this.query.delete('after');
    this.again();
  }

  next(): void {
    if (following) this.query.set('after', following);
    this.again();
  }
}

const address = new ActorListAddress(() => live);
if (isDocuments) address.query.set('kind', 'document');

let following: string | null | undefined;
let states: readonly string[] = [];
const activity = new CachedAnswer<PortalActivity>(currentTime);

async function load(): Promise<ActorListData> {
  const kind = address.query.get('kind') ?? '';
  address.keep();
  const { kinds = [] } = kind === '' || isDocuments ? await getShared<ActorPage>('/api/actors') : {};
  if (kind === '') return { kinds, states };
  if (states.length === 0) {
    const chart = await getJson<ActorChart>(`/api/actor-kinds/${encodeURIComponent(kind)}`);
    states = chart.states.map(({ name }) => name);
  }
  const page = await getShared<ActorPage>(`/api/actors?${address.query}`);
  following = page.next;
  if (!isDocuments) return { kinds, page, states };
  const charts = () => getShared<PortalActivity>('/api/portal/activity?window=24h&intervals=24');
  return { kinds, page, states, activity: await activity.get('', charts) };
}

const live = startPage<ActorListData>({
  load,
  view: (data) => <View query={address.query} data={data} actions={address} />,
  // A list of the oldest and a search read many actors, so only the operator refreshes them.
  goesOn: () => address.query.get('oldest') !== 'true' && !address.query.has('text'),
});
