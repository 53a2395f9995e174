/** Sessions in which marks are placed on uploaded files. Source: docs/portal-values.md §20. */
import { actorKind, defineActor } from '@sealwright/runtime';
import type { NewFile } from '../../../contracts/portal/flow.ts';
import { MAX_MARKS_FILES } from '../../../contracts/portal/marks-sessions.ts';
import { parsePortalId } from '../../../machines/ids.ts';
import {
  MARKS_SESSION_EXPIRED,
  MARKS_SESSION_LIFETIME,
  type MarksSessionContext,
  marksSessionMachine,
} from '../../../machines/portal/marks-session.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { Tenant, Tenants } from '../api/callers.ts';
import { pageLookOf } from '../branding/branding.ts';
import { createRecord } from '../shared/organization-records.ts';
import { ORGANIZATION } from '../tenants/organizations.ts';
import { cleanContentType, cleanName } from '../uploads/upload-names.ts';
import type { Uploads } from '../uploads/uploads.ts';

const MARKS_SESSION = actorKind<typeof marksSessionMachine>('marks-session');

/** Characters of the request as JSON. */
const MAX_BYTES = 256 * 1024;

export const marksSessionDefinition = defineActor(MARKS_SESSION, {
  machine: marksSessionMachine,
  version: 1,
  ends: ({ state }) => state === MARKS_SESSION_EXPIRED,
});

export class MarksSessionService {
  readonly #runtime: Pick<ServiceRuntime, 'system' | 'clock' | 'ids'>;
  readonly #uploads: Uploads;
  readonly #tenants: Tenants;
  readonly #publicUrl: () => string;

  /** @param publicUrl gives `Portal:PublicUrl`, without a slash at its end */
  constructor(
    runtime: Pick<ServiceRuntime, 'system' | 'clock' | 'ids'>,
    uploads: Uploads,
    tenants: Tenants,
    publicUrl: () => string,
  ) {
    this.#runtime = runtime;
    this.#uploads = uploads;
    this.#tenants = tenants;
    this.#publicUrl = publicUrl;
  }

  /** Refusals: `UploadNotFound`, `LimitExceeded`. @param data the request as it was sent */
  async create({ organization }: Tenant, files: readonly Omit<NewFile, 'displayName'>[], data: unknown) {
    const { system, clock, ids } = this.#runtime;
    // Creation requests may have more files.
    if (files.length > MAX_MARKS_FILES || (JSON.stringify(data) ?? '').length > MAX_BYTES) {
      throw new PortalRefusal('LimitExceeded');
    }
    const found = [];
    for (const file of files) {
      const { id } = await this.#uploads.findUpload(organization.id, file.id);
      found.push({ id, name: cleanName(file.name), contentType: cleanContentType(file.contentType) });
    }
    const context: MarksSessionContext = {
      organizationId: organization.id,
      files: found,
      data: data ?? null,
      createdAt: clock.now(),
    };
    const id = ids.uuid();
    await createRecord(system, { kind: MARKS_SESSION, id }, context);
    return { id, embedUrl: `${this.#publicUrl()}/position-marks/${id}?v=1` };
  }

  /** Needs no key: the id grants access. Refusals: `MarksSessionNotFound`, also once its hour is over. */
  async get(given: string) {
    const { system, clock } = this.#runtime;
    const id = parsePortalId('DocumentId', given);
    const actor = id && (await system.read({ kind: MARKS_SESSION, id }));
    if (!id || !actor) throw new PortalRefusal('MarksSessionNotFound');
    const { files, data, createdAt, organizationId } = actor.context;
    // Also while its deadline is still to fire.
    if (clock.now() - createdAt >= MARKS_SESSION_LIFETIME) throw new PortalRefusal('MarksSessionNotFound');
    const organization = await system.read({ kind: ORGANIZATION, id: organizationId });
    const name = organization?.context.name ?? '';
    return {
      id,
      files: files.map((file) => ({ id: file.id, location: this.#uploads.locationOf(file.id) })),
      data,
      embedOrigins: await this.#tenants.embedOrigins(organizationId),
      branding: await pageLookOf(system, { id: organizationId, name }),
    };
  }
}
