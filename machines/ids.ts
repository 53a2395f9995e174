/** Ids, parsed once at the edge; a plain string never passes where an id is meant. */

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** UUID v4, lower case. */
export type JobId = Branded<'JobId'>;
/** Name of an input folder (`Storage:Inputs[].Name`). */
export type FolderName = Branded<'FolderName'>;
/** Name of a signing profile (`Signing:Profiles[].Name`). */
export type ProfileName = Branded<'ProfileName'>;

/** Of the portal; UUID v4, lower case, each. */
export type OrganizationId = Branded<'OrganizationId'>;
export type ApplicationId = Branded<'ApplicationId'>;
export type UploadId = Branded<'UploadId'>;
export type DocumentId = Branded<'DocumentId'>;
export type FlowActionId = Branded<'FlowActionId'>;
/** A person as one flow names them: participant, rule user or observer. */
export type UserId = Branded<'UserId'>;
export type FolderId = Branded<'FolderId'>;
export type WebhookId = Branded<'WebhookId'>;

/** Ids of the portal by what they name. */
interface PortalIds {
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
/** Names of folders and profiles. Source: batch-gaps §5, `Storage:Inputs[].Name`. */
const NAME_PATTERN = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;

/** Reads an id of the portal from outside text, in either case; undefined when it is not one. */
export function parsePortalId<Kind extends keyof PortalIds>(
  _kind: Kind,
  text: string,
): PortalIds[Kind] | undefined {
  const lower = text.toLowerCase();
  return UUID.test(lower) ? (lower as PortalIds[Kind]) : undefined;
}

/** Reads a job id from outside text; undefined when it is not one. */
export function parseJobId(text: string): JobId | undefined {
  return UUID.test(text) ? (text as JobId) : undefined;
}

/** Reads a folder name from configuration or a query; undefined when it is not one. */
export function parseFolderName(text: string): FolderName | undefined {
  return NAME_PATTERN.test(text) ? (text as FolderName) : undefined;
}

/** Reads a profile name from configuration or a request; undefined when it is not one. */
export function parseProfileName(text: string): ProfileName | undefined {
  return NAME_PATTERN.test(text) ? (text as ProfileName) : undefined;
}
