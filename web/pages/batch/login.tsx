/**
 * The login page. Its stylesheet has the same path, because `/login` is the only page for anonymous callers, and the
 * Content-Security-Policy forbids inline styles.
 *
 * Source: docs/batch-values.md §1 row 4 and §10, §0.
 */
import type { ComponentChildren } from 'preact';
import { documentText } from '../../../contracts/texts/markup.tsx';
import { Button, ButtonLink, Field } from '../../components/controls.tsx';
import { DocumentHead } from '../../components/head.tsx';
import { Brandmark } from '../../components/surfaces.tsx';

/** Cause of a repeated login page. */
export type LoginError = 'invalid' | 'used' | 'server' | 'limited' | 'misconfigured';

const LOGIN_ERROR_TEXTS: { readonly [Trouble in LoginError]: string } = {
  invalid: 'That key is not right. Check it and try again.',
  used: 'This login link was used already or has expired. Log in with the API key.',
  server: 'The service could not log you in because of a fault of its own. Try again shortly.',
  limited: 'There were too many wrong keys from here. Wait a minute, then try again.',
  misconfigured: 'No API key is configured, so nobody can log in. Set Auth:ApiKey and restart the service.',
};

/**
 * Builds the page. `returnUrl`: redirect target after login, already checked to be local. `once`: token of a login
 * link, which replaces the key. `providers`: names of identity providers.
 */
export function loginPage(
  returnUrl: string,
  trouble: LoginError | undefined,
  once?: string,
  providers: readonly string[] = [],
): string {
  return openPage(
    'Log in - sealwright',
    <>
      <h1>Log in</h1>
      <form method="post" action="/api/auth/login">
        {once === undefined ? (
          <Field
            id="key"
            name="ApiKey"
            type="password"
            label="API key"
            error={trouble && LOGIN_ERROR_TEXTS[trouble]}
            required
            autoFocus
            autoComplete="current-password"
          />
        ) : (
          <>
            {trouble && (
              <p class="error" role="alert">
                {LOGIN_ERROR_TEXTS[trouble]}
              </p>
            )}
            <p>This link logs you in once.</p>
            <input name="Once" type="hidden" value={once} />
          </>
        )}
        <input name="ReturnUrl" type="hidden" value={returnUrl} />
        <Button type="submit" rank="main" big>
          Log in
        </Button>
      </form>
      {providers.map((name) => (
        <p>
          <ButtonLink href={`/login/${name}?ReturnUrl=${encodeURIComponent(returnUrl)}`}>
            Log in with {name}
          </ButtonLink>
        </p>
      ))}
    </>,
  );
}

/** Leads on by itself. @param to a path of this service, or an address of the identity provider */
export function onwardPage(to: string, text: string): string {
  return openPage(
    'One moment - sealwright',
    <>
      <h1>One moment</h1>
      <p>{text}</p>
      <p class="ways">
        <ButtonLink href={to} rank="main">
          Continue
        </ButtonLink>
      </p>
    </>,
    to,
  );
}

const PROVIDER_TEXTS = {
  unavailable:
    'The identity provider cannot be reached or refuses this service, so nobody can log in there. Who is logged in stays logged in. Try again in a few minutes, or log in with the API key.',
  denied: 'The identity provider did not log you in. Try again, or ask its administrator for access.',
  refused:
    'This login is over: it was begun in another browser, was used already, or took too long. Log in again.',
  role: 'None of your groups at the identity provider gives you access. Ask its administrator.',
  groups:
    'You are in too many groups for the identity provider to name them. Ask its administrator to limit the groups that it sends.',
  address: 'Your e-mail address is not verified, or it is not of a domain that may log in.',
} as const;
export type ProviderTrouble = keyof typeof PROVIDER_TEXTS;

export function providerTroublePage(provider: string, trouble: ProviderTrouble): string {
  return openPage(
    'Log in - sealwright',
    <>
      <h1>Log in with {provider}</h1>
      <p role="alert">{PROVIDER_TEXTS[trouble]}</p>
      <p class="ways">
        <ButtonLink href="/login" rank="main">
          Log in
        </ButtonLink>
      </p>
    </>,
  );
}

/** A page for callers without credentials. It shows nothing about the service. @param onward address to which it leads at once */
export function openPage(title: string, content: ComponentChildren, onward?: string): string {
  return documentText(
    <html lang="en">
      <DocumentHead title={title} icon="/favicon.ico" styles={['/login?part=style']} onward={onward} />
      <body>
        <main>
          <Brandmark name="sealwright" />
          <div class="card">
            <div class="body">{content}</div>
          </div>
        </main>
      </body>
    </html>,
  );
}
