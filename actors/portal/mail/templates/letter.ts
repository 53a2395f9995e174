/**
 * Text of a mail, rendered as plain text and HTML. The HTML loads no resources and contains no scripts or tracking, only
 * the link of the mail and the organization's logo, which is a part of the mail.
 */
import { textOn } from '../../../../base/contrast.ts';
import type { Language } from '../../../../machines/portal/organization.ts';

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

export function mailBodyHtml(letter: MailBody, language: Language, look?: MailLook): string {
  const { subject, greeting, paragraphs, code, button, items, footer } = letter;
  const body = [greeting, ...paragraphs].map((text) => `<p>${escapeHtml(text)}</p>`);
  if (code !== undefined) body.push(`<p class="code" style="${CODE}">${escapeHtml(code)}</p>`);
  if (button !== undefined) body.push(buttonHtml(button, look?.primaryColor ?? '#1d4ed8'));
  if (items !== undefined)
    body.push(`<ul>${items.map((item) => `<li>${linkHtml(item)}</li>`).join('')}</ul>`);
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(subject)}</title>
</head>
<body style="margin:0;padding:24px;font-family:system-ui,Arial,sans-serif;font-size:16px;line-height:1.5">
${look === undefined ? '' : headerHtml(look)}<div role="main" style="max-width:${MAX_WIDTH}px;margin:0 auto">
<h1 style="font-size:20px;line-height:1.3">${escapeHtml(subject)}</h1>
${body.join('\n')}
<p style="margin-top:32px;font-size:13px;opacity:.75">${escapeHtml(footer)}</p>
</div>
</body>
</html>
`;
}

const CODE = 'font-size:32px;letter-spacing:8px;font-family:monospace;user-select:all';
const BUTTON = 'display:inline-block;padding:12px 24px;border-radius:6px;color:#ffffff;text-decoration:none';

/** Band with the logo; nothing where the organization has neither logo nor band. */
function headerHtml({ name, headerColor, logo }: MailLook): string {
  if (headerColor === null && logo === null) return '';
  const band =
    headerColor === null ? '' : `background:${headerColor};color:${textOn(headerColor)};padding:12px 16px;`;
  const scale = logo === null ? 1 : Math.min(1, LOGO_HEIGHT / logo.height, MAX_WIDTH / logo.width);
  const content =
    logo === null
      ? `<strong>${escapeHtml(name)}</strong>`
      : `<img src="cid:${LOGO_CONTENT_ID}" alt="${escapeHtml(name)}" width="${Math.round(logo.width * scale)}" height="${Math.round(logo.height * scale)}">`;
  return `<div role="banner" style="${band}max-width:${MAX_WIDTH}px;margin:0 auto 24px">${content}</div>\n`;
}

/** Shows the URL as text too, for comparison and copying. */
function buttonHtml({ label, url }: MailLink, colour: string): string {
  const href = escapeHtml(url);
  return `<p><a href="${href}" style="${BUTTON};background:${colour}">${escapeHtml(label)}</a></p>
<p style="font-size:13px;word-break:break-all">${href}</p>`;
}

function linkHtml({ label, url }: MailLink): string {
  return `<a href="${escapeHtml(url)}">${escapeHtml(label)}</a>`;
}

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for HTML, inside and outside of attribute values. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
