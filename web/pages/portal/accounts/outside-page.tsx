/** Frame of the pages around the sign-in. */
import type { ComponentChildren } from 'preact';
import { Template } from '../../../../contracts/texts/markup.tsx';
import { Brandmark } from '../../../components/surfaces.tsx';
import { type AccountPage, languages } from '../account-frame.ts';
import { portalPage } from '../page-frame.tsx';

/** A card in the middle. @param isFixed the page is not offered in other languages @param script as in `portalPage` */
export function outside(
  page: AccountPage,
  title: string,
  {
    content,
    isFixed = false,
    script,
  }: {
    readonly content: ComponentChildren;
    readonly isFixed?: boolean | undefined;
    readonly script?: string | undefined;
  },
): string {
  const { words, theme } = page;
  return portalPage({
    words,
    title,
    theme,
    kind: 'quiet',
    namesOrigin: true,
    script,
    main: (
      <main id="main" class="notice narrow" tabIndex={-1}>
        <Brandmark name={words.home.title} />
        <h1>{title}</h1>
        {content}
        {!isFixed && <Template of={languages(page)} />}
      </main>
    ),
  });
}
