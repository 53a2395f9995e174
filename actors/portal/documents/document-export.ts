/** Reads whole lists of documents, page by page. */
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Tenant } from '../api/callers.ts';
import type { DocumentFilter, DocumentListItem, PortalDocuments } from '../api/documents.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';

/** Documents of one export; more are refused. */
const MAX_DOCUMENTS = 100_000;
const PAGE_SIZE = 100;
/** Exports of one organization at once. */
const MAX_AT_ONCE = 2;

export class DocumentExports {
  readonly #list: PortalDocuments['list'];
  readonly #limit = new ConcurrencyLimit(MAX_AT_ONCE, 'exports');

  constructor(list: PortalDocuments['list']) {
    this.#list = list;
  }

  /** Refusals, of the first page: `LimitExceeded`, `TooManyRequests`. */
  async *pages(
    tenant: Tenant,
    filter: DocumentFilter & { readonly newestFirst: boolean },
  ): AsyncGenerator<readonly DocumentListItem[]> {
    const release = this.#limit.acquire(tenant.organization.id);
    try {
      let query = { ...filter, limit: PAGE_SIZE, offset: 0, position: 'start' } as Parameters<
        PortalDocuments['list']
      >[1];
      for (;;) {
        const { items, totalCount, next } = await this.#list(tenant, query);
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
