/**
 * A template of documents, with its versions.
 *
 * | from  | event   | to      | effects |
 * |-------|---------|---------|---------|
 * | Saved | REPLACE | Saved   |         |
 * | Saved | REMOVE  | Removed |         |
 *
 * REPLACE adds a version and drops the oldest ones beyond the limits; the same request adds one once. Removed is not stored: the actor ends.
 *
 * Source: docs/decisions/0120-templates.md.
 */
import type { Principal } from '../../contracts/portal/entities.ts';
import type { Millis, OrganizationId, UploadId } from '../ids.ts';
import { recordMachine } from '../record.ts';
import type { UploadContext } from './upload.ts';

export const TEMPLATE_REMOVED = 'Removed';

/** Versions that are kept. */
const MAX_TEMPLATE_VERSIONS = 50;
/** Characters of all versions together, as JSON: a step stores all of them. */
const MAX_TEMPLATE_LENGTH = 1024 * 1024;

export interface TemplateContent {
  readonly name: string;
  /** For those who choose a template. */
  readonly description: string | null;
  /** Days from the creation of a document to its expiry; null = `expirationDate` of the request, if any. */
  readonly expirationDays: number | null;
  /** The creation request as it was sent; the titles of its actions are the roles. */
  readonly document: unknown;
  /** Roles that somebody must take. */
  readonly roles: readonly string[];
  /** The uploads that it names; their files are kept as long as the version is. */
  readonly uploads: readonly (UploadContext & { readonly id: UploadId })[];
}

export interface TemplateVersion extends TemplateContent {
  /** From 1. */
  readonly version: number;
  readonly createdBy: Principal;
  readonly creationDate: Millis;
  /** Names the request with an idempotency key that added it; absent = without a key. */
  readonly request?: string;
}

export interface TemplateContext {
  readonly organizationId: OrganizationId;
  /** Order number: sorts templates by creation. */
  readonly order: number;
  readonly createdBy: Principal;
  readonly creationDate: Millis;
  /** Oldest first; at least one. */
  readonly versions: readonly TemplateVersion[];
}

export type TemplateMessage = { readonly at: Millis } & (
  | {
      readonly type: 'REPLACE';
      readonly content: TemplateContent;
      readonly createdBy: Principal;
      readonly request?: string;
    }
  | { readonly type: 'REMOVE' }
);

export const templateMachine = recordMachine<TemplateContext, TemplateMessage>({
  id: 'template',
  state: 'Saved',
  context: (input) => input,
  changes: {
    REPLACE({ versions }, { content, createdBy, at, request }) {
      // The answer to the request was not stored before the process ended.
      if (request !== undefined && versions.some((one) => one.request === request)) return { context: {} };
      const version = (versions.at(-1)?.version ?? 0) + 1;
      const next: TemplateVersion = {
        ...content,
        version,
        createdBy,
        creationDate: at,
        ...(request && { request }),
      };
      return { context: { versions: withinLimits([...versions, next]) }, note: `Version ${version}` };
    },
  },
  end: { state: TEMPLATE_REMOVED, endedBy: ['REMOVE'] },
});

/** The newest versions within the limits; the newest one in any case. */
function withinLimits(versions: readonly TemplateVersion[]): readonly TemplateVersion[] {
  let length = 0;
  const tooLong = versions.findLastIndex((version) => {
    length += JSON.stringify(version).length;
    return length > MAX_TEMPLATE_LENGTH;
  });
  const first = Math.max(tooLong + 1, versions.length - MAX_TEMPLATE_VERSIONS);
  return versions.slice(Math.min(first, versions.length - 1));
}
