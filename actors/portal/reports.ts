/**
 * Reports and totals over all organizations. Implements `PortalReports`.
 *
 * Source: Document Signing Portal API, "Monitoring responses"; portal-gaps §18.
 */
import { parsePortalId } from '../../machines/ids.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import {
  REPORT_EXPIRED,
  type ReportContext,
  type ReportRange,
  reportMachine,
} from '../../machines/report.ts';
import type { ActorDefinition, ActorStore, ActorSystem, Clock, Ids, Step } from '../../runtime/index.ts';
import type { PortalReports, StoredFile } from './api.ts';
import { type Blobs, blobCounters } from './blobs.ts';
import { countCreated, rangeText, type Totals } from './report-rows.ts';
import type { Tickets } from './tickets.ts';

export const REPORT = 'report';

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
/** How long somebody waits for a report that is being made, milliseconds; then he may ask again. */
const PATIENCE = 5 * 60_000;
/** Reports that may be under way at a time. */
const MOST_UNDER_WAY = 32;
const MAKING = 'reports-making';

export const reportDefinition: ActorDefinition = {
  kind: REPORT,
  machine: reportMachine,
  version: 1,
  counters: ({ state, context }): { readonly [name: string]: number } => {
    const { blob } = context as ReportContext;
    return { ...(state === 'Making' && { [MAKING]: 1 }), ...(blob !== null && blobCounters([blob])) };
  },
  ends: ({ state }) => state === REPORT_EXPIRED,
};

export interface ReportsParts {
  readonly system: ActorSystem;
  readonly store: Pick<ActorStore, 'rows' | 'counters'>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly blobs: Blobs;
  readonly tickets: Tickets;
}

export class Reports implements PortalReports {
  readonly #parts: ReportsParts;
  /** Who waits for which report. */
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(parts: ReportsParts) {
    this.#parts = parts;
  }

  /** Sees each committed step. */
  observe({ actor: { address, state } }: Step): void {
    if (address.kind !== REPORT || state === 'Making') return;
    for (const wake of this.#waiting.get(address.id) ?? []) wake();
  }

  /** Refusals: `BadRequest` for an end before the start, `TooManyRequests`. */
  async documents(range: ReportRange): Promise<{ readonly location: string }> {
    const { system, store, clock, ids, tickets } = this.#parts;
    checkRange(range);
    if (((await store.counters(MAKING))[MAKING] ?? 0) >= MOST_UNDER_WAY) {
      throw new PortalRefusal('TooManyRequests', `${MOST_UNDER_WAY} reports are being made.`, {
        retryAfterSeconds: 60,
      });
    }
    const id = ids.uuid();
    const at = clock.now();
    const { from, to } = range;
    const made = await system.create({ kind: REPORT, id }, { from, to, createdAt: at });
    if (!made.accepted) throw new PortalRefusal('ServiceBusy');
    await made.durable;
    return { location: `/api/reports/${id}?access_ticket=${tickets.issue('report', [id], at)}` };
  }

  /** Refusals: `BadRequest` for an end before the start. */
  async totals(range: ReportRange): Promise<Totals> {
    checkRange(range);
    return countCreated(this.#parts.store, range);
  }

  /** Refusals: `NotFound`, `InternalError` for a report that failed, `ServiceBusy` when it takes very long. */
  async file(id: string, ticket: string): Promise<StoredFile> {
    const { tickets, clock, blobs } = this.#parts;
    const reportId = parsePortalId('DocumentId', id);
    const read = tickets.read('report', ticket, clock.now());
    if (!reportId || read?.expired !== false || read.claims[0] !== reportId)
      throw new PortalRefusal('NotFound');
    const { state, context } = await this.#made(reportId);
    if (state === 'Failed') throw new PortalRefusal('InternalError', 'The report could not be made.');
    if (context.blob === null) throw new PortalRefusal('ServiceBusy', undefined, { retryAfterSeconds: 30 });
    const range = rangeText(context);
    return blobs.file(context.blob, `documents${range && `_${range}`}.xlsx`, XLSX);
  }

  /** The report once it is made or failed, or as it is when patience is over. */
  async #made(id: string): Promise<{ readonly state: string; readonly context: ReportContext }> {
    const { clock } = this.#parts;
    let wake = () => {};
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting.add(wake));
    const cancel = clock.after(PATIENCE, wake);
    try {
      const report = await this.#read(id);
      if (report.state !== 'Making') return report;
      await woken;
      return await this.#read(id);
    } finally {
      cancel();
      waiting.delete(wake);
      if (waiting.size === 0) this.#waiting.delete(id);
    }
  }

  async #read(id: string): Promise<{ readonly state: string; readonly context: ReportContext }> {
    const actor = await this.#parts.system.read({ kind: REPORT, id });
    if (actor === undefined) throw new PortalRefusal('NotFound');
    return { state: actor.state, context: actor.context as ReportContext };
  }
}

function checkRange({ from, to }: ReportRange): void {
  if (from === null || to === null || from <= to) return;
  const message = 'The EndDateUtc lies before the StartDateUtc.';
  throw new PortalRefusal('BadRequest', message, { errors: { EndDateUtc: [message] } });
}
