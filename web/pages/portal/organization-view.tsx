/** Page of the organization: webhooks with their deliveries (Integration), embedding origins, test mail. */

import type { OrganizationView, SignedInUser } from '../../../actors/portal/api.ts';
import { DELIVERY_STATUSES, DELIVERY_TONES, type DeliveryStatus } from '../../../contracts/deliveries.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import {
  type DeliveryView,
  EVENT_TYPES,
  WEBHOOK_AUTH_TYPES,
  type WebhookView,
} from '../../../contracts/portal/webhooks/webhooks.ts';
import { Boxes, Button, Field, Select, TextArea } from '../../components/controls.tsx';
import { Badge, Card, PageHead, Table } from '../../components/surfaces.tsx';
import { Time } from '../../components/time.tsx';
import { AccountForm, type Entries, entriesOf, Notice, Sure, type Viewed } from './account-form.tsx';
import { type AccountNotice, type AccountPage, accountPage } from './account-frame.ts';
import { Pages } from './pages-of-list.tsx';
import { RelativeTimes } from './sender/relative-times.tsx';
import { filled } from './texts.ts';

const PATH = '/organization';
const WEBHOOKS = `${PATH}/webhooks`;

export interface OrganizationPageData {
  readonly organization: Pick<OrganizationView, 'embedOrigins'>;
  readonly webhooks: readonly WebhookView[];
  readonly deliveries: Page<DeliveryView>;
  /** Filter and place in the list of deliveries. */
  readonly status: DeliveryStatus | undefined;
  readonly offset: number;
  readonly limit: number;
  /** Time at which it was read, milliseconds. */
  readonly now: number;
  readonly notice?: AccountNotice | undefined;
}

interface Parts extends Viewed {
  readonly data: OrganizationPageData;
}

export function organizationPage(page: AccountPage, user: SignedInUser, data: OrganizationPageData): string {
  const { organization: texts } = page.texts;
  const { notice } = data;
  const changed = data.webhooks.find(({ id }) => notice?.form?.action === `${WEBHOOKS}/${id}`);
  const { url, token, secret, originsLabel } = texts;
  const labels = { url, token, secret, origins: originsLabel };
  const parts = { page, user, data };
  return accountPage(page, user, {
    title: texts.title,
    hasHeading: true,
    main: (
      <RelativeTimes language={page.words.language} now={data.now}>
        <PageHead title={texts.title} />
        <Notice page={page} notice={notice} labels={labels} end={changed && `-${changed.id}`} />
        <Integration {...parts} />
        <Deliveries {...parts} />
        <Origins {...parts} />
        <Mail {...parts} />
      </RelativeTimes>
    ),
  });
}

function Integration(parts: Parts) {
  const { page, data } = parts;
  const { organization: texts } = page.texts;
  return (
    <Card
      label={texts.integration}
      title={texts.integration}
      aside={<Badge>{data.webhooks.length}</Badge>}
      hasBody
    >
      <p class="muted">{texts.integrationText}</p>
      {data.webhooks.length === 0 && <p>{texts.none}</p>}
      {data.webhooks.map((webhook) => (
        <Webhook key={webhook.id} {...parts} webhook={webhook} />
      ))}
      <h3>{texts.register}</h3>
      <AccountForm of={parts} action={WEBHOOKS}>
        <Target texts={texts} entries={entriesOf(data.notice, WEBHOOKS)} />
        <Button type="submit" rank="main" icon="plus">
          {texts.register}
        </Button>
      </AccountForm>
    </Card>
  );
}

/** Fields of a webhook. @param known the webhook that they change; its id ends the ids of the fields */
function Target({
  texts,
  entries,
  known,
}: {
  texts: AccountPage['texts']['organization'];
  entries: Entries;
  known?: WebhookView;
}) {
  const end = known === undefined ? '' : `-${known.id}`;
  const hint = known !== undefined ? texts.kept : entries.isRefused ? texts.again : undefined;
  return (
    <div class="fields halves">
      <Field
        id={`url${end}`}
        label={texts.url}
        type="url"
        required
        maxLength={2000}
        spellcheck={false}
        {...entries.of('url', known?.url)}
      />
      <Select
        id={`authType${end}`}
        label={texts.authentication}
        options={WEBHOOK_AUTH_TYPES.map((type) => [type, texts.authTypes[type]] as const)}
        {...entries.of('authType', known?.authType ?? 'NoAuth')}
      />
      <Field
        id={`token${end}`}
        label={texts.token}
        hint={hint}
        type="password"
        maxLength={2000}
        autoComplete="off"
        {...entries.of('token')}
      />
      <Field
        id={`secret${end}`}
        label={texts.secret}
        type="password"
        maxLength={200}
        autoComplete="off"
        {...entries.of('secret')}
      />
    </div>
  );
}

