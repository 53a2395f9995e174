/** The page around the list of documents. */
import type { SignedInUser } from '../../../../actors/portal/api.ts';
import { type AccountPage, accountPage } from '../account-frame.ts';
import { type DocumentsData, DocumentsView } from './documents.tsx';
import { RelativeTimes } from './relative-times.tsx';

export function documentsPage(page: AccountPage, user: SignedInUser, data: DocumentsData): string {
  const { filters, counts, draftsCount, folders, texts } = data;
  const current = filters.folder === '' ? '' : `?folder=${filters.folder}`;
  return accountPage(page, user, {
    title: texts.list.title,
    hasHeading: true,
    script: 'documents.js',
    data,
    facts: {
      all: counts.all,
      drafts: draftsCount,
      folders,
      current: `/account/documents${filters.show === 'drafts' ? '?show=drafts' : current}`,
    },
    main: (
      <RelativeTimes language={data.language} now={data.now}>
        <DocumentsView data={data} />
      </RelativeTimes>
    ),
  });
}
