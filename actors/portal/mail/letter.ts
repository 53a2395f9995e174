/**
 * Text of a mail, rendered as plain text and HTML. The HTML loads no resources and contains no scripts or tracking, only
 * the link of the mail and the organization's logo, which is a part of the mail.
 */

import type { Language } from '../../../contracts/portal/words.ts';
import { type Html, html, lines } from '../../../contracts/texts/html.ts';
import { textOn } from '../shared/contrast.ts';

export interface MailBody {
  readonly subject: string;
  readonly greeting: string;
  readonly paragraphs: readonly string[];
  /** Digits to type in, shown large. */
  readonly code?: string;
  readonly button?: MailLink;
  readonly items?: readonly MailLink[];
  /** Small print. */
  readonly footer: string;
}

export interface MailLink {
  readonly label: string;
  /** http or https. */
  readonly url: string;
}

export function mailBodyText({ greeting, paragraphs, code, button, items, footer }: MailBody): string {
  const parts = [greeting, ...paragraphs];
  if (code !== undefined) parts.push(`    ${code}`);
  if (button !== undefined) parts.push(`${button.label}:\n${button.url}`);
  if (items !== undefined) parts.push(items.map(({ label, url }) => `- ${label}\n  ${url}`).join('\n'));
  return `${[...parts, `-- \n${footer}`].join('\n\n')}\n`;
}

/** Look of an organization's mails. */
export interface MailLook {
  readonly name: string;
  readonly primaryColor: string | null;
  readonly headerColor: string | null;
  readonly logo: { readonly width: number; readonly height: number } | null;
}

/** Content-ID of the logo's part. Source: RFC 2392. */
export const LOGO_CONTENT_ID = 'logo@branding';

/** Height of the logo, pixels. */
const LOGO_HEIGHT = 48;
/** Width of the text, pixels. */
const MAX_WIDTH = 600;

export function mailBodyHtml(mail: MailBody, language: Language, look?: MailLook): string {
  const { subject, greeting, paragraphs, code, button, items, footer } = mail;
  const body = [greeting, ...paragraphs].map((text) => html`<p>${text}</p>`);
  if (code !== undefined) body.push(html`<p class="code" style="${CODE}">${code}</p>`);
  if (button !== undefined) body.push(buttonHtml(button, look?.primaryColor ?? '#1d4ed8'));
  if (items !== undefined) body.push(itemsHtml(items, look?.primaryColor ?? null));
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${subject}</title>
</head>
<body style="margin:0;padding:24px;font-family:system-ui,Arial,sans-serif;font-size:16px;line-height:1.5">
${look && headerHtml(look)}<div role="main" style="max-width:${MAX_WIDTH}px;margin:0 auto">
<h1 style="font-size:20px;line-height:1.3">${subject}</h1>
${lines(body)}
<p style="margin-top:32px;font-size:13px;opacity:.75">${footer}</p>
</div>
</body>
</html>
`.text;
}

const CODE = 'font-size:32px;letter-spacing:8px;font-family:monospace;user-select:all';
const BUTTON = 'display:inline-block;padding:12px 24px;border-radius:6px;color:#ffffff;text-decoration:none';

/** Band with the logo; undefined where the organization has neither logo nor band. */
function headerHtml({ name, headerColor, logo }: MailLook): Html | undefined {
  if (headerColor === null && logo === null) return undefined;
  const band =
    headerColor === null ? '' : `background:${headerColor};color:${textOn(headerColor)};padding:12px 16px;`;
  const scale = logo === null ? 1 : Math.min(1, LOGO_HEIGHT / logo.height, MAX_WIDTH / logo.width);
  const content =
    logo === null
      ? html`<strong>${name}</strong>`
      : html`<img src="cid:${LOGO_CONTENT_ID}" alt="${name}" width="${Math.round(logo.width * scale)}" height="${Math.round(logo.height * scale)}">`;
  return html`<div role="banner" style="${band}max-width:${MAX_WIDTH}px;margin:0 auto 24px">${content}</div>\n`;
}

/** Shows the URL as text too, for comparison and copying. */
function buttonHtml({ label, url }: MailLink, colour: string): Html {
  return html`<p><a href="${url}" style="${BUTTON};background:${colour}">${label}</a></p>
<p style="font-size:13px;word-break:break-all">${url}</p>`;
}

/** Links; buttons in the color of the organization, on which white text has enough contrast in light and dark mails. */
function itemsHtml(items: readonly MailLink[], colour: string | null): Html {
  if (colour === null) return html`<ul>${items.map((item) => html`<li>${linkHtml(item)}</li>`)}</ul>`;
  const buttons = items.map(
    ({ label, url }) =>
      html`<li style="margin:0 0 12px"><a href="${url}" style="${BUTTON};background:${colour}">${label}</a></li>`,
  );
  return html`<ul style="list-style:none;padding:0">${buttons}</ul>`;
}

function linkHtml({ label, url }: MailLink): Html {
  return html`<a href="${url}">${label}</a>`;
}
