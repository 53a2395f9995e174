/** Inspects the actors of all services and restarts stopped ones. Implements `ActorInspection`. */

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import {
  type Clock,
  type Ids,
  LoopUtilisation,
  type MachineChart,
  type NodeStatus,
  type Runtime,
} from '@sealwright/runtime';
import type { NodeView, RuntimeView } from '../../contracts/batch/runtime.ts';
import type { SigningPool } from '../pool/pool.ts';
import type { ActorInspection } from './api/inspection.ts';
import type { ActorPage, ActorQuery, ActorReport, ActorSummary, KindReport } from './api/service.ts';
import { Changes } from './changes.ts';
import type { EventLog } from './job-records/events.ts';

/** Sampling interval of the event loop delay, milliseconds. */
const SAMPLE_INTERVAL_MS = 20;

/** Maximum number of stalled tasks in a report. */
const SHOWN_STALLED = 100;

const NO_TIMES = { p50Ms: 0, p99Ms: 0, maxMs: 0 };

export interface InspectionDependencies {
  readonly runtime: Runtime;
  readonly pool: SigningPool;
  readonly events: Pick<EventLog, 'record'>;
  readonly clock: Clock;
  readonly ids: Ids;
}

export class InspectionService implements ActorInspection {
  readonly #dependencies: InspectionDependencies;
  readonly changes: Changes;
  readonly #delay: IntervalHistogram;
  readonly #utilisation = new LoopUtilisation();
  readonly #started: number;

  constructor(dependencies: InspectionDependencies) {
    this.#dependencies = dependencies;
    this.changes = new Changes(dependencies.clock, dependencies.ids);
    this.#started = dependencies.clock.elapsed();
    this.#delay = monitorEventLoopDelay({ resolution: SAMPLE_INTERVAL_MS });
    this.#delay.enable();
  }

  kinds(): Promise<readonly KindReport[]> {
    return this.#dependencies.runtime.inspector.kinds();
  }

  states(kind: string): readonly string[] | undefined {
    return this.#dependencies.runtime.inspector.states(kind);
  }

  chart(kind: string): MachineChart | undefined {
    return this.#dependencies.runtime.inspector.chart(kind);
  }

  async stoppedActors(): ReturnType<ActorInspection['stoppedActors']> {
    const { runtime, pool } = this.#dependencies;
    return {
      ...(await runtime.inspector.stoppedActors()),
      hung: pool.stalled().length,
      setAside: runtime.setAside().length,
    };
  }

  /** Lists actors. The first page of stuck actors starts with those whose task is stalled. */
  async list(query: ActorQuery): Promise<ActorPage | undefined> {
    const { inspector } = this.#dependencies.runtime;
    const page = await inspector.list(query);
    if (page === undefined || !query.stuck || query.after !== undefined) return page;
    const subjects = new Set(this.#dependencies.pool.stalled().map(({ subject }) => subject));
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
    return this.#dependencies.runtime.inspector.actor(address);
  }

  async restart(
    address: { readonly kind: string; readonly id: string },
    by: { readonly operator: string; readonly reason: string },
  ): Promise<'restarted' | 'running' | 'unknown'> {
    const { runtime, events, clock, ids } = this.#dependencies;
    const outcome = await runtime.system.restart(address);
    const runsAgain = await runtime.runAgain(address);
    if (!outcome.accepted && !runsAgain) return outcome.reason === 'unknown-actor' ? 'unknown' : 'running';
    if (outcome.accepted) await outcome.durable;
    const what = outcome.accepted ? 'The stopped actor' : 'The effect that was set aside, of';
    const message = `${what} ${address.kind}/${address.id} goes on. Reason: ${by.reason}.`;
    await events.record(
      { at: clock.now(), kind: 'ActorRestarted', actor: by.operator, jobId: null, code: null, message },
      ids.uuid(),
    );
    return 'restarted';
  }

  async runtime(): Promise<RuntimeView> {
    const { runtime, pool, clock } = this.#dependencies;
    const { effectsInFlight, shards } = runtime.stats();
    const uptime = Math.max(1, clock.elapsed() - this.#started);
    const load = pool.load;
    let busyMs = 0;
    for (const stage of pool.stages.values()) busyMs += stage.busyMs;
    const { engine, bytes = null } = runtime.store.describe();
    const memory = process.memoryUsage();
    const ownDelay = this.#eventLoopDelay();
    const reports = await runtime.reports();
    return {
      nodes: ((await runtime.store.nodes?.list()) ?? []).map(nodeView),
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

  async drain(node: string, operator: string): Promise<boolean> {
    const { runtime, events, clock, ids } = this.#dependencies;
    if (!(await runtime.store.nodes?.drain(node))) return false;
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
    ...{ name, version, isThis, session, silentMs, leases },
    startedAt: openedAt,
    leaseMs: leaseSeconds * 1000,
    draining: isDraining,
    effectsInFlight: effectsLeased,
    lagMs: feedLagMs,
    storeMs: readMs,
  };
}
