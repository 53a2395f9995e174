/** Page of rules of retention and legal holds. */
import type { SignedInUser } from '../../../../actors/portal/api.ts';
import { type ErasureReport, KEPT_FOR } from '../../../../contracts/portal/retention/erasures.ts';
import {
  MAX_HOLD_REASON,
  MAX_NOTICE_DAYS,
  MAX_RETENTION_DAYS,
  type NewRetention,
  type RetentionItem,
} from '../../../../contracts/portal/retention/retention.ts';
import { RETENTION_STATUSES } from '../../../../contracts/portal/words.ts';
import { TEXTS } from '../../../../contracts/texts/texts.ts';
import { Button, Field, Select } from '../../../components/controls.tsx';
import { Badge, Card, PageHead } from '../../../components/surfaces.tsx';
import { AccountForm, entriesOf, Notice, Sure, type Viewed } from '../account-form.tsx';
import { type AccountNotice, type AccountPage, accountPage, addressFrom } from '../account-frame.ts';
import { timeText } from '../sender/times.ts';
import { filled } from '../texts.ts';

export const RETENTION_PATH = '/organization/retention';
const HOLDS = `${RETENTION_PATH}/holds`;

/** One list of `GET /api/retention/documents`, the first items. */
interface Listed {
  readonly items: readonly RetentionItem[];
  readonly totalCount: number;
}

export interface RetentionPageData {
  readonly retention: NewRetention;
  readonly folders: readonly { readonly id: string; readonly name: string }[];
  readonly held: Listed;
  readonly planned: Listed;
  readonly deleted: Listed;
  /** The newest first. */
  readonly erasures: readonly ErasureReport[];
  readonly notice: AccountNotice | undefined;
}

interface Parts extends Viewed {
  readonly data: RetentionPageData;
}

export function retentionPage(page: AccountPage, user: SignedInUser, data: RetentionPageData): string {
  const { retention: texts } = page.texts;
  const parts = { page, user, data };
  const labels = {
    days: texts.days,
    noticeDays: texts.notice,
    reason: texts.reason,
    folderId: texts.folder,
    email: texts.email,
  };
  return accountPage(page, user, {
    title: texts.title,
    hasHeading: true,
    main: (
      <>
        <PageHead title={texts.title} />
        <Notice page={page} notice={data.notice} labels={labels} />
        <Rules {...parts} />
        <Holds {...parts} />
        <List {...parts} title={texts.planned} list={data.planned} />
        <List {...parts} title={texts.deleted} list={data.deleted} />
        <Erasing {...parts} />
      </>
    ),
  });
}

function Rules({ page, user, data }: Parts) {
  const { retention: texts } = page.texts;
  const { statuses } = TEXTS[page.words.language].senders;
  const of = { page, user };
  const { rules, noticeDays } = data.retention;
  const entries = entriesOf(data.notice, `${RETENTION_PATH}/rules`);
  const noticed = entriesOf(data.notice, `${RETENTION_PATH}/notice`);
  return (
    <Card label={texts.rules} title={texts.rules} aside={<Badge>{rules.length}</Badge>} hasBody>
      <p class="muted">{texts.text}</p>
      {rules.map(({ folderId, status, days }) => (
        <div key={`${folderId} ${status}`} class="ways">
          <span class="grow">
            <bdi>{placeOf(data, folderId, texts)}</bdi>,{' '}
            {status === null ? texts.anyStatus : statuses[status]}:{' '}
            {days === null ? texts.kept : filled(texts.after, { days })}
          </span>
          <Sure
            of={of}
            action={`${RETENTION_PATH}/rules/${folderId ?? 'all'}/${status ?? 'each'}/removal`}
            ask={texts.remove}
            sure={texts.removeSure}
          />
        </div>
      ))}
      <AccountForm of={of} action={`${RETENTION_PATH}/rules`}>
        <div class="fields halves">
          <Select
            id="folderId"
            label={texts.folder}
            options={[['', texts.allFolders], ...data.folders.map(({ id, name }) => [id, name] as const)]}
            {...entries.of('folderId')}
          />
          <Select
            id="status"
            label={texts.status}
            options={[
              ['', texts.anyStatus],
              ...RETENTION_STATUSES.map((one) => [one, statuses[one]] as const),
            ]}
            {...entries.of('status')}
          />
          <Field
            id="days"
            label={texts.days}
            type="number"
            min={1}
            max={MAX_RETENTION_DAYS}
            {...entries.of('days')}
          />
        </div>
        <Button type="submit" rank="main" icon="plus">
          {texts.add}
        </Button>
      </AccountForm>
      <AccountForm of={of} action={`${RETENTION_PATH}/notice`}>
        <Field
          id="noticeDays"
          label={texts.notice}
          type="number"
          min={1}
          max={MAX_NOTICE_DAYS}
          {...noticed.of('noticeDays', String(noticeDays))}
        />
        <Button type="submit">{texts.save}</Button>
      </AccountForm>
    </Card>
  );
}

