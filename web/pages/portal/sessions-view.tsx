/** Open sessions of a user: on the page of the account, and on the page of a user for administrators. */
import type { SessionView } from '../../../actors/portal/api.ts';
import type { MemberView } from '../../../contracts/portal/users.ts';
import type { Language } from '../../../contracts/portal/words.ts';
import { Button } from '../../components/controls.tsx';
import { Badge, Card, PageHead, Table } from '../../components/surfaces.tsx';
import { AccountForm, Notice, Sure, type Viewed } from './account-form.tsx';
import { type AccountNotice, type AccountPage, accountPage, addressFrom } from './account-frame.ts';
import { deviceName } from './accounts/device-name.ts';
import { timeText } from './sender/times.ts';

/** @param action path of the form that ends sessions */
export function SessionTable({
  of,
  action,
  sessions,
}: {
  of: Viewed;
  action: string;
  sessions: readonly SessionView[];
}) {
  const { sessions: texts } = of.page.texts;
  return (
    <Card title={texts.title} aside={<Badge>{sessions.length}</Badge>}>
      <Table
        caption={texts.title}
        heads={[texts.device, texts.address, texts.begun, texts.used, texts.actions]}
        rows={sessions.map((session) => sessionRow(of, action, session))}
        empty={texts.none}
        cards="named"
        actions
      />
      {sessions.length > 0 && (
        <div class="body">
          <Sure of={of} action={action} ask={texts.endAll} sure={texts.endAllSure} />
        </div>
      )}
    </Card>
  );
}

function sessionRow(of: Viewed, action: string, { id, begun, usedAt }: SessionView) {
  const { sessions: texts } = of.page.texts;
  const { language } = of.page.words;
  const agent = begun?.userAgent ?? undefined;
  return {
    key: id,
    cells: [
      <>
        <bdi title={agent}>{agent === undefined ? texts.unknown : deviceName(agent)}</bdi>{' '}
        {id === of.user.sessionId && <Badge>{texts.current}</Badge>}
      </>,
      <bdi>{begun?.ipAddress ?? texts.unknown}</bdi>,
      timeOf(language, begun?.at) ?? texts.unknown,
      timeOf(language, usedAt) ?? texts.unknown,
      <AccountForm of={of} action={action}>
        <input type="hidden" name="session" value={id} />
        <Button type="submit">{texts.end}</Button>
      </AccountForm>,
    ],
  };
}

function timeOf(language: Language, at: number | undefined) {
  return at === undefined ? undefined : (
    <time dateTime={new Date(at).toISOString()}>{timeText(language, at)}</time>
  );
}

export function userSessionsPage(
  page: AccountPage,
  user: Viewed['user'],
  { id, name, email }: MemberView,
  {
    sessions,
    hasFactor,
    notice,
  }: {
    readonly sessions: readonly SessionView[];
    readonly hasFactor: boolean;
    readonly notice: AccountNotice | undefined;
  },
): string {
  const { secondFactor: texts } = page.texts;
  const action = `/organization/users/${id}/sessions`;
  return accountPage(page, user, {
    title: name === '' ? email : name,
    hasHeading: true,
    main: (
      <>
        <PageHead
          title={name === '' ? email : name}
          from={{ href: addressFrom(page, '/organization/users'), text: page.texts.navigation.users }}
        />
        <Notice page={page} notice={notice} />
        <SessionTable of={{ page, user }} action={action} sessions={sessions} />
        {hasFactor && id !== user.id && (
          <Card title={texts.title} label={texts.title} hasBody>
            <Sure
              of={{ page, user }}
              action={`/organization/users/${id}/second-factor`}
              ask={texts.reset}
              sure={texts.resetSure}
            />
          </Card>
        )}
      </>
    ),
  });
}
