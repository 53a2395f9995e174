/**
 * Erasures of people: requests, reports, and the file that carries them over the restoration of a backup.
 *
 * Source: docs/decisions/0640-erasure.md.
 */
import { accepted, jsonType } from '@sealwright/runtime';
import type { Page } from '../../../contracts/portal/lists.ts';
import type { ErasureReport, NewErasure } from '../../../contracts/portal/retention/erasures.ts';
import type { ErasureContext, ErasureInput } from '../../../machines/portal/accounts/erasure.ts';
import { badField, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { countOf } from '../../shared/lists/stored-rows.ts';
import { ERASURE, ERASURES_VIEW, erasureCounter } from '../accounts/organizations.ts';
import { principalOf, type Tenant } from '../api/callers.ts';
import { isMailAddress } from '../shared/mail-address.ts';
import { erasePeopleHandler, personDigest } from './erase-people.ts';

/** Erasures of an organization at a time. */
const MAX_RUNNING = 10;

/** The record of all erasures outside of the store: one line of JSON each. */
export interface ErasureFile {
  read(): string | undefined;
  /** Replaces the text; durable on return. */
  keep(text: string): void;
}

const LINE = jsonType<ErasureInput & { readonly id: string }>();

export class Erasures {
  readonly handler: ReturnType<typeof erasePeopleHandler>;

  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids' | 'faults' | 'log'>,
    private readonly needs: Pick<Parameters<typeof erasePeopleHandler>[0], 'registry' | 'mailer' | 'key'>,
    private readonly file: ErasureFile | undefined,
  ) {
    this.handler = erasePeopleHandler({ runtime, ...needs });
  }

  /** Refusals: `BadRequest` for what is no address, `TooManyRequests`. */
  async begin(tenant: Tenant, { email: given, keepFor }: NewErasure): Promise<ErasureReport> {
    const { actors, store, clock, ids } = this.runtime;
    const { organization } = tenant;
    const email = given.trim();
    if (!isMailAddress(email)) throw badField('Email', 'must be an e-mail address');
    if ((await countOf(store, erasureCounter(organization.id, 'Running'))) >= MAX_RUNNING)
      throw new PortalRefusal('TooManyRequests', `${MAX_RUNNING} erasures are running.`, {
        retryAfterSeconds: 60,
      });
    const id = ids.uuid();
    const input: ErasureInput = {
      organizationId: organization.id,
      by: principalOf(tenant),
      at: clock.now(),
      keptFor: keepFor,
      person: personDigest(this.needs.key, organization.id, email),
    };
    // First: whatever of it is carried out is carried out again on an older store.
    const line = JSON.stringify(LINE.write({ id, ...input }));
    this.file?.keep([this.file.read() ?? [], line].flat().join('\n'));
    const made = await accepted(actors.create(ERASURE, id, input), () => new PortalRefusal('ServiceBusy'));
    return reportOf(id, made);
  }

  /** Newest first. */
  async list(
    { organization }: Pick<Tenant, 'organization'>,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<Page<ErasureReport>> {
    const { store, actors } = this.runtime;
    const counters = await store.counters(`erasures/${organization.id}/`);
    const totalCount = Object.values(counters).reduce((sum, count) => sum + count, 0);
    const first = offset * limit;
    if (first >= totalCount) return { items: [], totalCount };
    const page = { prefix: [organization.id], reverse: true, offset: first, limit };
    const rows = await store.rows({ view: ERASURES_VIEW, ...page });
    const found = await Promise.all(
      rows.map(async ({ key }) => {
        const id = String(key[2]);
        const actor = await actors.read(ERASURE, id);
        return actor === undefined ? [] : [reportOf(id, actor)];
      }),
    );
    return { items: found.flat(), totalCount };
  }

  /** Carries out what the file has and the store does not: it was restored from an older backup. */
  async resume(): Promise<void> {
    const { actors, log } = this.runtime;
    for (const [at, text] of (this.file?.read() ?? '').split('\n').entries()) {
      if (text.trim() === '') continue;
      const entry = entryOf(text);
      if (entry === undefined) {
        log.error('An erasure cannot be read in the file of erasures, and is not carried out again.', {
          Line: at + 1,
        });
        continue;
      }
      const { id, ...input } = entry;
      await accepted(actors.create(ERASURE, id, input), ({ reason }) =>
        reason === 'exists' ? undefined : new PortalRefusal('ServiceBusy'),
      );
    }
  }
}

/** Undefined for a line that somebody has changed. */
function entryOf(text: string): ReturnType<typeof LINE.read> | undefined {
  try {
    const entry = LINE.read(JSON.parse(text));
    return typeof entry?.id === 'string' && typeof entry.person === 'string' ? entry : undefined;
  } catch {
    return undefined;
  }
}

function reportOf(
  id: string,
  { state, context }: { readonly state: string; readonly context: ErasureContext },
): ErasureReport {
  const { at: date, by, keptFor, erased, kept, refused, mails, documents } = context;
  const isDone = state === 'Done';
  return { id, date, by, isDone, keptFor, erased, kept, refused, mails, documents: [...documents] };
}
