/** Page of the users of an organization. */

import type { SignedInUser } from '../../../actors/portal/api.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import type { MemberView } from '../../../contracts/portal/users.ts';
import { type Html, html } from '../../../contracts/texts/html.ts';
import { roleOf, USER_ROLES, type UserRole } from '../../../machines/portal/portal-user.ts';
import {
  type AccountNotice,
  type AccountPage,
  accountPage,
  accountTable,
  addressFrom,
  form,
  noticePart,
  sureForm,
} from './account-frame.ts';
import { entriesOf } from './entered-form.ts';
import { filled } from './texts.ts';

export function usersPage(
  page: AccountPage,
  user: SignedInUser,
  members: Page<MemberView>,
  more: { readonly offset: number; readonly limit: number; readonly notice?: AccountNotice | undefined },
): string {
  const { users: texts, organization } = page.texts;
  const { offset, limit, notice } = more;
  const rows = members.items.map((member) => userRow(page, user, member));
  const path = '/organization/users';
  const entries = entriesOf(notice, path);
  const addition = html`<label for="name">${texts.name}</label>
<input id="name" name="name" required maxlength="255" value="${entries.value('name')}"${entries.marks('name')}>
${entries.fault('name')}<label for="email">${texts.email}</label>
<input id="email" name="email" type="email" required maxlength="255" spellcheck="false" value="${entries.value('email')}"${entries.marks('email')}>
${entries.fault('email')}<label for="role">${texts.role}</label>
<select id="role" name="role">${roleOptions(page, USER_ROLES.find((role) => role === entries.value('role')) ?? 'sender')}</select>
<p class="ways"><button type="submit" class="main">${texts.add}</button></p>`;
  const link = (to: number, label: string) =>
    html`<a class="button" href="${addressFrom(page, `/organization/users?offset=${to}`)}">${label}</a>`;
  const newer = offset > 0 ? link(offset - 1, organization.newer) : html``;
  const older = (offset + 1) * limit < members.totalCount ? link(offset + 1, organization.older) : html``;
  return accountPage(page, user, {
    title: texts.title,
    main: html`${noticePart(notice)}<p>${texts.text}</p>
${accountTable(texts.title, [texts.name, texts.email, texts.role, texts.actions], rows, true)}
<p class="ways">${newer}${older}</p>
<section><h2>${texts.add}</h2>
${form(page, user, path, addition)}
</section>`,
  });
}

function userRow(page: AccountPage, user: SignedInUser, member: MemberView): Html {
  const { users: texts, navigation } = page.texts;
  const role = roleOf(member.accessProfile);
  const shown = role === undefined ? texts.noRole : navigation.roles[role];
  const own = html`<tr><td>${member.name} (${texts.you})</td><td>${member.email}</td><td>${shown}</td><td></td></tr>\n`;
  if (member.id === user.id) return own;
  const path = `/organization/users/${member.id}`;
  const label = filled(texts.roleOf, { name: member.name });
  const change = form(
    page,
    user,
    `${path}/role`,
    html`<select name="role" aria-label="${label}">${roleOptions(page, role)}</select>
<button type="submit">${texts.change}</button>`,
  );
  return html`<tr><td>${member.name}</td><td>${member.email}</td><td>${change}</td>
<td>${sureForm(page, user, `${path}/removal`, { ask: texts.remove, sure: texts.removeSure })}</td></tr>\n`;
}

/** @param chosen undefined for people without a role, who keep it until one is chosen */
function roleOptions({ texts }: AccountPage, chosen: UserRole | undefined): Html {
  const options = USER_ROLES.map((role) => {
    const isChosen = role === chosen ? html` selected` : '';
    return html`<option value="${role}"${isChosen}>${texts.navigation.roles[role]}</option>`;
  });
  const none =
    chosen === undefined ? html`<option value="none" selected>${texts.users.noRole}</option>` : html``;
  return html`${none}${options}`;
}
