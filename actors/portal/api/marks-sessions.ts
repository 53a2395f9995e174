/** Sessions for placing the marks of a document before it is created (docs/portal-values.md §20). */
import type { PageBranding } from './branding.ts';
import type { Tenant } from './callers.ts';

export interface MarksSessions {
  /** `data`: the request as it was sent. */
  create(
    tenant: Tenant,
    files: readonly { readonly id: string; readonly name: string; readonly contentType: string }[],
    data: unknown,
  ): Promise<{ readonly id: string; readonly embedUrl: string }>;
  /** No API key: the id grants access for an hour. */
  get(id: string): Promise<{
    readonly id: string;
    readonly files: readonly { readonly id: string; readonly location: string }[];
    readonly data: unknown;
    /** Origins that may frame the page of the session; empty or missing = any. */
    readonly embedOrigins?: readonly string[];
    /** Look of the organization's pages; absent = ours. */
    readonly branding?: PageBranding | undefined;
  }>;
}
