/** Pages of the applications of an organization, and of the keys of one application. */

import type { ApplicationView, SignedInUser } from '../../../actors/portal/api.ts';
import { KEY_SCOPES } from '../../../contracts/portal/operation.ts';
import { APPLICATION_ROLES, MAX_TENANT_NAME } from '../../../contracts/portal/organizations.ts';
import { Boxes, Button, ButtonLink, Field, Select } from '../../components/controls.tsx';
import { Badge, Card, PageHead, Table } from '../../components/surfaces.tsx';
import { Time } from '../../components/time.tsx';
import { AccountForm, type Entries, entriesOf, Notice, Sure, type Viewed } from './account-form.tsx';
import { type AccountNotice, type AccountPage, accountPage, addressFrom } from './account-frame.ts';
import { RelativeTimes } from './sender/relative-times.tsx';
import { timeText } from './sender/times.ts';
import { filled } from './texts.ts';

const PATH = '/organization/applications';

/** @param hasRoles true in the organization whose applications may have other roles */
export function applicationsPage(
  page: AccountPage,
  user: SignedInUser,
  applications: readonly ApplicationView[],
  { hasRoles, notice }: { hasRoles: boolean; notice?: AccountNotice | undefined },
): string {
  const { applications: texts } = page.texts;
  const entries = entriesOf(notice, PATH);
  return accountPage(page, user, {
    title: texts.title,
    hasHeading: true,
    main: (
      <>
        <PageHead title={texts.title} />
        <Notice page={page} notice={notice} labels={{ name: texts.name }} />
        <Card
          aside={
            <>
              <p class="muted">{texts.text}</p>
              <Badge>{applications.length}</Badge>
            </>
          }
        >
          <Table
            caption={texts.title}
            heads={[texts.name, texts.role, texts.keys]}
            rows={applications.map(({ id, name, role, keys }) => ({
              key: id,
              cells: [
                <strong>
                  <bdi>{name}</bdi>
                </strong>,
                <Badge>{texts.roles[role]}</Badge>,
                <div class="row">
                  <a
                    class="button"
                    href={addressFrom(page, `${PATH}/${id}`)}
                    aria-label={filled(texts.keysOf, { name })}
                  >
                    {texts.keys}
                  </a>
                  <Badge>{keys.length}</Badge>
                </div>,
              ],
            }))}
            actions
          />
        </Card>
        <Card label={texts.add} title={texts.add} hasBody>
          <AccountForm of={{ page, user }} action={PATH}>
            <div class="fields">
              <Field
                id="name"
                label={texts.name}
                required
                maxLength={MAX_TENANT_NAME}
                {...entries.of('name')}
              />
              {hasRoles && (
                <Select
                  id="role"
                  label={texts.role}
                  options={APPLICATION_ROLES.map((role) => [role, texts.roles[role]] as const)}
                  {...entries.of('role', 'Normal')}
                />
              )}
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

/** @param made the key that was just created, shown this once; @param now milliseconds, by the service's clock */
export function applicationPage(
  page: AccountPage,
  user: SignedInUser,
  application: ApplicationView,
  {
    made,
    notice,
    folders,
    now,
  }: { made?: string | undefined; notice?: AccountNotice | undefined; folders: KeyFolders; now: number },
): string {
  const { applications: texts } = page.texts;
  const path = `${PATH}/${application.id}`;
  const entries = entriesOf(notice, `${path}/keys`);
  const of = { page, user };
  const title = filled(texts.keysOf, { name: application.name });
  return accountPage(page, user, {
    title,
    hasHeading: true,
    main: (
      <RelativeTimes language={page.words.language} now={now}>
        <PageHead title={title}>
          <ButtonLink href={addressFrom(page, PATH)} icon="arrow-left">
            {texts.back}
          </ButtonLink>
        </PageHead>
        <Notice page={page} notice={notice} labels={{ expiry: texts.expiry }} />
        {made !== undefined && (
          <div class="card" role="status">
            <div class="body">
              <h2>{texts.made}</h2>
              <p class="new-key">{made}</p>
              <p>{texts.madeText}</p>
            </div>
          </div>
        )}
        <Card title={texts.keys} aside={<Badge>{application.keys.length}</Badge>}>
          <Table
            caption={texts.keys}
            heads={[
              texts.begins,
              texts.scopesShort,
              texts.created,
              texts.lastUse,
              texts.expires,
              texts.actions,
            ]}
            rows={application.keys.map((key) => keyRow(of, path, key, folders))}
            empty={texts.noKeys}
            cards="named"
            actions
          />
        </Card>
        <Card label={texts.createKey} title={texts.createKey} hasBody>
          <AccountForm of={of} action={`${path}/keys`}>
            <Boxes
              legend={texts.scopes}
              boxes={KEY_SCOPES.map((scope) => ({
                name: `scope${scope}`,
                text: texts.scopeNames[scope],
                checked: entries.checked(`scope${scope}`),
              }))}
            />
            <FolderChoice texts={texts} folders={folders} entries={entries} />
            <div class="fields">
              <Field id="expiry" label={texts.expiry} type="date" {...entries.of('expiry')} />
            </div>
            <Button type="submit" rank="main" icon="plus">
              {texts.createKey}
            </Button>
          </AccountForm>
        </Card>
      </RelativeTimes>
    ),
  });
}

function FolderChoice({
  texts,
  folders: { offered, hasMore },
  entries,
}: {
  texts: AccountPage['texts']['applications'];
  folders: KeyFolders;
  entries: Entries;
}) {
  if (offered.length === 0) return null;
  return (
    <Boxes
      legend={texts.folderChoice}
      hint={hasMore ? `${texts.folderHint} ${texts.moreFolders}` : texts.folderHint}
      boxes={offered.map(({ id, name }) => ({
        name: `${FOLDER_FIELD}${id}`,
        text: <bdi>{name}</bdi>,
        checked: entries.checked(`${FOLDER_FIELD}${id}`),
      }))}
    />
  );
}

function keyRow(of: Viewed, path: string, key: ApplicationView['keys'][number], { names }: KeyFolders) {
  const { id, prefix, scopes, folderIds, creationDate, lastUseDate, expirationDate, expiry, createdBy } = key;
  const { texts: all, words } = of.page;
  const { applications: texts } = all;
  const isEnding = expiry === 'over' || expiry === 'soon';
  return {
    key: id,
    cells: [
      <code>{prefix}...</code>,
      <>
        {scopes === null ? texts.allScopes : scopes.map((scope) => texts.scopeNames[scope]).join(', ')}
        {folderIds !== null && (
          <>
            <br />
            {texts.folders}
            <ul class="folders">
              {folderIds.map((folder) => (
                <li key={folder}>
                  <bdi>{names.get(folder) ?? texts.removedFolder}</bdi>
                </li>
              ))}
            </ul>
          </>
        )}
      </>,
      <>
        <Time at={new Date(creationDate).toISOString()} />
        {createdBy !== null && (
          <div class="muted small">
            <bdi>{createdBy.name}</bdi>
          </div>
        )}
      </>,
      lastUseDate === null ? texts.never : <Time at={new Date(lastUseDate).toISOString()} />,
      expirationDate === null ? (
        texts.never
      ) : (
        <>
          <time dateTime={new Date(expirationDate).toISOString()}>
            {timeText(words.language, expirationDate)}
          </time>
          {isEnding && (
            <Badge tone={expiry === 'over' ? 'bad' : 'warn'}>{texts.expiryWarnings[expiry]}</Badge>
          )}
        </>
      ),
      <Sure of={of} action={`${path}/keys/${id}/revocation`} ask={texts.revoke} sure={texts.revokeSure} />,
    ],
  };
}
