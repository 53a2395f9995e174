/** System events: each recorded once, listed newest first. */

import { createHash } from 'node:crypto';
import { type ActorView, defineActor, describeFailure, Fatal, type Row } from '@sealwright/runtime';
import type { SystemEvent } from '../../../contracts/batch/events.ts';
import { SYSTEM_EVENT_KINDS } from '../../../contracts/batch/words.ts';
import {
  type SystemEventContext,
  type SystemEventKind,
  systemEventMachine,
} from '../../../machines/batch/system-event.ts';
import type { JobId } from '../../../machines/ids.ts';
import { pageOf } from '../../shared/lists/list.ts';
import type { BatchRuntime } from './job-counts.ts';

/**
 * Views: `events` [time, id] and `events-by` [kind, time, id], both → id; counters `events/<kind>`.
 */
function eventRows({ id, context }: ActorView<SystemEventContext>): readonly Row[] {
  const { kind, at } = context;
  return [
    { view: 'events', key: [at, id], value: id },
    { view: 'events-by', key: [kind, at, id], value: id },
  ];
}

export const SYSTEM_EVENT = defineActor('system-event', {
  machine: systemEventMachine,
  version: 1,
  restsIn: ['Recorded'],
  rows: eventRows,
  counters: ({ context }) => ({ [`events/${context.kind}`]: 1 }),
});

export class EventLog {
  constructor(private readonly runtime: Pick<BatchRuntime, 'actors' | 'store' | 'clock' | 'ids' | 'log'>) {}

  /** Resolves when visible. Idempotent per id. */
  async record(event: SystemEventContext, id = this.runtime.ids.uuid()): Promise<void> {
    const outcome = await this.runtime.actors.create(SYSTEM_EVENT, id, event);
    if (outcome.accepted || outcome.reason === 'exists') return;
    throw new Fatal('internal', `The event was refused: ${outcome.reason}.`);
  }

  /** Records the start or end of an operator's session. Resolves when visible; never rejects. @param address of the caller */
  async recordSession(kind: 'LoggedIn' | 'LoggedOut', operator: string, address: string): Promise<void> {
    const { clock, log } = this.runtime;
    const message = `${kind === 'LoggedIn' ? 'Logged in' : 'Logged out'} from ${address}.`;
    try {
      const event = { at: clock.now(), kind, actor: operator, jobId: null, code: null, message };
      await this.record(event);
    } catch (error) {
      // Operators must be able to log in while the store takes nothing, e.g. while its disk is full.
      log.error('A session could not be recorded in the history.', {
        Message: message,
        Error: describeFailure(error).message,
      });
    }
  }

  /** Newest first. */
  async list(query: {
    readonly kinds: readonly SystemEventKind[];
    readonly page: number;
    readonly pageSize: number;
  }): Promise<{ readonly items: readonly SystemEvent[]; readonly totalCount: number }> {
    const { store, actors } = this.runtime;
    const counters = await store.counters('events/');
    const kinds = query.kinds.length > 0 ? query.kinds : SYSTEM_EVENT_KINDS;
    const totalCount = kinds.reduce((sum, kind) => sum + (counters[`events/${kind}`] ?? 0), 0);
    const offset = (query.page - 1) * query.pageSize;
    if (offset >= totalCount) return { items: [], totalCount };
    const byKind = query.kinds.map((kind) => ({ view: 'events-by', prefix: [kind] }));
    const list = {
      ranges: byKind.length > 0 ? byKind : [{ view: 'events' }],
      // Kinds that this version does not know have rows too.
      total: byKind.length > 0 ? totalCount : Object.values(counters).reduce((sum, count) => sum + count, 0),
      itemOf: ({ value }: Row) => value as string,
    };
    const part = { newestFirst: true, offset, limit: query.pageSize };
    const page = await pageOf(store, list, part);
    const found = await Promise.all(page.items.map((id) => actors.read(SYSTEM_EVENT, id)));
    return { items: found.filter((actor) => actor !== undefined).map(view), totalCount };
  }
}

function view({ id, context }: ActorView<SystemEventContext>): SystemEvent {
  const { at, kind, actor, jobId, code, message } = context;
  return { id, timestamp: at, kind, actor, jobId, code, message };
}

/** Derives the id of an event from the effect key: equal for every attempt. */
export function eventIdOf(effectKey: string): string {
  const digest = createHash('sha256').update(effectKey).digest('hex');
  // UUID version 8: custom bits (RFC 9562 §5.8).
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}

/** The job of an event: the named one, or the actor that requested the record. */
export function withJob(event: SystemEventContext, jobId: string | null): SystemEventContext {
  return { ...event, jobId: event.jobId ?? (jobId as JobId | null) };
}
