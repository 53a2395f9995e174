/** Sessions in which somebody places the marks of a document to be (portal-gaps §20). */
import type { Tenant } from './callers.ts';

export interface MarksSessions {
  /** `data`: the request as it was sent. */
  create(
    tenant: Tenant,
    files: readonly { readonly id: string; readonly name: string; readonly contentType: string }[],
    data: unknown,
  ): Promise<{ readonly id: string; readonly embedUrl: string }>;
  /** No key: whoever has the id may see it for an hour. */
  get(id: string): Promise<{
    readonly id: string;
    readonly files: readonly { readonly id: string; readonly location: string }[];
    readonly data: unknown;
    /** Origins that may frame the page of the session; empty or missing = any. */
    readonly embedOrigins?: readonly string[];
  }>;
}
