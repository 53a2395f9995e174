/** Declarations of the batch service's operations. */
import type { z } from 'zod';
import { type Called, type Content, type Declaration, type Place, placeOf, type Rest } from '../operation.ts';
import type { RefusalCode } from './refusals.ts';

/** Schema or content of a reply, or the alternatives. */
export type Alternatives = z.ZodType | Content | readonly (z.ZodType | Content)[];

/** One status; `replies`: by status, of which the handler chooses. */
type Replies =
  | {
      readonly reply: z.ZodType | Content;
      /** @default 200 */
      readonly status?: 202;
    }
  | { readonly replies: { readonly [status: number]: Alternatives } };

type BatchDeclaration = Omit<Declaration<RefusalCode>, 'reply'> &
  Replies & {
    /** `page`: a browser without a session is sent to the login page. @default operator */
    readonly auth?: 'operator' | 'page' | 'anonymous';
    /** Rate limit of the caller's address. @default none */
    readonly rate?: 'upload' | 'actions';
    /** Served during overload. @default false */
    readonly exemptFromLoadShedding?: boolean;
    /** Served for any host name, and over http where https is required. @default false */
    readonly exemptFromEntryRules?: boolean;
    /** `form`: fields of a small form; `stream`: the handler reads the form. @default JSON with a schema, none without */
    readonly bodyPolicy?: 'form' | 'stream';
    /** Maximum size of a form, bytes. @default 16 KiB */
    readonly maxBodyBytes?: number;
    /** Code for a path that matches no resource. @default route.not-found */
    readonly unknown?: RefusalCode;
  };

export type BatchOperation = Place<RefusalCode> & BatchDeclaration;

export function operation<const Given extends BatchDeclaration>(called: Called, given: Given) {
  return { ...placeOf(called), ...given };
}

/** As `operation`, for operations that have these members in common. */
export function operationsOf<const Common extends Partial<BatchDeclaration>>(common: Common) {
  return <const Given extends Rest<BatchDeclaration, Common>>(called: Called, given: Given) => ({
    ...placeOf(called),
    ...common,
    ...given,
  });
}
