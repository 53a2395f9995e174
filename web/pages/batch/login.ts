/**
 * The login page. Its stylesheet has the same path, because `/login` is the only page for anonymous callers, and the
 * Content-Security-Policy forbids inline styles.
 *
 * Source: docs/batch-values.md §1 row 4 and §10, §0.
 */
import { html } from '../../../contracts/texts/html.ts';

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
  const alert =
    trouble === undefined
      ? ''
      : html`<p class="trouble" role="alert" id="trouble">${LOGIN_ERROR_TEXTS[trouble]}</p>\n`;
  const described = trouble === undefined ? '' : html` aria-describedby="trouble" aria-invalid="true"`;
  const credentials =
    once === undefined
      ? html`<label for="key">API key</label>
<input id="key" name="ApiKey" type="password" required autofocus autocomplete="current-password"${described}>`
      : html`<p>This link logs you in once.</p>
<input name="Once" type="hidden" value="${once}">`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Log in - sealwright</title>
<link rel="icon" href="/favicon.ico">
<link rel="stylesheet" href="/login?part=style">
</head>
<body>
<main>
<h1>sealwright</h1>
<form method="post" action="/api/auth/login">
${alert}${credentials}
<input name="ReturnUrl" type="hidden" value="${returnUrl}">
<button type="submit">Log in</button>
</form>
</main>
</body>
</html>
`.text;
}