function Webhook(parts: Parts & { readonly webhook: WebhookView }) {
  const { page, data, webhook } = parts;
  const { organization: texts } = page.texts;
  const { id, url, authType, isSigned, disabledReason, events } = webhook;
  const path = `${WEBHOOKS}/${id}`;
  const entries = entriesOf(data.notice, path);
  return (
    <article class="webhook">
      <h3>{url}</h3>
      <p class="ways">
        <Badge>{`${texts.authentication}: ${texts.authTypes[authType]}`}</Badge>
        {isSigned && <Badge tone="good">{texts.signed}</Badge>}
      </p>
      {disabledReason !== null && <p class="trouble">{filled(texts.disabled, { reason: disabledReason })}</p>}
      <div class="ways">
        <AccountForm of={parts} action={`${path}/test`}>
          <Button type="submit" icon="send">
            {texts.test}
          </Button>
        </AccountForm>
        <Sure of={parts} action={`${path}/removal`} ask={texts.remove} sure={texts.removeSure} />
        <details open={entries.isRefused}>
          <summary class="button">{texts.edit}</summary>
          <AccountForm of={parts} action={path}>
            <Target texts={texts} entries={entries} known={webhook} />
            <Boxes
              legend={texts.events}
              boxes={EVENT_TYPES.map((type) => ({
                name: `event${type}`,
                text: type,
                checked: entries.checked(`event${type}`, events?.includes(type)),
              }))}
            />
            <Button type="submit">{texts.saveWebhook}</Button>
          </AccountForm>
        </details>
      </div>
    </article>
  );
}

function Deliveries(parts: Parts) {
  const { page, data } = parts;
  const { organization: texts } = page.texts;
  const { deliveries, status } = data;
  const { culture } = page;
  return (
    <Card title={texts.deliveries} aside={<Badge>{deliveries.totalCount}</Badge>}>
      <form method="get" action={`${PATH}#deliveries`} class="body filter" id="deliveries">
        {culture !== undefined && <input type="hidden" name="culture" value={culture} />}
        <Select
          id="status"
          name="status"
          label={texts.filter}
          value={status ?? ''}
          options={[['', texts.all], ...DELIVERY_STATUSES.map((one) => [one, texts.statuses[one]] as const)]}
        />
        <Button type="submit">{texts.show}</Button>
      </form>
      <Table
        caption={texts.deliveries}
        heads={[texts.time, texts.event, texts.state, texts.attempts, texts.actions]}
        rows={deliveries.items.map((delivery) => deliveryRow(parts, delivery))}
        empty={texts.noDeliveries}
        cards="named"
        actions
      />
      <Pages
        page={page}
        path={status === undefined ? PATH : `${PATH}?status=${status}`}
        place={data}
        totalCount={deliveries.totalCount}
        fragment="#deliveries"
      />
    </Card>
  );
}

function deliveryRow(parts: Parts, { id, type, status, creationDate, attempts, body }: DeliveryView) {
  const { organization: texts } = parts.page.texts;
  return {
    key: id,
    cells: [
      <Time at={new Date(creationDate).toISOString()} />,
      type,
      <Badge tone={DELIVERY_TONES[status]}>{texts.statuses[status]}</Badge>,
      <details>
        <summary>{attempts.length}</summary>
        <ol>
          {attempts.map(({ date, status: answer, milliseconds, error, response }) => (
            <li key={date}>
              <Time at={new Date(date).toISOString()} />: {answer ?? error ?? texts.noResponse} (
              {Math.round(milliseconds)} ms)
              {response && <pre>{response}</pre>}
            </li>
          ))}
        </ol>
        <p>{texts.body}</p>
        <pre>{body}</pre>
      </details>,
      <AccountForm of={parts} action={`${PATH}/deliveries/${id}/resend`}>
        <Button type="submit">{texts.resend}</Button>
      </AccountForm>,
    ],
  };
}

function Origins(parts: Parts) {
  const { page, data } = parts;
  const { organization: texts } = page.texts;
  const path = `${PATH}/origins`;
  const entries = entriesOf(data.notice, path);
  return (
    <Card label={texts.origins} title={texts.origins} hasBody>
      <AccountForm of={parts} action={path}>
        <TextArea
          id="origins"
          label={texts.originsLabel}
          rows={4}
          maxLength={12_850}
          spellcheck={false}
          {...entries.of('origins', data.organization.embedOrigins.join('\n'))}
        />
        <Button type="submit">{texts.save}</Button>
      </AccountForm>
    </Card>
  );
}

function Mail(parts: Parts) {
  const { page, user } = parts;
  const { organization: texts } = page.texts;
  return (
    <Card label={texts.mail} title={texts.mail} hasBody>
      <p>{filled(texts.mailText, { email: user.email })}</p>
      <AccountForm of={parts} action={`${PATH}/mail-test`}>
        <Button type="submit" icon="mail">
          {texts.mailTest}
        </Button>
      </AccountForm>
    </Card>
  );
}
