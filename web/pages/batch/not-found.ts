/** Page for an unknown path of the operator pages. It needs no credentials, so it shows nothing about the service. */
import { html } from '../../../contracts/texts/html.ts';

/** @param path as requested */
export function notFoundPage(path: string): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Page not found - sealwright</title>
<link rel="icon" href="/favicon.ico">
<link rel="stylesheet" href="/login?part=style">
</head>
<body>
<main>
<h1>Page not found</h1>
<p>This service has no page at <code>${path.slice(0, 200)}</code>. Check the address.</p>
<p><a href="/">Open the overview</a></p>
</main>
</body>
</html>
`.text;
}
