/**
 * Text of a mail, rendered as plain text and HTML. The HTML loads no resources and contains no images, scripts or
 * tracking, only the link of the mail.
 */
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

export function mailBodyHtml(letter: MailBody, language: Language): string {
  const { subject, greeting, paragraphs, code, button, items, footer } = letter;
  const body = [greeting, ...paragraphs].map((text) => `<p>${escapeHtml(text)}</p>`);
  if (code !== undefined) body.push(`<p class="code" style="${CODE}">${escapeHtml(code)}</p>`);
  if (button !== undefined) body.push(buttonHtml(button));
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
<div role="main" style="max-width:600px;margin:0 auto">
<h1 style="font-size:20px;line-height:1.3">${escapeHtml(subject)}</h1>
${body.join('\n')}
<p style="margin-top:32px;font-size:13px;opacity:.75">${escapeHtml(footer)}</p>
</div>
</body>
</html>
`;
}

const CODE = 'font-size:32px;letter-spacing:8px;font-family:monospace;user-select:all';
const BUTTON =
  'display:inline-block;padding:12px 24px;border-radius:6px;background:#1d4ed8;color:#ffffff;text-decoration:none';

/** Shows the URL as text too, for comparison and copying. */
function buttonHtml({ label, url }: MailLink): string {
  const href = escapeHtml(url);
  return `<p><a href="${href}" style="${BUTTON}">${escapeHtml(label)}</a></p>
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
