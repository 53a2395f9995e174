/** Inspects the actors of all services and restarts stopped ones. */

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { LoopUtilisation, type NodeStatus, type Runtime } from '@sealwright/runtime';
import type {
  ActorPage,
  ActorQuery,
  ActorReport,
  ActorSummary,
  KindReport,
  MachineChart,
} from '@sealwright/runtime/inspect';
import type { NodeView, RuntimeView } from '../../contracts/batch/runtime.ts';
import type { SigningPool } from '../pool/pool.ts';
import { Changes } from '../shared/coordination/changes.ts';
import type { EventLog } from './job-records/events.ts';
import type { BatchRuntime } from './job-records/job-counts.ts';

/** Sampling interval of the event loop delay, milliseconds. */
const SAMPLE_INTERVAL_MS = 20;

/** Maximum number of stalled tasks in a report. */
const SHOWN_STALLED = 100;

const NO_TIMES = { p50Ms: 0, p99Ms: 0, maxMs: 0 };

export class InspectionService {
  readonly changes: Changes;
  readonly #delay: IntervalHistogram;
  readonly #utilisation = new LoopUtilisation();
  readonly #started: number;

  constructor(
    private readonly common: Pick<BatchRuntime, 'actors' | 'clock' | 'ids' | 'store'>,
    private readonly host: Runtime,
    private readonly pool: SigningPool,
    private readonly events: Pick<EventLog, 'record'>,
  ) {
    this.changes = new Changes(common.clock, common.ids);
    this.#started = common.clock.elapsed();
    this.#delay = monitorEventLoopDelay({ resolution: SAMPLE_INTERVAL_MS });
    this.#delay.enable();
  }

  kinds(): Promise<readonly KindReport[]> {
    return this.host.inspector.kinds();
  }

  /** Undefined for an unknown kind. */
  states(kind: string): readonly string[] | undefined {
    return this.host.inspector.states(kind);
  }

  /** States and transitions of an actor kind; undefined for an unknown kind. */
  chart(kind: string): MachineChart | undefined {
    return this.host.inspector.chart(kind);
  }

  /** Counts stopped actors, failing effects, stalled tasks, and effects set aside because the process died while they ran alone. */
  async stoppedActors() {
    const { host, pool } = this;
    return {
      ...(await host.inspector.stoppedActors()),
      hung: pool.stalled().length,
      setAside: host.setAside().length,
    };
  }

  /** Lists actors; undefined for an unknown kind. The first page of stuck actors starts with those whose task is stalled. */
  async list(query: ActorQuery): Promise<ActorPage | undefined> {
    const { inspector } = this.host;
    const page = await inspector.list(query);
    if (page === undefined || !query.stuck || query.after !== undefined) return page;
    const subjects = new Set(this.pool.stalled().map(({ subject }) => subject));
    for (const { id } of page.items) subjects.delete(id);
    const stalled: ActorSummary[] = [];
    for (const id of [...subjects].slice(0, query.limit)) {
      const found = await inspector.actor({ kind: query.kind, id });
      if (found === undefined || (query.state !== undefined && found.state !== query.state)) continue;
      if (query.stopped && found.stopped === null) continue;
      const { kind, state, revision, mailbox, stopped, trouble } = found;
      stalled.push({ kind, id, state, revision, mailbox, stopped, trouble });
    }
    return { ...page, items: [...stalled, ...page.items] };
  }

  actor(address: { readonly kind: string; readonly id: string }): Promise<ActorReport | undefined> {
    return this.host.inspector.actor(address);
  }

