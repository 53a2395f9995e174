/** Pages on which users ask for a link and sign in, and the page about their account. */

import type { SignedInUser, SignInLinkView } from '../../../actors/portal/api.ts';
import { type Html, html } from '../../../contracts/texts/html.ts';
import { type AccountPage, accountPage, addressFrom, languages } from './account-frame.ts';
import { message, portalPage } from './page-frame.ts';
import { filled } from './texts.ts';

/** @param isBusy too many requests came from the address */
export function signInPage(page: AccountPage, isBusy = false): string {
  const { signIn } = page.texts;
  const alert = isBusy ? html`<p class="trouble" role="alert">${page.words.failure.busy.text}</p>\n` : '';
  return outside(
    page,
    signIn.title,
    html`${alert}<p>${signIn.intro}</p>
<form method="post" action="${addressFrom(page, '/sign-in')}">
<p><label for="email">${signIn.email}</label>
<input id="email" name="email" type="email" required maxlength="255" autocomplete="email" spellcheck="false"></p>
<p class="ways"><button type="submit" class="main">${signIn.button}</button></p>
</form>`,
  );
}

/** The same page for every address. */
export function linkSentPage(page: AccountPage): string {
  const { signIn } = page.texts;
  return outside(
    page,
    signIn.sentTitle,
    html`<p>${signIn.sentText}</p>
<p class="ways"><a class="button" href="${addressFrom(page, '/sign-in')}">${signIn.again}</a></p>`,
  );
}

/** Only its buttons use the link up, because mail scanners and previews open links. */
export function linkPage(page: AccountPage, ticket: string, link: SignInLinkView | undefined): string {
  const { signIn } = page.texts;
  if (link === undefined || link.organizations.length === 0) {
    const again = html`<p class="ways"><a class="button main" href="${addressFrom(page, '/sign-in')}">${signIn.again}</a></p>`;
    return outside(page, signIn.usedTitle, html`<p>${signIn.usedText}</p>\n${again}`);
  }
  const forms = link.organizations.map(
    ({ id, name }) => html`<form method="post" action="${addressFrom(page, '/sign-in/link')}">
<input type="hidden" name="ticket" value="${ticket}">
<input type="hidden" name="organization" value="${id}">
<p class="ways"><button type="submit" class="main">${filled(signIn.linkButton, { organization: name })}</button></p>
</form>\n`,
  );
  const text = filled(signIn.linkText, { name: link.name });
  return outside(page, signIn.title, html`<p>${text}</p>\n${forms}`, true);
}

export function myAccountPage(page: AccountPage, user: SignedInUser): string {
  const { account, navigation } = page.texts;
  return accountPage(page, user, {
    title: account.title,
    main: html`<dl class="facts">
<dt>${account.email}</dt><dd>${user.email}</dd>
<dt>${account.organization}</dt><dd>${user.tenant.organization.name}</dd>
<dt>${account.role}</dt><dd>${navigation.roles[user.role]}</dd>
</dl>`,
  });
}

/** For requests that the role does not allow, and forms of an ended session. */
export function notAllowedPage({ words, texts, theme }: AccountPage): string {
  const { notAllowed, account } = texts;
  const more = html`<p class="ways"><a class="button" href="/account">${account.title}</a></p>\n`;
  const main = message(notAllowed, more);
  return portalPage({ words, title: notAllowed.title, theme, kind: 'quiet', main });
}

function outside(page: AccountPage, title: string, content: Html, isFixed = false): string {
  const { words, theme } = page;
  const switching = isFixed ? html`` : languages(page);
  return portalPage({
    words,
    title,
    theme,
    kind: 'quiet',
    main: html`<main id="main" class="notice" tabindex="-1">\n${switching}\n<h1>${title}</h1>\n${content}\n</main>`,
  });
}
