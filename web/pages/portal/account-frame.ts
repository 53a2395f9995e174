/**
 * Frame of the pages for users who are signed in: navigation, language, sign out. Forms work without scripts, and carry
 * the token of their session.
 */

import type { SignedInUser } from '../../../actors/portal/api.ts';
import type { Language } from '../../../contracts/portal/words.ts';
import { type Html, html } from '../../../contracts/texts/html.ts';
import { TEXTS, type Texts } from '../../../contracts/texts/texts.ts';
import { logoOf, portalPage, type Theme } from './page-frame.tsx';
import { filled, LANGUAGE_NAMES, type PageTexts } from './texts.ts';

/** Name of the form field with the session's token, and of the header in requests of scripts. */
export const FORM_TOKEN = 'formToken';
export const FORM_TOKEN_HEADER = 'x-form-token';

/** Texts and looks of a page for users. */
export interface AccountPage {
  readonly words: PageTexts;
  readonly texts: Texts['account'];
  /** The language of the address; links of the page keep it. Undefined: that of the browser. */
  readonly culture: Language | undefined;
  readonly theme: Theme | undefined;
  /** Path of the page in the navigation. */
  readonly path: string;
  /** Path at which a browser gets the page, without a query. */
  readonly address: string;
}

/** Address of another page in the same language. @param path may have a query and a fragment */
export function addressFrom({ culture }: Pick<AccountPage, 'culture'>, path: string): string {
  if (culture === undefined) return path;
  const [before = '', fragment] = path.split('#');
  const sign = before.includes('?') ? '&' : '?';
  return `${before}${sign}culture=${culture}${fragment === undefined ? '' : `#${fragment}`}`;
}

interface PageLink {
  readonly path: string;
  readonly label: string;
}

/** Pages of each role, in the order of the navigation. */
function pagesOf({ role }: SignedInUser, { texts, words }: AccountPage): readonly PageLink[] {
  const { navigation } = texts;
  const sender = TEXTS[words.language].senders;
  return [
    { path: '/account/documents', label: sender.documents },
    { path: '/account/documents/new', label: sender.newDocument },
    { path: '/account/templates', label: sender.templates.title },
    ...(role === 'administrator'
      ? [
          { path: '/organization', label: navigation.organization },
          { path: '/organization/applications', label: navigation.applications },
          { path: '/organization/branding', label: navigation.branding },
          { path: '/organization/users', label: navigation.users },
        ]
      : []),
  ];
}

/** A page of a user. @param script as in `portalPage` */
export function accountPage(
  page: AccountPage,
  user: SignedInUser,
  content: {
    readonly title: string;
    readonly main: Html;
    readonly script?: string;
    readonly data?: unknown;
  },
): string {
  const { words, texts, theme } = page;
  const { navigation } = texts;
  const { title, main, script, data } = content;
  const links = pagesOf(user, page).map(({ path, label }) => {
    const current = path === page.path ? html` aria-current="page"` : '';
    return html`<a href="${addressFrom(page, path)}"${current}>${label}</a>\n`;
  });
  const logo = user.branding && logoOf(user.branding, '');
  const who = filled(navigation.signedIn, { name: user.name, role: navigation.roles[user.role] });
  return portalPage({
    words,
    title: `${title} - ${user.tenant.organization.name}`,
    theme,
    kind: 'account',
    branding: user.branding,
    ownHeader: true,
    namesOrigin: true,
    script,
    ...(data !== undefined && { data }),
    main: html`<a class="skip" href="#main">${words.skip}</a>
<header class="account-head">
<p class="account-name">${logo ?? ''}<bdi>${user.tenant.organization.name}</bdi></p>
<details class="menu"><summary>${navigation.label}</summary></details>
<nav aria-label="${navigation.label}">
${links}</nav>
<div class="account-user"><span>${who}</span>
${form(page, user, '/sign-out', html`<button type="submit">${navigation.signOut}</button>`)}</div>
</header>
<main id="main" class="account-main" tabindex="-1">
${languages(page)}
<h1><bdi>${title}</bdi></h1>
${main}
</main>`,
  });
}

/** A form that posts to a path, with the token of the session. @param more attributes */
export function form(
  page: Pick<AccountPage, 'culture'>,
  { formToken }: Pick<SignedInUser, 'formToken'>,
  action: string,
  content: Html,
  more: Html = html``,
): Html {
  return html`<form method="post" action="${addressFrom(page, action)}"${more}>
<input type="hidden" name="${FORM_TOKEN}" value="${formToken}">
${content}
</form>`;
}

/** Links to the same page in the other languages. */
export function languages({ words, address }: Pick<AccountPage, 'words' | 'address'>): Html {
  const links = LANGUAGE_NAMES.map(([language, name]) => {
    const current = language === words.language ? html` aria-current="true"` : '';
    return html`<a href="${address}?culture=${language}" lang="${language}" hreflang="${language}"${current}>${name}</a>\n`;
  });
  return html`<nav class="languages" aria-label="${words.languages}">\n${links}</nav>`;
}

/** Result of the last form: above the page, or beside the field at fault. */
export interface AccountNotice {
  readonly kind: 'good' | 'bad';
  readonly text: string;
  readonly form?: RefusedForm;
}

/** A refused form, which is shown again with what was entered. */
export interface RefusedForm {
  /** Path to which it posts. */
  readonly action: string;
  /** By field; without secrets. */
  readonly values: Readonly<Record<string, string>>;
  /** The field at fault. Undefined: the refusal is not about one field. */
  readonly field: string | undefined;
}

export function noticePart(notice: AccountNotice | undefined): Html {
  if (notice === undefined || notice.form?.field !== undefined) return html``;
  const attributes = notice.kind === 'bad' ? html`role="alert" tabindex="-1" autofocus` : html`role="status"`;
  return html`<p class="outcome ${notice.kind}" ${attributes}>${notice.text}</p>\n`;
}

/** A button that asks once more, without a script. */
export function sureForm(
  page: Pick<AccountPage, 'culture'>,
  user: Pick<SignedInUser, 'formToken'>,
  action: string,
  labels: { readonly ask: string; readonly sure: string },
): Html {
  const button = form(page, user, action, html`<button type="submit" class="bad">${labels.sure}</button>`);
  return html`<details class="sure"><summary>${labels.ask}</summary>\n${button}</details>`;
}

/** A time in UTC, to the minute. */
export function utcTime(at: number): Html {
  const text = new Date(at).toISOString();
  return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')}</time>`;
}

/**
 * A table that scrolls by itself on narrow screens.
 * @param hasActions true: the last column has actions, which stay in view
 */
export function accountTable(
  caption: string,
  heads: readonly string[],
  rows: readonly Html[],
  hasActions = false,
): Html {
  const head = heads.map((text) => html`<th scope="col">${text}</th>`);
  return html`<div class="scroll${hasActions ? ' with-actions' : ''}" role="group" aria-label="${caption}" tabindex="0"><table>
<thead><tr>${head}</tr></thead>
<tbody>
${rows}</tbody>
</table></div>`;
}