  /**
   * Restarts a stopped actor from its last committed state, or runs an effect that was set aside again. Records
   * operator and reason. `unknown`: no such actor; `running`: it is not stopped.
   */
  async restart(
    address: { readonly kind: string; readonly id: string },
    by: { readonly operator: string; readonly reason: string },
  ): Promise<'restarted' | 'running' | 'unknown'> {
    const { actors, clock, ids } = this.common;
    const { host, events } = this;
    const definition = host.inspector.definition(address.kind);
    // Before the calls, which refuse an id that no actor can have.
    if (definition === undefined || (await host.inspector.actor(address)) === undefined) return 'unknown';
    const outcome = await actors.restart(definition, address.id);
    const runsAgain = await host.retry(definition, address.id);
    if (!outcome.accepted && !runsAgain) return outcome.reason === 'unknown-actor' ? 'unknown' : 'running';
    const what = outcome.accepted ? 'The stopped actor' : 'The effect that was set aside, of';
    const message = `${what} ${address.kind}/${address.id} goes on. Reason: ${by.reason}.`;
    await events.record(
      { at: clock.now(), kind: 'ActorRestarted', actor: by.operator, jobId: null, code: null, message },
      ids.uuid(),
    );
    return 'restarted';
  }

  async runtime(): Promise<RuntimeView> {
    const { clock, store } = this.common;
    const { host, pool } = this;
    const { effectsInFlight, shards } = host.stats();
    const uptime = Math.max(1, clock.elapsed() - this.#started);
    const load = pool.load;
    let busyMs = 0;
    for (const stage of pool.stages.values()) busyMs += stage.busyMs;
    const { engine, bytes = null } = store.describe();
    const memory = process.memoryUsage();
    const ownDelay = this.#eventLoopDelay();
    const reports = await host.reports();
    return {
      nodes: ((await store.nodes?.list()) ?? []).map(nodeView),
      eventLoopDelay: ownDelay,
      eventLoopUtilisation: this.#utilisation.read(),
      effectsInFlight,
      shards: shards.map(({ shard, housed, losses, lastLoss }) => {
        const report = reports.find((one) => one.shard === shard);
        return {
          shard,
          thread: housed ? (report?.thread ?? null) : null,
          losses,
          lastLoss,
          awakeActors: report?.mailboxes.length ?? 0,
          deepestMailbox: report?.mailboxes.reduce((most, [, depth]) => Math.max(most, depth), 0) ?? 0,
          commit: report?.commit ?? NO_TIMES,
          utilisation: report?.utilisation ?? 0,
          eventLoopDelay: report === undefined ? NO_TIMES : (report.eventLoopDelay ?? ownDelay),
        };
      }),
      pool: {
        ...load,
        utilisation: Math.min(1, busyMs / (uptime * Math.max(1, load.threads))),
        stalled: pool.stalled().slice(0, SHOWN_STALLED),
      },
      store: { engine, bytes },
      memory: { residentBytes: memory.rss, heapBytes: memory.heapUsed },
      uptimeSeconds: uptime / 1000,
    };
  }

  /** Asks a node to finish its work and end. False when there is no node of this name. */
  async drain(node: string, operator: string): Promise<boolean> {
    const { clock, ids, store } = this.common;
    const { events } = this;
    if (!(await store.nodes?.drain(node))) return false;
    const message = `The node ${node} finishes its work and ends.`;
    await events.record(
      { at: clock.now(), kind: 'NodeDraining', actor: operator, jobId: null, code: null, message },
      ids.uuid(),
    );
    return true;
  }

  /** Converts the histogram from nanoseconds and subtracts the sampling interval. */
  #eventLoopDelay() {
    const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - SAMPLE_INTERVAL_MS);
    if (this.#delay.count === 0) return NO_TIMES;
    return {
      p50Ms: late(this.#delay.percentile(50)),
      p99Ms: late(this.#delay.percentile(99)),
      maxMs: late(this.#delay.max),
    };
  }
}

function nodeView({
  name,
  session,
  isThis,
  openedAt,
  silentMs,
  leaseSeconds,
  ...rest
}: NodeStatus): NodeView {
  const { isDraining, leases, effectsLeased, info, report } = rest;
  const { version = '' } = info as { readonly version?: string };
  const { feedLagMs = 0, readMs = 0 } = report as { readonly feedLagMs?: number; readonly readMs?: number };
  return {
    name,
    version,
    isThis,
    session,
    silentMs,
    leases,
    startedAt: openedAt,
    leaseMs: leaseSeconds * 1000,
    draining: isDraining,
    effectsInFlight: effectsLeased,
    lagMs: feedLagMs,
    storeMs: readMs,
  };
}
