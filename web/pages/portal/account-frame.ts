/**
 * Frame of the pages for users who are signed in: navigation, language, sign out. Forms work without scripts, and carry
 * the token of their session.
 */

import type { SignedInUser } from '../../../actors/portal/api.ts';
import type { Language } from '../../../contracts/portal/words.ts';
import { type Html, html } from '../../../contracts/texts/html.ts';
import type { Content } from '../../../contracts/texts/markup.tsx';
import { TEXTS, type Texts } from '../../../contracts/texts/texts.ts';
import { maySend } from '../../../machines/portal/accounts/user-rights.ts';
import type { LinkGroup } from '../../components/navigation.tsx';
import { accountShell } from './account-shell.tsx';
import { portalPage, type Theme } from './page-frame.tsx';
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
  /** Address at which a browser gets the page, without its language. */
  readonly address: string;
}

/** Address of another page in the same language. @param path may have a query and a fragment */
export function addressFrom({ culture }: Pick<AccountPage, 'culture'>, path: string): string {
  if (culture === undefined) return path;
  const [before = '', fragment] = path.split('#');
  const sign = before.includes('?') ? '&' : '?';
  return `${before}${sign}culture=${culture}${fragment === undefined ? '' : `#${fragment}`}`;
}

/** Counts and folders of the navigation, where the page has read them. */
export interface NavigationInfo {
  /** Address of the link that is current, where the path does not tell. */
  readonly current: string;
  readonly all?: number;
  readonly drafts?: number;
  readonly folders: readonly { readonly id: string; readonly name: string }[];
}

/** Folders in the navigation; each list has the others in its filters. */
const FOLDERS_SHOWN = 50;

/** Pages of each role, in groups. */
function groupsOf({ role }: SignedInUser, page: AccountPage, facts?: NavigationInfo): readonly LinkGroup[] {
  const { texts, words } = page;
  const { navigation } = texts;
  const sender = TEXTS[words.language].senders;
  const link = (path: string, text: string, icon: LinkGroup['links'][number]['icon'], count?: number) => ({
    href: addressFrom(page, path),
    text,
    icon,
    count,
    isCurrent: path === (facts?.current ?? page.path),
  });
  const folders = facts?.folders ?? [];
  return [
    {
      name: sender.documents,
      links: [
        link('/account/documents', navigation.all, 'inbox', facts?.all),
        link('/account/documents?show=drafts', sender.drafts, 'pen-line', facts?.drafts),
        link('/account/templates', sender.templates.title, 'layout-template'),
      ],
    },
    ...(folders.length === 0
      ? []
      : [
          {
            name: navigation.folders,
            links: folders
              .slice(0, FOLDERS_SHOWN)
              .map(({ id, name }) => link(`/account/documents?folder=${id}`, name, 'folder')),
          },
        ]),
    ...(role === 'administrator' || role === 'auditor'
      ? [
          {
            name: navigation.organization,
            links: [
              link('/organization', navigation.settings, 'building-2'),
              link('/organization/users', navigation.users, 'users'),
              link('/organization/branding', navigation.branding, 'palette'),
              link('/organization/applications', navigation.applications, 'plug'),
              link('/organization/signing-providers', navigation.providers, 'pen-line'),
              link('/organization/retention', navigation.retention, 'clock'),
            ],
          },
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
    /** The content has a heading of its own. */
    readonly hasHeading?: boolean;
    readonly main: Content;
    readonly script?: string;
    readonly data?: unknown;
    readonly facts?: NavigationInfo;
    /** The content has a primary action of its own. */
    readonly hasMain?: boolean;
  },
): string {
  const { words, texts, theme } = page;
  const { navigation } = texts;
  const { title, hasHeading = false, main, script, data, facts, hasMain = false } = content;
  const organization = user.tenant.organization.name;
  const who = filled(navigation.signedIn, { name: user.name, role: navigation.roles[user.role] });
  const mayChange = maySend(user.role, '/account/documents');
  const readsOnly = mayChange ? '' : html`<p id="reads-only" class="hint">${navigation.readsOnly}</p>\n`;
  const signOut = html`<button type="submit" class="quiet">${navigation.signOut}</button>`;
  return portalPage({
    words,
    title: `${title} - ${organization}`,
    theme,
    kind: 'account shell',
    branding: user.branding,
    ownHeader: true,
    namesOrigin: true,
    script,
    ...(data !== undefined && { data }),
    main: accountShell({
      texts: { skip: words.skip, navigation: navigation.label, menu: navigation.menu },
      organization,
      branding: user.branding,
      groups: groupsOf(user, page, facts),
      main,
      newDocument: mayChange && {
        href: addressFrom(page, '/account/documents/new'),
        text: TEXTS[words.language].senders.newDocument,
        // Pages of templates have a primary action of their own.
        isMain:
          !hasMain && !['/organization', '/account/templates'].some((path) => page.path.startsWith(path)),
      },
      title: hasHeading ? undefined : title,
      extras: html`<p><a href="${addressFrom(page, '/account')}" title="${texts.account.title}">${who}</a></p>
${readsOnly}${languages(page)}
${form(page, user, { action: '/sign-out', content: signOut, more: html` data-user="${personOf(user)}"` })}`,
    }),
  });
}

/** A signed-in person in an organization: one person may sign in to several. */
export function personOf({ id, tenant }: SignedInUser): string {
  return `${id} ${tenant.organization.id}`;
}

/** A form that posts to a path, with the token of the session. @param more attributes */
export function form(
  page: Pick<AccountPage, 'culture'>,
  { formToken }: Pick<SignedInUser, 'formToken'>,
  {
    action,
    content,
    more = html``,
  }: { readonly action: string; readonly content: Html; readonly more?: Html | undefined },
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
    return html`<a href="${addressFrom({ culture: language }, address)}" lang="${language}" hreflang="${language}"${current}>${name}</a>\n`;
  });
  return html`<nav class="languages" aria-label="${words.languages}">\n${links}</nav>`;
}

/** Result of the last form: above the page, or beside the fields at fault. */
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
  /** Says by field what is wrong with it, in the order of the form. Empty: the refusal is not about its fields. */
  readonly faults: Readonly<Record<string, string>>;
}
