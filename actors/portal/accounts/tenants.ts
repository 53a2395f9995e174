/**
 * Authenticates API keys. Keys are stored as digests; organizations are cached and updated by their committed steps.
 *
 * Source: docs/portal-values.md §0, §1 row 12.
 */

import { hash, timingSafeEqual } from 'node:crypto';
import { contextOf, type Step } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';
import type { Millis, OrganizationId } from '../../../machines/ids.ts';
import type { Application, OrganizationContext } from '../../../machines/portal/accounts/organization.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { Tenant, Tenants } from '../api/callers.ts';
import { addressIn } from '../mails/mail-port.ts';
import { APPLICATION_ROW, nameKey, ORGANIZATION, organizationName, organizationOf } from './organizations.ts';

/** Applications kept in memory. */
const CACHE_SIZE = 4096;

/** Granularity of the last use of a secret, milliseconds: saves a step per call. */
const USE_RECORDING_MS = 3_600_000;

/** Longer texts cannot be keys of ours. */
const MAX_KEY_LENGTH = 1024;

/** Compared with when the application is unknown, so that both take as long. */
const NO_TENANT = '0'.repeat(64);

interface CachedTenant {
  readonly tenant: Tenant;
  /** `caller`: what `identify` returns for the secret. */
  readonly secrets: readonly {
    readonly id: string;
    readonly digest: Buffer;
    readonly expiresAt: Millis | undefined;
    readonly caller: Tenant;
  }[];
  /** Time of the last recorded use of each secret. */
  readonly recordedAt: Map<string, Millis>;
}

/** SHA-256 of a secret, lower-case hex. */
export function secretDigest(secret: string): string {
  return hash('sha256', secret);
}

export class TenantDirectory implements Tenants {
  /** By the key of the application's name. */
  readonly #cached = new LRUCache<string, CachedTenant>({ max: CACHE_SIZE });
  /** Raised by each step of an organization: what was read before it is not kept. */
  #steps = 0;

  constructor(private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock'>) {}

  /** Sees each committed step. */
  observe({ actor }: Step): void {
    const organization = contextOf(ORGANIZATION, actor);
    if (organization === undefined) return;
    this.#steps += 1;
    for (const application of organization.applications) {
      const key = nameKey(application.name);
      const cached = this.#cached.get(key);
      if (cached === undefined) continue;
      const id = actor.address.id as OrganizationId;
      this.#cached.set(key, {
        ...cachedTenantOf(id, organization, application),
        recordedAt: cached.recordedAt,
      });
    }
  }

  async identify(key: string): Promise<Tenant | undefined> {
    const bar = key.lastIndexOf('|');
    if (bar <= 0 || key.length > MAX_KEY_LENGTH) return undefined;
    const digest = hash('sha256', key.slice(bar + 1), 'buffer');
    const name = nameKey(key.slice(0, bar));
    const cached = this.#cached.get(name) ?? (await this.#load(name));
    if (cached === undefined) {
      timingSafeEqual(digest, Buffer.from(NO_TENANT, 'hex'));
      return undefined;
    }
    let found: CachedTenant['secrets'][number] | undefined;
    for (const secret of cached.secrets) if (timingSafeEqual(secret.digest, digest)) found = secret;
    // Case matters in a key, although no two names differ by case alone.
    if (found === undefined || cached.tenant.application.name !== key.slice(0, bar)) return undefined;
    if (found.expiresAt !== undefined && found.expiresAt <= this.runtime.clock.now()) return undefined;
    this.#recordUse(cached, found.id);
    return found.caller;
  }

  async organization(name: string): Promise<Tenant['organization'] | undefined> {
    const { store, actors } = this.runtime;
    const holder = await store.holder(organizationName(name));
    const actor = holder && (await actors.read(ORGANIZATION, holder.id));
    return actor && organizationOf(actor.id as OrganizationId, actor.context);
  }

  async embedOrigins(organization: OrganizationId): Promise<readonly string[]> {
    const actor = await this.runtime.actors.read(ORGANIZATION, organization);
    return actor === undefined ? [] : actor.context.embedOrigins;
  }

  async replyTo(organization: OrganizationId): Promise<string | null> {
    const actor = await this.runtime.actors.read(ORGANIZATION, organization);
    const mailbox = actor?.context.replyTo ?? null;
    return mailbox === null ? null : addressIn(mailbox);
  }

  async #load(name: string): Promise<CachedTenant | undefined> {
    const { store, actors } = this.runtime;
    const steps = this.#steps;
    const [row] = await store.rows({ view: 'applications', prefix: [name], limit: 1 });
    if (row === undefined) return undefined;
    const { organizationId, id } = APPLICATION_ROW.read(row.value);
    const actor = await actors.read(ORGANIZATION, organizationId);
    const organization = actor?.context;
    const application = organization?.applications.find((candidate) => candidate.id === id);
    if (organization === undefined || application === undefined) return undefined;
    const cached = cachedTenantOf(organizationId, organization, application);
    if (steps === this.#steps) this.#cached.set(name, cached);
    return cached;
  }

  /** Runs in the background; a lost record is harmless. */
  #recordUse({ tenant, recordedAt }: CachedTenant, id: string): void {
    const { actors, clock } = this.runtime;
    const now = clock.now();
    if (now - (recordedAt.get(id) ?? -Infinity) < USE_RECORDING_MS) return;
    recordedAt.set(id, now);
    actors
      .send(ORGANIZATION, tenant.organization.id, { type: 'USED', applicationId: tenant.application.id, id })
      .catch(() => {});
  }
}

function cachedTenantOf(
  id: OrganizationId,
  organization: OrganizationContext,
  application: Application,
): CachedTenant {
  const tenant: Tenant = {
    organization: organizationOf(id, organization),
    application: { id: application.id, name: application.name, role: application.role },
  };
  return {
    tenant,
    secrets: application.secrets.map((secret) => ({
      id: secret.id,
      digest: Buffer.from(secret.sha256, 'hex'),
      expiresAt: secret.expiresAt,
      caller: {
        ...tenant,
        keyId: secret.id,
        ...(secret.scopes && { scopes: secret.scopes }),
        ...(secret.folders && { folders: secret.folders }),
        ...(secret.expiresAt !== undefined && { keyExpiresAt: secret.expiresAt }),
      },
    })),
    recordedAt: new Map(
      application.secrets.flatMap(({ id: secret, lastUsedAt }) =>
        lastUsedAt === null ? [] : [[secret, lastUsedAt] as const],
      ),
    ),
  };
}
