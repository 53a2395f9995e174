/** Pages on which users ask for a link and sign in, and the page about their account. */
import type {
  FactorState,
  PasskeyRequest,
  SessionView,
  SignedInUser,
  SignInLinkView,
} from '../../../actors/portal/api.ts';
import { Button, ButtonLink, Field } from '../../components/controls.tsx';
import { Facts } from '../../components/surfaces.tsx';
import { Notice, OWN_SESSIONS, SIGN_IN_AGAIN } from './account-form.tsx';
import { type AccountNotice, type AccountPage, accountPage, addressFrom } from './account-frame.ts';
import { outside } from './accounts/outside-page.tsx';
import { PASSKEY_SCRIPT, PasskeyForm } from './accounts/passkey-form.tsx';
import { FactorCard } from './accounts/second-factor-view.tsx';
import { noticePage } from './notice-view.tsx';
import { portalPage } from './page-frame.tsx';
import { SessionTable } from './sessions-view.tsx';
import { filled } from './texts.ts';

/**
 * @param page its address is `/sign-in`, or the one that proves the person anew
 * @param isBusy too many requests came from the address
 * @param buttons providers that no domain leads to
 * @param hasProviders an address can lead to a provider
 * @param request of any passkey; undefined where browsers have none
 */
export function signInPage(
  page: AccountPage,
  {
    isBusy,
    buttons,
    hasProviders,
    request,
    isRefused = false,
  }: {
    isBusy: boolean;
    buttons: readonly string[];
    hasProviders: boolean;
    request: PasskeyRequest | undefined;
    /** The answer of a passkey was refused. */
    isRefused?: boolean;
  },
): string {
  const { signIn } = page.texts;
  return outside(page, signIn.title, {
    content: (
      <>
        {isBusy && (
          <p class="trouble" role="alert">
            {page.words.failure.busy.text}
          </p>
        )}
        {isRefused && (
          <p class="trouble" role="alert">
            {page.texts.secondFactor.passkey.refused}
          </p>
        )}
        <p>{hasProviders ? signIn.introProviders : signIn.intro}</p>
        <form method="post" action={addressFrom(page, page.address)}>
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
            {hasProviders ? signIn.onward : signIn.button}
          </Button>
        </form>
        {buttons.map((name) => (
          <p>
            <ButtonLink href={addressFrom(page, page.address.replace('/sign-in', `/sign-in/${name}`))}>
              {filled(signIn.providerButton, { provider: name })}
            </ButtonLink>
          </p>
        ))}
        {request !== undefined && (
          <PasskeyForm page={page} options={request} action="/sign-in/passkey" isMain={false}>
            {page.texts.secondFactor.passkey.signIn}
          </PasskeyForm>
        )}
      </>
    ),
    isFixed: false,
    script: request && PASSKEY_SCRIPT,
  });
}

/** Leads on by itself. @param to relative to the address of the page, or of another site */
export function onwardPage(page: AccountPage, { to, text }: { to: string; text: string }): string {
  const { words, theme, texts } = page;
  return portalPage({
    words,
    theme,
    title: texts.signIn.onwardTitle,
    kind: 'quiet',
    onward: to,
    main: (
      <main id="main" class="notice" tabIndex={-1}>
        <h1>{texts.signIn.onwardTitle}</h1>
        <p>{text}</p>
        <p>
          <ButtonLink href={to} rank="main">
            {texts.signIn.onward}
          </ButtonLink>
        </p>
      </main>
    ),
  });
}

/** A link was mailed to the user who has the address. */
export function confirmPage({ words, theme, texts }: AccountPage, provider: string): string {
  const { confirmTitle: title, confirmText } = texts.signIn;
  return noticePage({
    words,
    theme,
    icon: 'mail',
    message: { title, text: filled(confirmText, { provider }) },
  });
}

