/** The first page of the portal. Documents are opened by links, so it has no list of them. */
import { TEXTS } from '../../../contracts/texts/texts.ts';
import { ButtonLink } from '../../components/controls.tsx';
import { WAITING_PATH } from './forms/waiting-view.tsx';
import { portalPage, type Theme } from './page-frame.tsx';
import type { PageTexts } from './texts.ts';

export function homePage(words: PageTexts, theme: Theme | undefined): string {
  const { home, check } = words;
  return portalPage({
    words,
    title: home.title,
    theme,
    kind: 'quiet',
    main: (
      <main id="main" class="notice" tabIndex={-1}>
        <h1>{home.title}</h1>
        <h2>{home.participants}</h2>
        <p>{home.participantsText}</p>
        <p class="ways">
          <ButtonLink href={WAITING_PATH}>{words.waiting.title}</ButtonLink>
        </p>
        <h2>{check.title}</h2>
        <p>{home.checkText}</p>
        <p class="ways">
          <ButtonLink href="/check" rank="main" icon="file-search">
            {check.title}
          </ButtonLink>
        </p>
        <h2>{home.senders}</h2>
        <p class="ways">
          <ButtonLink href="/sign-in">{TEXTS[words.language].account.signIn.title}</ButtonLink>
        </p>
        <h2>{home.developers}</h2>
        <p class="ways">
          <ButtonLink href="/scalar/v1">{home.reference}</ButtonLink>
        </p>
      </main>
    ),
  });
}
