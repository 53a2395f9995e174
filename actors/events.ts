/** What happened to the service as a whole: recorded once each, listed newest first. Implements `SystemEvents`. */
import { createHash } from 'node:crypto';
import type { JobId } from '../machines/ids.ts';
import { SYSTEM_EVENT_KINDS, type SystemEventContext } from '../machines/system-event.ts';
import { type ActorStore, type ActorSystem, type ActorView, Fatal, type Row } from '../runtime/index.ts';
import type { SystemEvent, SystemEventKind, SystemEvents } from './api.ts';

export const SYSTEM_EVENT = 'system-event';

/**
 * Views: `events` [time, id] and `events-by` [kind, time, id], both → id; counters `events/<kind>`.
 */
export function eventRows({ id, context }: ActorView): readonly Row[] {
  const { kind, at } = context as SystemEventContext;
  return [
    { view: 'events', key: [at, id], value: id },
    { view: 'events-by', key: [kind, at, id], value: id },
  ];
}

export function eventCounters({ context }: ActorView): { readonly [name: string]: number } {
  return { [`events/${(context as SystemEventContext).kind}`]: 1 };
}

export interface EventLogParts {
  readonly system: ActorSystem;
  readonly store: ActorStore;
}

export class EventLog implements SystemEvents {
  readonly #parts: EventLogParts;

  constructor(parts: EventLogParts) {
    this.#parts = parts;
  }

  /** Resolves when visible. A second record of one id changes nothing. */
  async record(event: SystemEventContext, id: string): Promise<void> {
    const outcome = await this.#parts.system.create({ kind: SYSTEM_EVENT, id }, { ...event });
    if (outcome.accepted || outcome.because === 'exists') return;
    throw new Fatal('internal', `The event was refused: ${outcome.because}.`);
  }

  async list(query: {
    readonly kinds: readonly SystemEventKind[];
    readonly page: number;
    readonly pageSize: number;
  }): Promise<{ readonly items: readonly SystemEvent[]; readonly totalCount: number }> {
    const { store, system } = this.#parts;
    const counters = await store.counters('events/');
    const kinds = query.kinds.length > 0 ? query.kinds : SYSTEM_EVENT_KINDS;
    const totalCount = kinds.reduce((sum, kind) => sum + (counters[`events/${kind}`] ?? 0), 0);
    const offset = (query.page - 1) * query.pageSize;
    if (offset >= totalCount) return { items: [], totalCount };
    const ids = await this.#page(query.kinds, offset, query.pageSize);
    const actors = await Promise.all(ids.map((id) => system.read({ kind: SYSTEM_EVENT, id })));
    return { items: actors.filter((actor) => actor !== undefined).map(view), totalCount };
  }

  async #page(kinds: readonly SystemEventKind[], offset: number, limit: number): Promise<readonly string[]> {
    const { store } = this.#parts;
    if (kinds.length === 0) {
      const rows = await store.rows({ view: 'events', reverse: true, offset, limit });
      return rows.map(({ value }) => value as string);
    }
    // Few kinds, each read as far as the page could reach into it.
    const ranges = await Promise.all(
      kinds.map((kind) =>
        store.rows({ view: 'events-by', prefix: [kind], reverse: true, limit: offset + limit }),
      ),
    );
    return ranges
      .flat()
      .sort((a, b) => (b.key[1] as number) - (a.key[1] as number))
      .slice(offset, offset + limit)
      .map(({ value }) => value as string);
  }
}

function view({ id, context }: ActorView): SystemEvent {
  const { at, kind, actor, jobId, code, message } = context as SystemEventContext;
  return { id, timestamp: at, kind, actor, jobId, code, message };
}

/** The id of the event that an effect records: the same for every try. */
export function eventIdOf(effectKey: string): string {
  const digest = createHash('sha256').update(effectKey).digest('hex');
  // Shaped as a UUID of version 8, whose bits are the maker's to choose (RFC 9562 §5.8).
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}

/** The job an event is about: the one named, or the actor that asked for the record. */
export function withJob(event: SystemEventContext, jobId: string | null): SystemEventContext {
  return { ...event, jobId: event.jobId ?? (jobId as JobId | null) };
}
