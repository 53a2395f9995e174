/** Page of the users of an organization. */

import type { SignedInUser } from '../../../actors/portal/api.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import type { MemberView } from '../../../contracts/portal/users.ts';
import { roleOf, USER_ROLES, type UserRole } from '../../../machines/portal/accounts/portal-user.ts';
import { Button, Field, Select } from '../../components/controls.tsx';
import { Avatar, Badge, Card, PageHead, Table } from '../../components/surfaces.tsx';
import { AccountForm, entriesOf, Notice, Sure, type Viewed } from './account-form.tsx';
import { type AccountNotice, type AccountPage, accountPage, addressFrom } from './account-frame.ts';
import { Pages } from './pages-of-list.tsx';
import { filled } from './texts.ts';

const PATH = '/organization/users';

export function usersPage(
  page: AccountPage,
  user: SignedInUser,
  members: Page<MemberView>,
  place: {
    readonly offset: number;
    readonly limit: number;
    readonly notice?: AccountNotice | undefined;
    readonly requireSecondFactor: boolean;
  },
): string {
  const { users: texts } = page.texts;
  const { notice } = place;
  const entries = entriesOf(notice, PATH);
  const of = { page, user };
  return accountPage(page, user, {
    title: texts.title,
    hasHeading: true,
    main: (
      <>
        <PageHead title={texts.title} />
        <Notice page={page} notice={notice} labels={{ name: texts.name, email: texts.email }} />
        <Card
          aside={
            <>
              <p class="muted">{texts.text}</p>
              <Badge>{members.totalCount}</Badge>
            </>
          }
        >
          <Table
            caption={texts.title}
            heads={[texts.name, texts.role, texts.actions]}
            rows={members.items.map((member) => userRow(of, member))}
            cards
            actions
          />
        </Card>
        <Pages page={page} path={PATH} place={place} totalCount={members.totalCount} />
        <Policy {...of} isRequired={place.requireSecondFactor} />
        <Card label={texts.add} title={texts.add} hasBody>
          <AccountForm of={of} action={PATH}>
            <div class="fields">
              <Field id="name" label={texts.name} required maxLength={255} {...entries.of('name')} />
              <Field
                id="email"
                label={texts.email}
                type="email"
                required
                maxLength={255}
                spellcheck={false}
                {...entries.of('email')}
              />
              <Select
                id="role"
                label={texts.role}
                options={roleOptions(page)}
                {...entries.of('role', 'sender')}
              />
            </div>
            <Button type="submit" rank="main" icon="plus">
              {texts.add}
            </Button>
          </AccountForm>
        </Card>
      </>
    ),
  });
}

function Policy({ isRequired, ...of }: Viewed & { isRequired: boolean }) {
  const { secondFactor: texts } = of.page.texts;
  return (
    <Card label={texts.title} title={texts.title} hasBody>
      <AccountForm of={of} action="/organization/second-factor">
        <label class="tick">
          <input type="checkbox" name="required" value="yes" checked={isRequired} /> {texts.policy}
        </label>
        <p class="muted">{texts.policyText}</p>
        <Button type="submit">{texts.save}</Button>
      </AccountForm>
    </Card>
  );
}

function userRow(of: Viewed, member: MemberView) {
  const { page, user } = of;
  const { users: texts, navigation } = page.texts;
  const { id, name, email, active } = member;
  const role = roleOf(member.accessProfile);
  const isOwn = id === user.id;
  const path = `${PATH}/${id}`;
  const who = (
    <div class="row">
      <Avatar name={name} />
      <div class="grow">
        <a href={addressFrom(page, path)}>
          <bdi>{name}</bdi>
        </a>{' '}
        {isOwn && <span class="muted">({texts.you})</span>}
        {!active && <Badge>{texts.deactivated}</Badge>}
        <div class="muted small">{email}</div>
      </div>
    </div>
  );
  if (isOwn)
    return {
      key: id,
      cells: [who, <Badge>{role === undefined ? texts.noRole : navigation.roles[role]}</Badge>, ''],
    };
  return {
    key: id,
    cells: [
      who,
      <AccountForm of={of} action={`${path}/role`}>
        <div class="row">
          <select name="role" aria-label={filled(texts.roleOf, { name })} value={role ?? 'none'}>
            {roleOptions(page, role === undefined).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
          <Button type="submit">{texts.change}</Button>
        </div>
      </AccountForm>,
      <Sure of={of} action={`${path}/removal`} ask={texts.remove} sure={texts.removeSure} />,
    ],
  };
}

/** @param none true for people without a role, who keep it until one is chosen */
function roleOptions({ texts }: AccountPage, none = false): readonly (readonly [string, string])[] {
  const options = USER_ROLES.map((role: UserRole) => [role, texts.navigation.roles[role]] as const);
  return none ? [['none', texts.users.noRole], ...options] : options;
}
