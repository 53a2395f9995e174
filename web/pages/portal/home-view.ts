/** The first page of the portal. Documents are opened by links, so it has no list of them. */

import { html } from '../../../contracts/texts/html.ts';
import { TEXTS } from '../../../contracts/texts/texts.ts';
import { portalPage, type Theme } from './page-frame.ts';
import type { PageTexts } from './texts.ts';

export function homePage(words: PageTexts, theme: Theme | undefined): string {
  const { home, check } = words;
  return portalPage({
    words,
    title: home.title,
    theme,
    kind: 'quiet',
    main: html`<main id="main" class="notice" tabindex="-1">
<h1>${home.title}</h1>
<h2>${home.participants}</h2>
<p>${home.participantsText}</p>
<h2>${check.title}</h2>
<p>${home.checkText}</p>
<p class="ways"><a class="button main" href="/check">${check.title}</a></p>
<h2>${home.senders}</h2>
<p class="ways"><a class="button" href="/sign-in">${TEXTS[words.language].account.signIn.title}</a></p>
<h2>${home.developers}</h2>
<p class="ways"><a class="button" href="/scalar/v1">${home.reference}</a></p>
</main>`,
  });
}
