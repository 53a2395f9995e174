/** Declarations of the portal's operations. */
import { type Called, type Declaration, type Place, placeOf, type Rest } from '../operation.ts';
import type { PortalRefusalCode } from './refusals.ts';

/** Groups of requests that a key may make. */
export const KEY_SCOPES = ['Read', 'Create', 'Sign', 'Administer', 'Provision'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** Requirements for a key. */
export interface KeyAccess {
  /**
   * Scope that a key needs: `Read` changes nothing; `Sign` acts for a participant, or gives the addresses with which
   * anybody can; `Administer` changes organizations, webhooks, users or applications; `Create` is everything else.
   * `Provision` is for no operation here: it lets an identity service keep users and groups (SCIM).
   */
  readonly scope: KeyScope;
  /** Scope that the session of a user needs: senders must not read webhooks, users and keys. @default `scope` */
  readonly sessionScope?: KeyScope;
  /**
   * True: keys that are restricted to folders may call it, because it reaches documents by their id, key or filter. All
   * other operations refuse them, because they return or change data of the whole organization. @default false
   */
  readonly folderKeys?: boolean;
}

type PortalDeclaration = Declaration<PortalRefusalCode> &
  (
    | (KeyAccess & {
        /** Role of the key, or `known-or-ticket`: requests without a key have a ticket. @default application */
        readonly auth?: 'application' | 'monitor' | 'administrator' | 'known-or-ticket';
      })
    | { readonly auth: 'anonymous' | 'editor' }
  ) & {
    /** Rate limit of the caller's address. @default none */
    readonly rate?: 'upload' | 'validation' | 'visit';
    /** True: a request with an `Idempotency-Key` happens once; the handler gets a seed for its ids. @default false */
    readonly idempotent?: boolean;
    /** True: bodies up to 8 MiB are accepted, and a worker thread parses the larger ones. @default false */
    readonly largeBody?: boolean;
    /** Maximum size of the body, bytes. @default that of the conventions */
    readonly maxBodyBytes?: number;
    /** The handler reads the body itself, as a form or as JSON. @default `json` with a schema, `none` without */
    readonly bodyPolicy?: 'stream' | 'json-stream';
  };

export type PortalOperation = Place<PortalRefusalCode> & PortalDeclaration;

/** Request headers that select the range of a file. */
export const FILE_HEADERS = ['range', 'if-range', 'if-none-match'];

export function operation<const Given extends PortalDeclaration>(called: Called, given: Given) {
  return { ...placeOf(called), ...given };
}

/** As `operation`, for operations that have these members in common. */
export function operationsOf<const Common extends Partial<PortalDeclaration>>(common: Common) {
  return <const Given extends Rest<PortalDeclaration, Common>>(called: Called, given: Given) => ({
    ...placeOf(called),
    ...common,
    ...given,
  });
}

/** Names an operation, for idempotency keys and for the thread that parses large bodies. */
export function nameOf({ method, path }: Pick<PortalOperation, 'method' | 'path'>): string {
  return `${method} ${path}`;
}
