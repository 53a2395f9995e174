/**
 * Sessions in which marks are placed on uploaded files. Implements `MarksSessions`.
 *
 * Source: docs/portal-values.md §20.
 */

import { type ActorSystem, actorKind, type Clock, defineActor, type Ids } from '@sealwright/runtime';
import { parsePortalId } from '../../../machines/ids.ts';
import {
  MARKS_SESSION_EXPIRED,
  MARKS_SESSION_LIFETIME,
  type MarksSessionContext,
  marksSessionMachine,
} from '../../../machines/portal/marks-session.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Tenant, Tenants } from '../api/callers.ts';
import type { MarksSessions } from '../api/marks-sessions.ts';
import { pageLookOf } from '../branding/branding.ts';
import { createRecord } from '../shared/organization-records.ts';
import { ORGANIZATION } from '../tenants/organizations.ts';
import { cleanContentType, cleanName } from '../uploads/upload-names.ts';
import type { Uploads } from '../uploads/uploads.ts';

const MARKS_SESSION = actorKind<typeof marksSessionMachine>('marks-session');

/** Files of one session. Source: docs/portal-values.md §21. */
const MAX_FILES = 50;
/** Characters of the request as JSON. */
const MAX_BYTES = 256 * 1024;

export const marksSessionDefinition = defineActor(MARKS_SESSION, {
  machine: marksSessionMachine,
  version: 1,
  ends: ({ state }) => state === MARKS_SESSION_EXPIRED,
});

export interface MarksSessionsDependencies {
  readonly system: ActorSystem;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly uploads: Pick<Uploads, 'findUpload' | 'locationOf'>;
  readonly tenants: Pick<Tenants, 'embedOrigins'>;
  /** `Portal:PublicUrl`, without a slash at its end. */
  readonly publicUrl: string;
}

export class MarksSessionService implements MarksSessions {
  readonly #dependencies: MarksSessionsDependencies;

  constructor(dependencies: MarksSessionsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Refusals: `UploadNotFound`, `BadRequest` without files, `LimitExceeded`. */
  async create(
    { organization }: Tenant,
    files: readonly { readonly id: string; readonly name: string; readonly contentType: string }[],
    data: unknown,
  ): Promise<{ readonly id: string; readonly embedUrl: string }> {
    const { system, clock, ids, uploads, publicUrl } = this.#dependencies;
    if (files.length === 0) {
      const message = 'The Files field is required.';
      throw new PortalRefusal('BadRequest', message, { errors: { Files: [message] } });
    }
    if (files.length > MAX_FILES || (JSON.stringify(data) ?? '').length > MAX_BYTES) {
      throw new PortalRefusal('LimitExceeded');
    }
    const found = [];
    for (const file of files) {
      const { id } = await uploads.findUpload(organization.id, file.id);
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
    return { id, embedUrl: `${publicUrl}/position-marks/${id}?v=1` };
  }

  /** Refusals: `MarksSessionNotFound`, also once its hour is over. */
  async get(given: string) {
    const { system, uploads, clock, tenants } = this.#dependencies;
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
      files: files.map((file) => ({ id: file.id, location: uploads.locationOf(file.id) })),
      data,
      embedOrigins: await tenants.embedOrigins(organizationId),
      branding: await pageLookOf(system, { id: organizationId, name }),
    };
  }
}
