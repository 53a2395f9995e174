/** Sessions in which marks are placed on uploaded files. Source: docs/portal-values.md §20. */
import { defineActor } from '@sealwright/runtime';
import type { NewFile } from '../../../contracts/portal/flow.ts';
import {
  MARKS_SESSION_EXPIRED,
  MARKS_SESSION_LIFETIME_MS,
  marksSessionMachine,
} from '../../../machines/portal/marks-session.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { ORGANIZATION } from '../accounts/organizations.ts';
import type { Tenant, Tenants } from '../api/callers.ts';
import { pageLookOf } from '../branding/branding.ts';
import { type RecordRuntime, Records } from '../shared/records.ts';
import { cleanContentType, cleanName } from '../uploads/upload-names.ts';
import type { Uploads } from '../uploads/uploads.ts';

/** Characters of the request as JSON. */
const MAX_JSON_LENGTH = 256 * 1024;

export const MARKS_SESSION = defineActor('marks-session', {
  machine: marksSessionMachine,
  version: 1,
  ends: ({ state }) => state === MARKS_SESSION_EXPIRED,
});

export class MarksSessionService {
  readonly #records: Records<typeof MARKS_SESSION>;

  /** @param publicUrl gives `Portal:PublicUrl`, without a slash at its end */
  constructor(
    private readonly runtime: RecordRuntime,
    private readonly uploads: Uploads,
    private readonly tenants: Tenants,
    private readonly publicUrl: () => string,
  ) {
    this.#records = new Records(runtime, {
      actor: MARKS_SESSION,
      notFound: 'MarksSessionNotFound',
      // Also while its deadline is still to fire.
      isOver: ({ context }, now) => now - context.createdAt >= MARKS_SESSION_LIFETIME_MS,
    });
  }

  /** Refusals: `UploadNotFound`, `LimitExceeded`. @param data the request as it was sent */
  async create(tenant: Tenant, given: readonly Omit<NewFile, 'displayName'>[], data: unknown) {
    if ((JSON.stringify(data) ?? '').length > MAX_JSON_LENGTH) throw new PortalRefusal('LimitExceeded');
    const organizationId = tenant.organization.id;
    const { id } = await this.#records.create(tenant, undefined, async () => {
      const files = [];
      for (const file of given) {
        const upload = await this.uploads.findUpload(organizationId, file.id);
        const name = cleanName(file.name);
        const contentType = cleanContentType(file.contentType);
        files.push({ id: upload.id, name, contentType });
      }
      return { organizationId, files, data: data ?? null, createdAt: this.runtime.clock.now() };
    });
    return { id, embedUrl: `${this.publicUrl()}/position-marks/${id}?v=1` };
  }

  /** Needs no key: the id grants access. Refusals: `MarksSessionNotFound`, also once its hour is over. */
  async get(given: string) {
    const { actors } = this.runtime;
    const session = await this.#records.read(given);
    if (session === undefined) throw new PortalRefusal('MarksSessionNotFound');
    const { files, data, organizationId } = session.context;
    const organization = await actors.read(ORGANIZATION, organizationId);
    const name = organization?.context.name ?? '';
    return {
      id: session.id,
      files: files.map((file) => ({ id: file.id, location: this.uploads.locationOf(file.id) })),
      data,
      embedOrigins: await this.tenants.embedOrigins(organizationId),
      branding: await pageLookOf(actors, { id: organizationId, name }),
    };
  }
}