function placeOf(
  { folders }: RetentionPageData,
  folderId: string | null,
  texts: AccountPage['texts']['retention'],
): string {
  if (folderId === null) return texts.allFolders;
  return folders.find(({ id }) => id === folderId)?.name ?? texts.removedFolder;
}

function Holds({ page, user, data }: Parts) {
  const { retention: texts } = page.texts;
  const of = { page, user };
  const entries = entriesOf(data.notice, HOLDS);
  return (
    <Card label={texts.held} title={texts.held} aside={<Badge>{data.held.totalCount}</Badge>} hasBody>
      <p class="muted">{texts.holdText}</p>
      {data.held.items.map((item) => (
        <div key={item.id} class="ways">
          <span class="grow">
            <Named page={page} item={item} />: <bdi>{item.reason}</bdi>{' '}
            <span class="hint">
              <bdi>{item.by?.name}</bdi>, {timeText(page.words.language, item.date)}
            </span>
          </span>
          <Sure
            of={of}
            action={`${HOLDS}/${item.type}/${item.id}/removal`}
            ask={texts.endHold}
            sure={texts.endSure}
          />
        </div>
      ))}
      {data.folders.length > 0 && (
        <AccountForm of={of} action={HOLDS}>
          <div class="fields halves">
            <Select
              id="held-folder"
              label={texts.folder}
              options={data.folders.map(({ id, name }) => [id, name] as const)}
              {...entries.of('id')}
            />
            <Field
              id="reason"
              label={texts.reason}
              required
              maxLength={MAX_HOLD_REASON}
              {...entries.of('reason')}
            />
          </div>
          <Button type="submit">{texts.hold}</Button>
        </AccountForm>
      )}
    </Card>
  );
}

/** Erasure of a person, and the reports. */
function Erasing({ page, user, data }: Parts) {
  const { retention: texts } = page.texts;
  const action = `${RETENTION_PATH}/erasures`;
  const entries = entriesOf(data.notice, action);
  return (
    <Card label={texts.erasure} title={texts.erasure} hasBody>
      <p class="muted">{texts.erasureText}</p>
      {data.erasures.map(({ id, date, isDone, keptFor, erased, kept, refused, documents }) => (
        <div key={id}>
          <p>
            {timeText(page.words.language, date)}: {filled(texts.erasureCounts, { erased, kept, refused })}{' '}
            {!isDone && texts.erasureRuns}
            {keptFor !== null && <span class="hint">{texts.grounds[keptFor]}</span>}
          </p>
          {/* biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers. */}
          <ul class="rows" role="list">
            {documents
              .filter(({ code }) => code !== null)
              .map(({ documentId, code }) => (
                <li key={documentId}>
                  <a href={addressFrom(page, `/account/documents/${documentId}`)}>
                    {code === 'LegalHold' ? texts.refusedHeld : texts.refusedOpen}
                  </a>
                </li>
              ))}
          </ul>
        </div>
      ))}
      <AccountForm of={{ page, user }} action={action}>
        <div class="fields halves">
          <Field id="email" label={texts.email} type="email" required {...entries.of('email')} />
          <Select
            id="keepFor"
            label={texts.concluded}
            options={[
              ['', texts.deleteConcluded],
              ...KEPT_FOR.map((ground) => [ground, texts.grounds[ground]] as const),
            ]}
            {...entries.of('keepFor')}
          />
        </div>
        <Button type="submit">{texts.erase}</Button>
      </AccountForm>
    </Card>
  );
}

function List({ page, title, list: { items, totalCount } }: Parts & { title: string; list: Listed }) {
  const { retention: texts } = page.texts;
  return (
    <Card label={title} title={title} aside={<Badge>{totalCount}</Badge>} hasBody>
      {items.length === 0 && <p class="muted">{texts.none}</p>}
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers. */}
      <ul class="rows" role="list">
        {items.map((item) => (
          <li key={item.id}>
            <Named page={page} item={item} />{' '}
            <span class="hint">{timeText(page.words.language, item.date)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Named({ page, item: { type, id, name } }: { page: AccountPage; item: RetentionItem }) {
  const path = type === 'Folder' ? `/account/documents?folder=${id}` : `/account/documents/${id}`;
  return (
    <a href={addressFrom(page, path)}>
      <bdi>{name}</bdi>
    </a>
  );
}
