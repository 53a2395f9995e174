/**
 * The login page. Its stylesheet has the same path, because `/login` is the only page for anonymous callers, and the
 * Content-Security-Policy forbids inline styles.
 *
 * Source: docs/batch-values.md §1 row 4 and §10, §0.
 */
import type { ComponentChildren } from 'preact';
import { documentText } from '../../../contracts/texts/markup.tsx';
import { Button, Field } from '../../components/controls.tsx';
import { Brandmark } from '../../components/surfaces.tsx';

/** Cause of a repeated login page. */
export type LoginError = 'invalid' | 'used' | 'server' | 'limited' | 'misconfigured';

const LOGIN_ERROR_TEXTS: { readonly [Trouble in LoginError]: string } = {
  invalid: 'That key is not right. Check it and try again.',
  used: 'This login link was used already, or its time is over. Log in with the API key.',
  server: 'The service could not log you in because of a fault of its own. Try again shortly.',
  limited: 'There were too many wrong keys from here. Wait a minute, then try again.',
  misconfigured: 'No API key is configured, so nobody can log in. Set Auth:ApiKey and restart the service.',
};

/**
 * Builds the page. `returnUrl`: redirect target after login, already checked to be local. `once`: token of a login
 * link, which replaces the key.
 */
export function loginPage(returnUrl: string, trouble: LoginError | undefined, once?: string): string {
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
    </>,
  );
}

/** A page for callers without credentials. It shows nothing about the service. */
export function openPage(title: string, content: ComponentChildren): string {
  return documentText(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        {/* Forms name their origin: some browsers send no Sec-Fetch-Site. */}
        <meta name="referrer" content="same-origin" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        <link rel="icon" href="/favicon.ico" />
        <link rel="stylesheet" href="/login?part=style" />
      </head>
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
