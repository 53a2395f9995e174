/**
 * Text of a mail, rendered as plain text and HTML. The HTML loads no resources and contains no scripts or tracking, only
 * the link of the mail and the organization's logo, which is a part of the mail.
 */

import type { Language } from '../../../contracts/portal/words.ts';
import { textOn } from '../shared/contrast.ts';
import { type MailHeader, mailPage } from './mail-page.tsx';

export interface MailBody {
  readonly subject: string;
  readonly greeting: string;
  readonly paragraphs: readonly string[];
  /** Digits to type in, shown large. */
  readonly code?: string;
  readonly button?: MailLink;
  readonly items?: readonly MailLink[];
  /** In small print, beside what is asked. */
  readonly more?: MailLink;
  /** Small print. */
  readonly footer: string;
}

interface MailLink {
  readonly label: string;
  /** http or https. */
  readonly url: string;
}

export function mailBodyText({ greeting, paragraphs, code, button, items, more, footer }: MailBody): string {
  const parts = [greeting, ...paragraphs];
  if (code !== undefined) parts.push(`    ${code}`);
  if (button !== undefined) parts.push(`${button.label}:\n${button.url}`);
  if (items !== undefined) parts.push(items.map(({ label, url }) => `- ${label}\n  ${url}`).join('\n'));
  if (more !== undefined) parts.push(`${more.label}:\n${more.url}`);
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
const MAX_WIDTH = 500;

export function mailBodyHtml(mail: MailBody, language: Language, look?: MailLook): string {
  const { subject, greeting, paragraphs, code, button, items, more, footer } = mail;
  return mailPage({
    language,
    subject,
    paragraphs: [greeting, ...paragraphs],
    code,
    button,
    items,
    more,
    footer,
    brand: look?.primaryColor ?? undefined,
    header: look && headerOf(look),
  });
}

function headerOf({ name, headerColor, logo }: MailLook): MailHeader {
  const scale = logo === null ? 1 : Math.min(1, LOGO_HEIGHT / logo.height, MAX_WIDTH / logo.width);
  return {
    name,
    band: headerColor === null ? undefined : { ground: headerColor, text: textOn(headerColor) },
    logo:
      logo === null
        ? undefined
        : {
            source: `cid:${LOGO_CONTENT_ID}`,
            width: Math.round(logo.width * scale),
            height: Math.round(logo.height * scale),
          },
  };
}
