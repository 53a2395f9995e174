/** Messages between the main thread and the worker that parses large bodies. */
import type { WithIgnored } from '../../../contracts/ignored-members.ts';
import type { PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import type { BodyCredentials } from '../../core/router.ts';

export type BodyTask =
  | { readonly task: 'credentials'; readonly bytes: Uint8Array }
  | { readonly task: 'body'; readonly schema: string; readonly bytes: Uint8Array };

/** A refusal: `BadRequest`, or that of a bound. */
interface BodyFault {
  readonly code: PortalRefusalCode;
  readonly message: string;
  readonly errors: { readonly [member: string]: readonly string[] } | undefined;
}

/** The value is the result of the schema; bytes are `Uint8Array`. */
export interface ReadBody extends WithIgnored<unknown> {
  /** SHA-256 of the received JSON value, hex. */
  readonly fingerprint: string;
}

export type BodyAnswer =
  | { readonly fault: BodyFault }
  | { readonly credentials: BodyCredentials }
  | { readonly body: ReadBody };
