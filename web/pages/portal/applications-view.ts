/** Pages of the applications of an organization, and of the keys of one application. */

import type { ApplicationView, SignedInUser } from '../../../actors/portal/api.ts';
import { KEY_SCOPES } from '../../../contracts/portal/operation.ts';
import { APPLICATION_ROLES, MAX_TENANT_NAME } from '../../../contracts/portal/organizations.ts';
import { type Html, html } from '../../../contracts/texts/html.ts';
import type { Texts } from '../../../contracts/texts/texts.ts';
import {
  type AccountNotice,
  type AccountPage,
  accountPage,
  accountTable,
  addressFrom,
  form,
  noticePart,
  sureForm,
  utcTime,
} from './account-frame.ts';
import { entriesOf, type FormEntries } from './entered-form.ts';
import { filled } from './texts.ts';

/** @param hasRoles true in the organization whose applications may have other roles */
export function applicationsPage(
  page: AccountPage,
  user: SignedInUser,
  applications: readonly ApplicationView[],
  { hasRoles, notice }: { readonly hasRoles: boolean; readonly notice?: AccountNotice | undefined },
): string {
  const { applications: texts } = page.texts;
  const rows = applications.map(({ id, name, role }) => {
    const label = filled(texts.keysOf, { name });
    const address = addressFrom(page, `/organization/applications/${id}`);
    return html`<tr><td>${name}</td><td>${texts.roles[role]}</td><td><a class="button" href="${address}" aria-label="${label}">${texts.keys}</a></td></tr>\n`;
  });
  const path = '/organization/applications';
  const entries = entriesOf(notice, path);
  const roles = APPLICATION_ROLES.map(
    (role) => html`<option value="${role}"${entries.selected('role', role)}>${texts.roles[role]}</option>`,
  );
  const choice = hasRoles
    ? html`<label for="role">${texts.role}</label>\n<select id="role" name="role">${roles}</select>\n`
    : html``;
  const creation = html`<label for="name">${texts.name}</label>
<input id="name" name="name" required maxlength="${MAX_TENANT_NAME}" value="${entries.value('name')}"${entries.marks('name')}>
${entries.fault('name')}${choice}<p class="ways"><button type="submit" class="main">${texts.add}</button></p>`;
  return accountPage(page, user, {
    title: texts.title,
    main: html`${noticePart(notice)}<p>${texts.text}</p>
${accountTable(texts.title, [texts.name, texts.role, texts.keys], rows, true)}
<section><h2>${texts.add}</h2>
${form(page, user, path, creation)}
</section>`,
  });
}

/** Prefix of the form fields that choose folders; the id follows. */
export const FOLDER_FIELD = 'folder-';

/** Folders that a key can be restricted to. */
export interface KeyFolders {
  /** By name. */
  readonly offered: readonly { readonly id: string; readonly name: string }[];
  /** Names of the folders of keys, by id; removed folders are absent. */
  readonly names: ReadonlyMap<string, string>;
  /** True: the organization has more folders than are offered. */
  readonly hasMore: boolean;
}

/** @param made the key that was just created, shown this once */
export function applicationPage(
  page: AccountPage,
  user: SignedInUser,
  application: ApplicationView,
  {
    made,
    notice,
    folders,
  }: {
    readonly made?: string | undefined;
    readonly notice?: AccountNotice | undefined;
    readonly folders: KeyFolders;
  },
): string {
  const { applications: texts } = page.texts;
  const path = `/organization/applications/${application.id}`;
  const entries = entriesOf(notice, `${path}/keys`);
  const rows = application.keys.map((key) => keyRow(page, user, path, key, folders));
  const heads = [texts.begins, texts.scopesShort, texts.created, texts.lastUse, texts.expires, texts.actions];
  const scopes = KEY_SCOPES.map(
    (scope) =>
      html`<label><input type="checkbox" name="scope${scope}" value="yes"${entries.checked(`scope${scope}`)}> ${texts.scopeNames[scope]}</label>\n`,
  );
  const creation = html`<fieldset class="scopes"><legend>${texts.scopes}</legend>
${scopes}</fieldset>
${folderChoice(texts, folders, entries)}<label for="expiry">${texts.expiry}</label>
<input id="expiry" name="expiry" type="date" value="${entries.value('expiry')}"${entries.marks('expiry')}>
${entries.fault('expiry')}<p class="ways"><button type="submit" class="main">${texts.createKey}</button></p>`;
  const shown =
    made === undefined
      ? html``
      : html`<section aria-labelledby="made" role="status"><h2 id="made">${texts.made}</h2>
<p class="new-key">${made}</p>
<p>${texts.madeText}</p></section>`;
  const all = html`<p><a href="${addressFrom(page, '/organization/applications')}">${texts.back}</a></p>`;
  return accountPage(page, user, {
    title: filled(texts.keysOf, { name: application.name }),
    main: html`${noticePart(notice)}${all}
${shown}
${accountTable(texts.keys, heads, rows, true)}
<section><h2>${texts.createKey}</h2>
${form(page, user, `${path}/keys`, creation)}
</section>`,
  });
}

function folderChoice(
  texts: Texts['account']['applications'],
  { offered, hasMore }: KeyFolders,
  entries: FormEntries,
): Html {
  if (offered.length === 0) return html``;
  const boxes = offered.map(
    ({ id, name }) =>
      html`<label><input type="checkbox" name="${FOLDER_FIELD}${id}" value="yes"${entries.checked(`${FOLDER_FIELD}${id}`)}> <bdi>${name}</bdi></label>\n`,
  );
  const more = hasMore ? html`<p class="hint">${texts.moreFolders}</p>\n` : html``;
  return html`<fieldset class="scopes"><legend>${texts.folderChoice}</legend>
<p class="hint">${texts.folderHint}</p>
${more}<div class="choices">
${boxes}</div></fieldset>
`;
}

function keyRow(
  page: AccountPage,
  user: SignedInUser,
  path: string,
  {
    id,
    prefix,
    scopes,
    folderIds,
    creationDate,
    lastUseDate,
    expirationDate,
    expiry,
  }: ApplicationView['keys'][number],
  { names }: KeyFolders,
): Html {
  const { applications: texts } = page.texts;
  const named = scopes === null ? texts.allScopes : scopes.map((scope) => texts.scopeNames[scope]).join(', ');
  const listed = (folderIds ?? []).map(
    (folder) => html`<li><bdi>${names.get(folder) ?? texts.removedFolder}</bdi></li>`,
  );
  const limited =
    folderIds === null
      ? html`${named}`
      : html`${named}<br>${texts.folders}<ul class="folders">${listed}</ul>`;
  const warning =
    expiry === 'over' || expiry === 'soon' ? html` <strong>${texts.expiryWarnings[expiry]}</strong>` : html``;
  const revocation = sureForm(page, user, `${path}/keys/${id}/revocation`, {
    ask: texts.revoke,
    sure: texts.revokeSure,
  });
  return html`<tr><td><code>${prefix}...</code></td><td>${limited}</td><td>${utcTime(creationDate)}</td>
<td>${lastUseDate === null ? texts.never : utcTime(lastUseDate)}</td><td>${expirationDate === null ? texts.never : utcTime(expirationDate)}${warning}</td>
<td>${revocation}</td></tr>\n`;
}
