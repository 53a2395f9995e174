/** Pages on which users ask for a link and sign in, and the page about their account. */
import type { ComponentChildren } from 'preact';
import type { SignedInUser, SignInLinkView } from '../../../actors/portal/api.ts';
import { html } from '../../../contracts/texts/html.ts';
import { Template } from '../../../contracts/texts/markup.tsx';
import { Button, Field } from '../../components/controls.tsx';
import { Brandmark } from '../../components/surfaces.tsx';
import { type AccountPage, accountPage, addressFrom, languages } from './account-frame.ts';
import { noticePage } from './notice-view.tsx';
import { portalPage } from './page-frame.tsx';
import { filled } from './texts.ts';

/** @param isBusy too many requests came from the address */
export function signInPage(page: AccountPage, isBusy = false): string {
  const { signIn } = page.texts;
  return outside(
    page,
    signIn.title,
    <>
      {isBusy && (
        <p class="trouble" role="alert">
          {page.words.failure.busy.text}
        </p>
      )}
      <p>{signIn.intro}</p>
      <form method="post" action={addressFrom(page, '/sign-in')}>
        <Field
          id="email"
          name="email"
          type="email"
          label={signIn.email}
          required
          maxLength={255}
          autoComplete="email"
          spellcheck={false}
        />
        <Button type="submit" rank="main" big>
          {signIn.button}
        </Button>
      </form>
    </>,
  );
}

/** The same page for every address. */
export function linkSentPage(page: AccountPage): string {
  const { words, theme, texts } = page;
  const { signIn } = texts;
  return noticePage({
    ...{ words, theme, icon: 'mail', message: { title: signIn.sentTitle, text: signIn.sentText } },
    ways: [{ href: addressFrom(page, '/sign-in'), text: signIn.again }],
  });
}

/** Only its buttons use the link up, because mail scanners and previews open links. */
export function linkPage(page: AccountPage, ticket: string, link: SignInLinkView | undefined): string {
  const { words, theme, texts } = page;
  const { signIn } = texts;
  if (link === undefined || link.organizations.length === 0) {
    return noticePage({
      ...{ words, theme, icon: 'link-2-off', message: { title: signIn.usedTitle, text: signIn.usedText } },
      ways: [{ href: addressFrom(page, '/sign-in'), text: signIn.again }],
    });
  }
  return outside(
    page,
    signIn.title,
    <>
      <p>{filled(signIn.linkText, { name: link.name })}</p>
      {link.organizations.map(({ id, name }) => (
        <form method="post" action={addressFrom(page, '/sign-in/link')}>
          <input type="hidden" name="ticket" value={ticket} />
          <input type="hidden" name="organization" value={id} />
          <Button type="submit" rank="main" big>
            {filled(signIn.linkButton, { organization: name })}
          </Button>
        </form>
      ))}
    </>,
    true,
  );
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
  const ways = [{ href: '/account', text: account.title }];
  return noticePage({ words, theme, message: notAllowed, icon: 'ban', ways });
}

/** A card in the middle. @param isFixed the page is not offered in other languages */
function outside(page: AccountPage, title: string, content: ComponentChildren, isFixed = false): string {
  const { words, theme } = page;
  return portalPage({
    words,
    title,
    theme,
    kind: 'quiet',
    namesOrigin: true,
    main: (
      <main id="main" class="notice narrow" tabIndex={-1}>
        {!isFixed && <Template of={languages(page)} />}
        <Brandmark name={words.home.title} />
        <h1>{title}</h1>
        {content}
      </main>
    ),
  });
}
