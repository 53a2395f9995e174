/** `/actors` and `/documents`: kinds of actors, and the actors of one kind with filters. */
import type { ActorKind, ActorPage, PortalActivity } from '../../../clients/typescript/batch.d.ts';
import { Chart, sum } from '../../components/chart.tsx';
import { Button } from '../../components/controls.tsx';
import { Card, PageHead, Table, type TableRow, Tile } from '../../components/surfaces.tsx';
import { Time } from '../../components/time.tsx';
import {
  ActorLink,
  type ActorSummary,
  Choice,
  counted,
  Entry,
  Filters,
  type ListActions,
  type ListView,
  State,
  Tick,
  Trouble,
  troubleText,
} from './parts.tsx';

export interface ActorListData {
  readonly kinds: readonly ActorKind[];
  /** Absent without a chosen kind. */
  readonly page?: ActorPage;
  /** States of the chosen kind. */
  readonly states: readonly string[];
  /** Of the page of the documents. */
  readonly activity?: PortalActivity | undefined;
}

export interface ActorListActions extends Pick<ListActions, 'filter'> {
  first(): void;
  next(): void;
}

type Props = ListView<ActorListData, ActorListActions>;

export function ActorsView(props: Props) {
  const { query, data } = props;
  const kind = query?.get('kind') ?? '';
  if (kind !== '') {
    return (
      <>
        <p class="small">
          <a href="/actors">All kinds</a>
        </p>
        <PageHead title="Actors" />
        <h2>Actors of kind {kind}</h2>
        <ActorList {...props} searchable caption="Actors" words={['actor', 'actors']} />
      </>
    );
  }
  const kinds = data?.kinds.filter(({ count }) => count > 0).sort(byImportance);
  const unused = data?.kinds.filter(({ count }) => count === 0).map(({ kind }) => kind) ?? [];
  return (
    <>
      <PageHead title="Actors" />
      <p class="muted">
        Everything with stored state is an actor: jobs, documents, folders, e-mails, deliveries. A kind opens
        the list of its actors.
      </p>
      <Card title="Kinds">
        <Table
          cards="named"
          id="kinds"
          caption="Kinds of actors"
          heads={['Kind', 'Actors', 'By state', 'Given up', 'Waiting messages', 'Messages / s', 'Last error']}
          rows={kinds?.map(kindRow)}
          empty="There are no actors yet."
        />
        {unused.length > 0 && (
          <details class="body" id="unused">
            <summary>{counted(unused.length, 'kind', 'kinds')} without actors</summary>
            <p class="muted">{unused.join(', ')}</p>
          </details>
        )}
      </Card>
    </>
  );
}

export function DocumentsView(props: Props) {
  const { data } = props;
  const own = data?.kinds.find(({ kind }) => kind === 'document');
  return (
    <>
      <PageHead title="Documents" />
      <p class="muted">
        States of the portal's documents. Titles, people and content are shown to their organization only, so
        documents are found here by their state and the beginning of their id.
      </p>
      <div class="tiles" id="states">
        {Object.entries(own?.states ?? {}).map(([state, count]) => (
          <Tile
            key={state}
            href={`/documents?${new URLSearchParams({ state })}`}
            name={state}
            figure={count}
          />
        ))}
      </div>
      <ActorList {...props} caption="Documents" words={['document', 'documents']} />
      <Card title="By the time of their creation, in 24 hours" label="Activity">
        <div class="body stack">{data?.activity && <Activity activity={data.activity} />}</div>
      </Card>
    </>
  );
}