/** @param email where mailed links are open: the address, if it is known, to which one can be sent */
export function providerFailurePage(
  page: AccountPage,
  given: {
    readonly provider: string;
    readonly why: keyof AccountPage['texts']['signIn']['failures'];
    readonly email?: string;
  },
): string {
  const { provider, why, email } = given;
  const { signIn } = page.texts;
  const { title, text } = signIn.failures[why];
  return outside(page, filled(title, { provider }), {
    content: (
      <>
        <p>{filled(text, { provider })}</p>
        <p>
          <ButtonLink href={addressFrom(page, WAYS_ON[why] ?? '/sign-in')}>{signIn.title}</ButtonLink>
        </p>
        {email !== undefined && email !== '' && (
          <form method="post" action={addressFrom(page, '/sign-in')}>
            <input type="hidden" name="email" value={email} />
            <input type="hidden" name="by" value="mail" />
            <Button type="submit">{signIn.mailInstead}</Button>
          </form>
        )}
      </>
    ),
    isFixed: true,
  });
}

/** Ways on from some failures. An answer that was used, as by a reload, has mostly signed this browser in. */
const WAYS_ON: { readonly [why in keyof AccountPage['texts']['signIn']['failures']]?: string } = {
  unproven: SIGN_IN_AGAIN,
  refused: '/account',
};

/** The same page for every address. */
export function linkSentPage(page: AccountPage): string {
  const { words, theme, texts } = page;
  const { signIn } = texts;
  return noticePage({
    words,
    theme,
    icon: 'mail',
    message: { title: signIn.sentTitle, text: signIn.sentText },
    ways: [{ href: addressFrom(page, '/sign-in'), text: signIn.again }],
  });
}

/**
 * Only its buttons use the link up, because mail scanners and previews open links.
 * @param provider the one whose identity the link confirms in this browser, if it has no organizations
 */
export function linkPage(
  page: AccountPage,
  ticket: string,
  link: SignInLinkView | undefined,
  provider?: string,
): string {
  const { words, theme, texts } = page;
  const { signIn } = texts;
  const confirmed = link?.confirms === true ? provider : undefined;
  if (link !== undefined && confirmed !== undefined)
    return outside(page, signIn.title, {
      content: (
        <>
          <p>{filled(signIn.confirmLinkText, { name: link.name, provider: confirmed })}</p>
          <form method="post" action={addressFrom(page, '/sign-in/link')}>
            <input type="hidden" name="ticket" value={ticket} />
            <Button type="submit" rank="main" big>
              {filled(signIn.providerButton, { provider: confirmed })}
            </Button>
          </form>
        </>
      ),
      isFixed: true,
    });
  if (link === undefined || link.organizations.length === 0) {
    return noticePage({
      words,
      theme,
      icon: 'link-2-off',
      message: { title: signIn.usedTitle, text: signIn.usedText },
      ways: [{ href: addressFrom(page, '/sign-in'), text: signIn.again }],
    });
  }
  return outside(page, signIn.title, {
    content: (
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
      </>
    ),
    isFixed: true,
  });
}

export function myAccountPage(
  page: AccountPage,
  user: SignedInUser,
  {
    sessions,
    factor,
    takesPasskeys,
    notice,
  }: {
    readonly sessions: readonly SessionView[];
    readonly factor: FactorState | undefined;
    /** False where browsers have no passkeys for this address. */
    readonly takesPasskeys: boolean;
    readonly notice: AccountNotice | undefined;
  },
): string {
  const { account, navigation } = page.texts;
  return accountPage(page, user, {
    title: account.title,
    main: (
      <>
        <Notice page={page} notice={notice} />
        <Facts
          pairs={[
            [account.email, user.email],
            [account.organization, user.tenant.organization.name],
            [account.role, navigation.roles[user.role]],
          ]}
        />
        <FactorCard of={{ page, user }} state={factor} takesPasskeys={takesPasskeys} />
        <SessionTable of={{ page, user }} action={OWN_SESSIONS} sessions={sessions} />
      </>
    ),
  });
}

/** For requests that the role does not allow, and forms of an ended session. */
export function notAllowedPage({ words, texts, theme }: AccountPage): string {
  const { notAllowed, account } = texts;
  const ways = [{ href: '/account', text: account.title }];
  return noticePage({ words, theme, message: notAllowed, icon: 'ban', ways });
}
