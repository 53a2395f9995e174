/**
 * Who calls: the application behind an API key. Keys are kept as digests; what was read once is kept in memory and put
 * right by every step of its organization.
 *
 * Source: Document Signing Portal API, "Authentication"; portal-gaps §1 row 12.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Millis, OrganizationId } from '../../machines/ids.ts';
import type { Application, OrganizationContext } from '../../machines/organization.ts';
import type { ActorStore, ActorSystem, Clock, Step } from '../../runtime/index.ts';
import type { Tenant, Tenants } from './api.ts';
import { type ApplicationRow, nameKey, ORGANIZATION } from './organizations.ts';

/** Applications kept in memory. */
const MOST_CACHED = 4096;

/** How fine the last use of a secret is kept, milliseconds: a step per call would be dear. */
const USE_STEP = 3_600_000;

/** Longer texts cannot be keys of ours. */
const LONGEST_KEY = 1024;

/** Compared with when the application is unknown, so that both take as long. */
const NOBODY = '0'.repeat(64);

interface Known {
  readonly tenant: Tenant;
  readonly secrets: readonly { readonly id: string; readonly digest: Buffer }[];
  /** When the use of each secret was last told. */
  readonly told: Map<string, Millis>;
}

export interface TenantDirectoryParts {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly clock: Pick<Clock, 'now'>;
}

/** SHA-256 of a secret, lower-case hex. */
export function secretDigest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

export class TenantDirectory implements Tenants {
  readonly #parts: TenantDirectoryParts;
  /** By the key of the application's name. */
  readonly #known = new Map<string, Known>();
  /** Raised by each step of an organization: what was read before it is not kept. */
  #steps = 0;

  constructor(parts: TenantDirectoryParts) {
    this.#parts = parts;
  }

  /** Sees each committed step. */
  observe({ actor: { address, context } }: Step): void {
    if (address.kind !== ORGANIZATION) return;
    this.#steps += 1;
    const organization = context as unknown as OrganizationContext;
    for (const application of organization.applications) {
      const key = nameKey(application.name);
      const known = this.#known.get(key);
      if (known === undefined) continue;
      const id = address.id as OrganizationId;
      this.#known.set(key, { ...knownOf(id, organization, application), told: known.told });
    }
  }

  async identify(key: string): Promise<Tenant | undefined> {
    const bar = key.lastIndexOf('|');
    if (bar <= 0 || key.length > LONGEST_KEY) return undefined;
    const digest = Buffer.from(secretDigest(key.slice(bar + 1)), 'hex');
    const name = nameKey(key.slice(0, bar));
    const known = this.#known.get(name) ?? (await this.#load(name));
    if (known === undefined) {
      timingSafeEqual(digest, Buffer.from(NOBODY, 'hex'));
      return undefined;
    }
    let found: string | undefined;
    for (const secret of known.secrets) if (timingSafeEqual(secret.digest, digest)) found = secret.id;
    // Names are told apart as they are written, although no two differ by case alone.
    if (found === undefined || known.tenant.application.name !== key.slice(0, bar)) return undefined;
    this.#tellUse(known, found);
    return known.tenant;
  }

  async embedOrigins(organization: OrganizationId): Promise<readonly string[]> {
    const actor = await this.#parts.system.read({ kind: ORGANIZATION, id: organization });
    return actor === undefined ? [] : (actor.context as OrganizationContext).embedOrigins;
  }

  async #load(name: string): Promise<Known | undefined> {
    const { store, system } = this.#parts;
    const steps = this.#steps;
    const [row] = await store.rows({ view: 'applications', prefix: [name], limit: 1 });
    if (row === undefined) return undefined;
    const { organizationId, id } = row.value as unknown as ApplicationRow;
    const actor = await system.read({ kind: ORGANIZATION, id: organizationId });
    const organization = actor?.context as OrganizationContext | undefined;
    const application = organization?.applications.find((candidate) => candidate.id === id);
    if (organization === undefined || application === undefined) return undefined;
    const known = knownOf(organizationId, organization, application);
    if (steps === this.#steps) this.#keep(name, known);
    return known;
  }

  #keep(name: string, known: Known): void {
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MOST_CACHED && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(name, known);
  }

  /** Beside the call: nobody waits for it, and a use that is not kept is no harm. */
  #tellUse({ tenant, told }: Known, id: string): void {
    const { system, clock } = this.#parts;
    const now = clock.now();
    if (now - (told.get(id) ?? -Infinity) < USE_STEP) return;
    told.set(id, now);
    const address = { kind: ORGANIZATION, id: tenant.organization.id };
    system.tell(address, { type: 'USED', applicationId: tenant.application.id, id }).catch(() => {});
  }
}

function knownOf(id: OrganizationId, organization: OrganizationContext, application: Application): Known {
  return {
    tenant: {
      organization: {
        ...{ id, name: organization.name },
        ...(organization.identifier !== null && { identifier: organization.identifier }),
      },
      application: { id: application.id, name: application.name, role: application.role },
    },
    secrets: application.secrets.map((secret) => ({
      id: secret.id,
      digest: Buffer.from(secret.sha256, 'hex'),
    })),
    told: new Map(
      application.secrets.flatMap(({ id: secret, lastUsedAt }) =>
        lastUsedAt === null ? [] : [[secret, lastUsedAt] as const],
      ),
    ),
  };
}