function Activity({ activity }: { activity: PortalActivity }) {
  const { documents, webhooks, mails, incomplete } = activity;
  const charts = [
    [
      'documents',
      `Documents, ${sum(documents.created)} created`,
      'concluded',
      documents.concluded,
      'refused',
      documents.refused,
    ],
    ['webhooks', 'Webhook deliveries', 'delivered', webhooks.delivered, 'failed', webhooks.failed],
    ['mails', 'E-mails', 'sent', mails.sent, 'failed', mails.failed],
  ] as const;
  return charts.map(([name, title, goodName, good, badName, bad]) => {
    const whole = incomplete.includes(name) ? `${title}, not all counted` : title;
    return (
      <div key={name}>
        <h3>{whole}</h3>
        <Chart
          series={activity}
          summary={`${whole}: ${sum(good)} ${goodName}, ${sum(bad)} ${badName}`}
          lines={[
            { name: goodName, tone: 'good', look: 'area', values: good },
            { name: badName, tone: 'bad', values: bad },
          ]}
        />
      </div>
    );
  });
}

function ActorList({
  query = new URLSearchParams(),
  data,
  actions,
  caption,
  words,
  searchable = false,
}: Props & { caption: string; words: readonly [one: string, many: string]; searchable?: boolean }) {
  const isFiltered = [...query.keys()].some((name) => name !== 'kind' && name !== 'after');
  return (
    <>
      <Filters query={query} actions={actions} foldable isOpen={isFiltered}>
        <Choice label="State" name="state" query={query} options={data?.states ?? []} />
        <Entry label="Id begins with" name="id" query={query} />
        {searchable && <Entry label="Name or id contains" name="text" query={query} />}
        <fieldset>
          <legend>Only</legend>
          <Tick label="failing work" name="stuck" query={query} />
          <Tick label="given up" name="stopped" query={query} />
        </fieldset>
        {searchable && <Tick label="Oldest first" name="oldest" query={query} />}
        <Button type="submit">Filter</Button>
      </Filters>
      <Card
        aside={
          <p id="total" class="muted" role="status">
            {data?.page && `${counted(data.page.items?.length ?? 0, ...words)} ${rangeOf(data.page)}`}
          </p>
        }
      >
        <Table
          cards="named"
          id="rows"
          caption={caption}
          heads={['Id', 'State', 'Steps', 'Waiting messages', 'Trouble']}
          rows={data?.page?.items?.map(actorRow)}
          empty="No actor fits."
        />
      </Card>
      <p class="ways">
        <Button id="first" disabled={!query.has('after')} onClick={() => actions?.first()}>
          First page
        </Button>
        <Button id="next" disabled={!data?.page?.next} onClick={() => actions?.next()}>
          Next
        </Button>
      </p>
    </>
  );
}

function rangeOf({ next, complete, examined }: ActorPage): string {
  const searched = examined === undefined ? '' : `, ${examined} searched`;
  const more = next ? ', more follow' : complete === false ? ', of the first 20,000 that match' : '';
  return `on this page${searched}${more}`;
}

function actorRow(actor: ActorSummary): TableRow {
  const { kind, id, state, revision, mailbox, since } = actor;
  return {
    key: id,
    cells: [
      <ActorLink kind={kind} id={id} />,
      <>
        <State of={state} />
        {since && (
          <>
            {' '}
            since <Time at={since} />
          </>
        )}
      </>,
      revision,
      mailbox,
      <Trouble>{troubleText(actor)}</Trouble>,
    ],
  };
}

/** Kinds with actors that were given up first. */
function byImportance(one: ActorKind, other: ActorKind): number {
  return Number(other.stopped > 0) - Number(one.stopped > 0);
}

function kindRow(one: ActorKind): TableRow {
  const { kind, count, states, stopped, deepestMailbox, perSecond, lastError } = one;
  const address = (more: { readonly [name: string]: string }) =>
    `/actors?${new URLSearchParams({ kind, ...more })}`;
  return {
    key: kind,
    cells: [
      <a href={address({})}>{kind}</a>,
      count,
      Object.entries(states).flatMap(([state, many]) => [
        <a href={address({ state })}>
          {state} {many}
        </a>,
        ' ',
      ]),
      // Nothing rather than a zero: a card of a phone has no line for it.
      stopped > 0 && <a href={address({ stopped: 'true' })}>{stopped}</a>,
      deepestMailbox || null,
      perSecond >= 0.05 && perSecond.toFixed(1),
      <Trouble>{lastError?.message}</Trouble>,
    ],
  };
}
