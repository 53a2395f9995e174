/** Looks at the actors of all services, and lets stopped ones go on. Implements `ActorInspection`. */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock, Ids, Runtime } from '../runtime/index.ts';
import type { ActorInspection, ActorPage, ActorQuery, ActorReport, KindReport, RuntimeView } from './api.ts';
import type { EventLog } from './events.ts';
import type { SigningPool } from './pool/pool.ts';

/** How often the event loop is looked at, milliseconds. */
const LOOK_EVERY = 20;

const NO_TIMES = { p50Ms: 0, p99Ms: 0, maxMs: 0 };

export interface InspectionParts {
  readonly runtime: Runtime;
  readonly pool: SigningPool;
  readonly events: Pick<EventLog, 'record'>;
  readonly clock: Clock;
  readonly ids: Ids;
}

export class InspectionService implements ActorInspection {
  readonly #parts: InspectionParts;
  readonly #delay: IntervalHistogram;
  readonly #started: number;

  constructor(parts: InspectionParts) {
    this.#parts = parts;
    this.#started = parts.clock.elapsed();
    this.#delay = monitorEventLoopDelay({ resolution: LOOK_EVERY });
    this.#delay.enable();
  }

  kinds(): Promise<readonly KindReport[]> {
    return this.#parts.runtime.inspector.kinds();
  }

  trouble(): ReturnType<ActorInspection['trouble']> {
    return this.#parts.runtime.inspector.trouble();
  }

  list(query: ActorQuery): Promise<ActorPage | undefined> {
    return this.#parts.runtime.inspector.list(query);
  }

  actor(address: { readonly kind: string; readonly id: string }): Promise<ActorReport | undefined> {
    return this.#parts.runtime.inspector.actor(address);
  }

  async restart(
    address: { readonly kind: string; readonly id: string },
    by: { readonly operator: string; readonly reason: string },
  ): Promise<'restarted' | 'running' | 'unknown'> {
    const { runtime, events, clock, ids } = this.#parts;
    const outcome = await runtime.system.restart(address);
    if (!outcome.accepted) return outcome.because === 'unknown-actor' ? 'unknown' : 'running';
    await outcome.durable;
    const message = `The stopped actor ${address.kind}/${address.id} goes on. Reason: ${by.reason}.`;
    await events.record(
      { at: clock.now(), kind: 'ActorRestarted', actor: by.operator, jobId: null, code: null, message },
      ids.uuid(),
    );
    return 'restarted';
  }

  async runtime(): Promise<RuntimeView> {
    const { runtime, pool, clock } = this.#parts;
    const { effectsInFlight, shards } = runtime.stats();
    const uptime = Math.max(1, clock.elapsed() - this.#started);
    const load = pool.load;
    let busyMs = 0;
    for (const stage of pool.stages.values()) busyMs += stage.busyMs;
    const { engine, bytes = null } = runtime.store.describe();
    const memory = process.memoryUsage();
    const here = this.#eventLoopDelay();
    const reports = await runtime.reports();
    return {
      eventLoopDelay: here,
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
          eventLoopDelay: report === undefined ? NO_TIMES : (report.eventLoopDelay ?? here),
        };
      }),
      pool: { ...load, utilisation: Math.min(1, busyMs / (uptime * Math.max(1, load.threads))) },
      store: { engine, bytes },
      memory: { residentBytes: memory.rss, heapBytes: memory.heapUsed },
      uptimeSeconds: uptime / 1000,
    };
  }

  /** The histogram holds nanoseconds, the pause it looks in among them. */
  #eventLoopDelay() {
    const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - LOOK_EVERY);
    if (this.#delay.count === 0) return NO_TIMES;
    return {
      p50Ms: late(this.#delay.percentile(50)),
      p99Ms: late(this.#delay.percentile(99)),
      maxMs: late(this.#delay.max),
    };
  }
}
