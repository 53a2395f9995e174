/** Ids as branded types, parsed once at the interfaces, so that a plain string is never used as an id. */

import type { Branded } from '../contracts/fields.ts';

/** UUID v4, lower case. */
export type JobId = Branded<'JobId'>;
/** Name of an input folder (`Storage:Inputs[].Name`). */
export type FolderName = Branded<'FolderName'>;
/** Name of a signing profile (`Signing:Profiles[].Name`). */
export type ProfileName = Branded<'ProfileName'>;

/** Ids of the portal; UUID v4, lower case. */
export type OrganizationId = Branded<'OrganizationId'>;
export type ApplicationId = Branded<'ApplicationId'>;
export type UploadId = Branded<'UploadId'>;
export type DocumentId = Branded<'DocumentId'>;
export type FlowActionId = Branded<'FlowActionId'>;
/** Identifies a person within one flow: participant, rule user or observer. */
export type UserId = Branded<'UserId'>;
export type FolderId = Branded<'FolderId'>;
export type WebhookId = Branded<'WebhookId'>;

/** Ids of the portal by the kind of resource. */
export interface PortalIds {
  readonly OrganizationId: OrganizationId;
  readonly ApplicationId: ApplicationId;
  readonly UploadId: UploadId;
  readonly DocumentId: DocumentId;
  readonly FlowActionId: FlowActionId;
  readonly UserId: UserId;
  readonly FolderId: FolderId;
  readonly WebhookId: WebhookId;
}

/** Milliseconds since the epoch, UTC. */
export type Millis = number;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Names of folders and profiles. Source: docs/batch-values.md §5, `Storage:Inputs[].Name`. */
const NAME_PATTERN = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;

/** Parses an id of the portal from untrusted text, in either case; undefined when it is invalid. */
export function parsePortalId<Kind extends keyof PortalIds>(
  _kind: Kind,
  text: string,
): PortalIds[Kind] | undefined {
  const lower = text.toLowerCase();
  return UUID.test(lower) ? (lower as PortalIds[Kind]) : undefined;
}

/** Parses a job id from untrusted text; undefined when it is invalid. */
export function parseJobId(text: string): JobId | undefined {
  return UUID.test(text) ? (text as JobId) : undefined;
}

/** Parses a folder name from configuration or a query; undefined when it is invalid. */
export function parseFolderName(text: string): FolderName | undefined {
  return NAME_PATTERN.test(text) ? (text as FolderName) : undefined;
}

/** Parses a profile name from configuration or a request; undefined when it is invalid. */
export function parseProfileName(text: string): ProfileName | undefined {
  return NAME_PATTERN.test(text) ? (text as ProfileName) : undefined;
}
