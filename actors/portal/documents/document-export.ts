/** Reads whole lists of documents, page by page. */
import type { DocumentFilter } from '../../../contracts/portal/document-lists.ts';
import type { DocumentListItem } from '../../../contracts/portal/documents.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Tenant } from '../api/callers.ts';
import type { DocumentQuery } from '../document-records/document-list.ts';
import { ConcurrencyLimit } from '../shared/concurrency-limit.ts';

/** Documents of one export; more are refused. */
const MAX_DOCUMENTS = 100_000;
const PAGE_SIZE = 100;
/** Exports of one organization at once. */
const MAX_AT_ONCE = 2;

type ListDocuments = (tenant: Tenant, query: DocumentQuery) => Promise<Page<DocumentListItem>>;

export class DocumentExports {
  readonly #limit = new ConcurrencyLimit(MAX_AT_ONCE, 'exports');

  constructor(private readonly list: ListDocuments) {}

  /** Refusals, of the first page: `LimitExceeded`, `TooManyRequests`. */
  async *pages(
    tenant: Tenant,
    filter: DocumentFilter & { readonly newestFirst: boolean },
  ): AsyncGenerator<readonly DocumentListItem[]> {
    const release = this.#limit.acquire(tenant.organization.id);
    try {
      let query: DocumentQuery = { ...filter, limit: PAGE_SIZE, offset: 0, position: 'start' };
      for (;;) {
        const { items, totalCount, next } = await this.list(tenant, query);
        if (totalCount > MAX_DOCUMENTS)
          throw new PortalRefusal(
            'LimitExceeded',
            `The filter finds ${totalCount} documents; an export has at most ${MAX_DOCUMENTS}.`,
          );
        yield items;
        if (next === undefined) return;
        query = { ...query, position: next };
      }
    } finally {
      release();
    }
  }
}
