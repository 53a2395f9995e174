/** Links to the pages of a list. */
import { ButtonLink } from '../../components/controls.tsx';
import { type AccountPage, addressFrom } from './account-frame.ts';

/** @param path of the list; the query has its filters @param fragment where the list begins */
export function Pages({
  page,
  path,
  place: { offset, limit },
  totalCount,
  fragment = '',
}: {
  page: AccountPage;
  path: string;
  /** Pages from 0. */
  place: { readonly offset: number; readonly limit: number };
  totalCount: number;
  fragment?: string;
}) {
  const { newer, older } = page.texts.organization;
  const hasMore = (offset + 1) * limit < totalCount;
  if (offset === 0 && !hasMore) return null;
  const to = (at: number) =>
    addressFrom(page, `${path}${path.includes('?') ? '&' : '?'}offset=${at}${fragment}`);
  return (
    <p class="ways">
      {offset > 0 && <ButtonLink href={to(offset - 1)}>{newer}</ButtonLink>}
      {hasMore && <ButtonLink href={to(offset + 1)}>{older}</ButtonLink>}
    </p>
  );
}
