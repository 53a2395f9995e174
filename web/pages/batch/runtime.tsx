/** `/runtime`: the nodes on the store, and the threads, pool, store and memory of the one that answers. */
import type { Runtime } from '../../../clients/typescript/batch.d.ts';
import { Badge, Card, PageHead, Progress, Table, type TableRow, Tile } from '../../components/surfaces.tsx';
import { duration, Time } from '../../components/time.tsx';
import { counted, State, Trouble, type View } from './parts.tsx';
import { ActionButton } from './rights.tsx';

const MEGABYTE = 1_000_000;

export interface RuntimeActions {
  drain(button: HTMLButtonElement, name: string): void;
}

export function RuntimeView({ data, actions }: View<Runtime, RuntimeActions>) {
  const own = data?.nodes.find(({ isThis }) => isThis);
  return (
    <>
      <PageHead title="Nodes" state={data && <NodesState nodes={data.nodes} />} />
      {data !== undefined && data.nodes.length > 0 && <Nodes nodes={data.nodes} actions={actions} />}
      <h2>{own === undefined ? 'This node' : `This node: ${own.name}`}</h2>
      <div class="tiles" id="figures">
        {(data === undefined ? FIGURES_LOADING : figuresOf(data)).map(([name, figure]) => (
          <Tile key={name} name={name} figure={figure} />
        ))}
      </div>
      <Card title="Threads that host actors">
        <Table
          cards="named"
          id="shards"
          caption="Threads"
          heads={[
            'Thread',
            'Busy',
            'Active actors',
            'Fullest mailbox',
            'Commit p50 / p99',
            'Loop delay p99',
            'Losses',
          ]}
          rows={data?.shards.map(shardRow)}
          empty="No thread hosts actors."
        />
      </Card>
      <Card title="Tasks that take long">
        <Table
          cards="named"
          id="stalled"
          caption="Stalled tasks"
          heads={['Task', 'About', 'State', 'Running', 'Limit']}
          rows={data?.pool.stalled.map(({ task, subject, state, runningMs, deadlineMs }) => ({
            key: `${task} ${subject}`,
            cells: [task, subject, state, duration(runningMs / 1000), duration(deadlineMs / 1000)],
          }))}
          empty="No task takes longer than it should."
        />
      </Card>
    </>
  );
}

/** Counts the nodes, and says when one is lost or when their versions differ. A store of its own has one node. */
function NodesState({ nodes }: { nodes: Runtime['nodes'] }) {
  const lost = nodes.filter(isLost).length;
  const versions = new Set(nodes.map(({ version }) => version)).size;
  if (nodes.length === 0) return <Badge>1 node with its own store</Badge>;
  return (
    <>
      <Badge tone={lost > 0 ? 'bad' : 'good'}>
        {lost > 0 ? `${lost} of ${nodes.length} lost` : `${counted(nodes.length, 'node', 'nodes')} heard`}
      </Badge>
      {versions > 1 && <Badge tone="warn">{versions} versions</Badge>}
    </>
  );
}

/** Each node with its share of the work, lost ones first. One that was silent for longer than its leases last is lost. */
function Nodes({ nodes, actions }: { nodes: Runtime['nodes']; actions: RuntimeActions | undefined }) {
  const effects = nodes.reduce((total, node) => total + node.effectsInFlight, 0);
  const inOrder = [...nodes].sort(
    (a, b) => Number(isLost(b)) - Number(isLost(a)) || (a.name < b.name ? -1 : 1),
  );
  return (
    <Card title="Nodes on the store">
      <Table
        cards="named"
        id="nodes"
        caption="Nodes"
        heads={[
          'Node',
          'State',
          'Version',
          'Load',
          'Last heard',
          'Started',
          'Leases',
          'Behind by',
          'Store read',
          'Action',
        ]}
        rows={inOrder.map((node) => nodeRow(node, effects, actions))}
        actions
      />
    </Card>
  );
}

function isLost({ silentMs, leaseMs }: Runtime['nodes'][number]): boolean {
  return silentMs > leaseMs;
}

const FIGURES_LOADING = ['Pool threads busy', 'Pool tasks waiting', 'Memory', 'Store', 'Running for'].map(
  (name) => [name, <span class="skeleton" />] as const,
);

function figuresOf({ pool, store, memory, effectsInFlight, eventLoopDelay, ...process }: Runtime) {
  return [
    ['Pool threads busy', `${pool.busy} of ${pool.threads}`],
    ['Pool tasks waiting', String(pool.waiting)],
    ['Pool used since start', `${Math.round(pool.utilisation * 100)} %`],
    ['Effects in progress', String(effectsInFlight)],
    ['Main thread busy', percent(process.eventLoopUtilisation)],
    ['Event loop delay p99', milliseconds(eventLoopDelay.p99Ms)],
    ['Memory', `${megabytes(memory.residentBytes)}, heap ${megabytes(memory.heapBytes)}`],
    ['Store', store.bytes === null ? store.engine : `${store.engine}, ${megabytes(store.bytes)}`],
    ['Running for', duration(process.uptimeSeconds)],
  ] as const;
}

/** @param effects in progress on all nodes */
function nodeRow(
  node: Runtime['nodes'][number],
  effects: number,
  actions: RuntimeActions | undefined,
): TableRow {
  const { name: own, silentMs, effectsInFlight, leases } = node;
  const heard = `${duration(silentMs / 1000)} ago`;
  const load = counted(effectsInFlight, 'effect', 'effects');
  return {
    key: own,
    cells: [
      node.isThis ? `${own} (this one)` : own,
      <State of={isLost(node) ? 'Lost' : node.draining ? 'Draining' : 'Running'} />,
      node.version,
      <>
        {load}
        <Progress done={effectsInFlight} of={effects} label={`${load} of ${effects} in progress on ${own}`} />
      </>,
      isLost(node) ? <Trouble>{heard}</Trouble> : heard,
      <Time at={node.startedAt} />,
      leases.length === 0 ? 'none' : leases.join(', '),
      milliseconds(node.lagMs),
      milliseconds(node.storeMs),
      node.draining ? (
        ''
      ) : (
        <ActionButton
          sends="POST /api/runtime/nodes/{id}/drain"
          id={`drain-${own}`}
          aria-label={`Drain ${own}`}
          onClick={({ currentTarget }) => actions?.drain(currentTarget, own)}
        >
          Drain
        </ActionButton>
      ),
    ],
  };
}

function shardRow(shard: Runtime['shards'][number]): TableRow {
  const { thread, losses, lastLoss, commit } = shard;
  return {
    key: String(shard.shard),
    cells: [
      thread === null ? `${shard.shard}: being replaced` : `${shard.shard}: ${thread}`,
      percent(shard.utilisation),
      shard.awakeActors,
      shard.deepestMailbox,
      `${milliseconds(commit.p50Ms)} / ${milliseconds(commit.p99Ms)}`,
      milliseconds(shard.eventLoopDelay.p99Ms),
      lastLoss === null ? (
        losses
      ) : (
        <Trouble>
          {losses}: {lastLoss.why} <Time at={lastLoss.at} />
        </Trouble>
      ),
    ],
  };
}

const milliseconds = (value: number) => `${value.toFixed(1)} ms`;
const percent = (share: number) => `${Math.round(share * 100)} %`;
const megabytes = (bytes: number) => `${Math.round(bytes / MEGABYTE)} MB`;
