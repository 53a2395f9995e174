/** `/mails` and `/webhooks`: what was sent, to whom, and sending it again. */
import type {
  MailList,
  PortalWebhookDeliveryList,
  PortalWebhookOrganizations,
  WebhookDeliveryList,
} from '../../../clients/typescript/batch.d.ts';
import type { OperationName } from '../../../contracts/batch/access.ts';
import { DELIVERY_STATUSES, MAIL_STATUSES } from '../../../contracts/deliveries.ts';
import { Card, PageHead, Table, type TableRow } from '../../components/surfaces.tsx';
import { Time } from '../../components/time.tsx';
import {
  ActorLink,
  type ActorSummary,
  Choice,
  counted,
  Entry,
  Filters,
  JobLink,
  type ListActions,
  type ListView,
  Paging,
  State,
  Total,
  Trouble,
  troubleText,
} from './parts.tsx';
import { ActionButton, useMayCall } from './rights.tsx';

export interface ResendActions extends Pick<ListActions, 'filter' | 'turn'> {
  resend(button: HTMLButtonElement, id: string): void;
}

export interface MailActions extends ResendActions {
  /** Asks for the time of the first failure. */
  resendFailed(button: HTMLButtonElement): void;
}

export function MailsView({
  query = new URLSearchParams(),
  data: list,
  actions,
}: ListView<MailList, MailActions>) {
  return (
    <>
      <PageHead title="E-mails">
        <ActionButton
          sends="POST /api/mails/resend"
          id="resend-failed"
          onClick={({ currentTarget }) => actions?.resendFailed(currentTarget)}
        >
          Send failed ones again
        </ActionButton>
      </PageHead>
      <Filters query={query} actions={actions}>
        <Entry label="Search" name="search" query={query} placeholder="Recipient or subject" />
        <Choice label="Status" name="status" query={query} options={MAIL_STATUSES} none="all" />
      </Filters>
      <Card aside={<Total list={list} one="e-mail" many="e-mails" />}>
        <Table
          cards="named"
          id="rows"
          caption="E-mails"
          heads={['Subject', 'To', 'Status', 'Tries', 'Last error', 'Created', 'Action']}
          rows={list?.items.map((mail) => mailRow(mail, actions))}
          empty="No e-mail fits."
        />
      </Card>
      <Paging list={list} actions={actions} />
    </>
  );
}

function mailRow(mail: MailList['items'][number], actions: ResendActions | undefined): TableRow {
  const { id, to, about, subject, lastError } = mail;
  const title = subject ?? about;
  const address = `/api/mails/${encodeURIComponent(id)}`;
  const isUnsent = mail.status === 'Waiting' || mail.status === 'Failed';
  return {
    key: id,
    cells: [
      mail.hasText ? (
        <MailText address={address} title={title} />
      ) : (
        // The retention has ended: 30 days.
        `${title}${mail.textRemoved ? ' (text no longer kept)' : ''}`
      ),
      to,
      <State of={mail.status} />,
      mail.tries,
      lastError && <Trouble>{`${lastError.code}: ${lastError.message}`}</Trouble>,
      <Time at={mail.createdAt} />,
      isUnsent && (
        <SendAgain
          id={`resend-${id}`}
          sends="POST /api/mails/{id}/resend"
          about={`to ${to}`}
          onPress={(button) => actions?.resend(button, id)}
        />
      ),
    ],
  };
}

function MailText({ address, title }: { address: string; title: string }) {
  const mayRead = useMayCall('GET /api/mails/{id}/html');
  if (!mayRead) return <>{title}</>;
  return (
    <>
      <a href={`${address}/html`}>{title}</a>{' '}
      <a href={`${address}/text`} aria-label={`As text: ${title}`}>
        as text
      </a>
    </>
  );
}

/** @param about read after the label, which many rows have */
function SendAgain({
  id,
  sends,
  about,
  onPress,
}: {
  id: string;
  sends: OperationName;
  about: string;
  onPress: (button: HTMLButtonElement) => void;
}) {
  return (
    <ActionButton
      sends={sends}
      id={id}
      aria-label={`Send again ${about}`}
      onClick={({ currentTarget }) => onPress(currentTarget)}
    >
      Send again
    </ActionButton>
  );
}

export interface WebhookData {
  readonly list: WebhookDeliveryList;
  /** Absent without a portal. */
  readonly portal?: {
    readonly queues: readonly ActorSummary[];
    readonly organizations: PortalWebhookOrganizations['items'];
    /** Of the chosen organization. */
    readonly deliveries: PortalWebhookDeliveryList | undefined;
  };
}

export interface WebhookActions extends ResendActions {
  replay(button: HTMLButtonElement): void;
  /** @param isOfPortal a delivery of the chosen organization */
  resend(button: HTMLButtonElement, id: string, isOfPortal?: boolean): void;
}

export function WebhooksView({
  query = new URLSearchParams(),
  data,
  actions,
}: ListView<WebhookData, WebhookActions>) {
  const list = data?.list;
  return (
    <>
      <PageHead title="Webhooks">
        <ActionButton
          sends="POST /api/webhooks/replay"
          id="replay"
          onClick={({ currentTarget }) => actions?.replay(currentTarget)}
        >
          Send all failed ones again
        </ActionButton>
      </PageHead>
      <h2>Ends of jobs</h2>
      <Filters query={query} actions={actions}>
        <Choice label="Status" name="status" query={query} options={DELIVERY_STATUSES} />
      </Filters>
      <Card aside={<Total list={list} one="delivery" many="deliveries" />}>
        <Table
          cards="named"
          id="rows"
          caption="Deliveries"
          heads={['Event', 'Job', 'Status', 'Attempts', 'Last answer', 'Created', 'Action']}
          rows={list?.items.map((delivery) => ({
            key: delivery.id,
            cells: [
              delivery.type,
              <JobLink id={delivery.jobId}>{delivery.jobId.slice(0, 8)}</JobLink>,
              <State of={delivery.status} />,
              delivery.attempts.length,
              lastAnswer(delivery),
              <Time at={delivery.createdAt} />,
              <SendAgain
                id={`resend-${delivery.id}`}
                sends="POST /api/webhooks/deliveries/{id}/resend"
                about={`${delivery.type} of ${delivery.jobId.slice(0, 8)}`}
                onPress={(button) => actions?.resend(button, delivery.id)}
              />,
            ],
          }))}
          empty="No delivery fits."
        />
      </Card>
      <Paging list={list} actions={actions} />
      {data?.portal && <PortalWebhooks query={query} portal={data.portal} actions={actions} />}
    </>
  );
}

function PortalWebhooks({
  query,
  portal: { queues, organizations, deliveries },
  actions,
}: {
  query: URLSearchParams;
  portal: NonNullable<WebhookData['portal']>;
  actions: WebhookActions | undefined;
}) {
  const chosen = query.get('organization') ?? '';
  const isKnown = organizations.some(({ id }) => id === chosen);
  return (
    <section class="stack" id="portal-section" aria-labelledby="portal-title">
      <h2 id="portal-title">Events of documents</h2>
      <p class="muted">
        One queue for each webhook and document, in the order of the events. Organizations see the bodies in
        the portal.
      </p>
      <Card title="Queues">
        <Table
          cards="named"
          id="queues"
          caption="Queues"
          heads={['Queue', 'State', 'Steps', 'Trouble']}
          rows={queues.map((actor) => ({
            key: actor.id,
            cells: [
              <ActorLink kind={actor.kind} id={actor.id}>
                {queueName(actor.id)}
              </ActorLink>,
              <State of={actor.state} />,
              actor.revision,
              <Trouble>{troubleText(actor)}</Trouble>,
            ],
          }))}
          empty="No event was sent yet."
        />
      </Card>
      <h3>Deliveries of an organization</h3>
      <form
        id="portal-filters"
        class="filters"
        onSubmit={(event) => event.preventDefault()}
        onChange={({ currentTarget }) => actions?.filter(currentTarget, false)}
      >
        <label>
          Organization{' '}
          <select name="organization" value={isKnown ? chosen : ''}>
            <option value="">choose</option>
            {organizations.map(({ id, name: organization, pending, delivered, failed }) => (
              <option key={id} value={id}>
                {`${organization}: ${failed} failed, ${pending} pending, ${delivered} delivered`}
              </option>
            ))}
          </select>
        </label>
        <Choice label="State" name="portal-status" query={query} options={DELIVERY_STATUSES} />
      </form>
      <Card
        aside={
          <p id="portal-total" class="muted" role="status">
            {deliveries === undefined
              ? 'No organization is chosen.'
              : `${counted(deliveries.totalCount, 'delivery', 'deliveries')}, the newest ${deliveries.items.length}`}
          </p>
        }
      >
        <Table
          cards="named"
          id="portal-rows"
          caption="Deliveries of an organization"
          heads={['Event', 'Document', 'Status', 'Attempts', 'Last answer', 'Created', 'Action']}
          rows={(deliveries?.items ?? []).map((delivery) => portalRow(delivery, actions))}
          empty={isKnown ? 'No delivery fits.' : 'Choose one above.'}
        />
      </Card>
    </section>
  );
}

/** `<webhook>/<document>`, the id of a queue, as people tell it. */
function queueName(id: string): string {
  const [webhook = '', document = ''] = id.split('/');
  return `Document ${document.slice(0, 8)} to webhook ${webhook.slice(0, 8)}`;
}

function portalRow(
  delivery: PortalWebhookDeliveryList['items'][number],
  actions: WebhookActions | undefined,
): TableRow {
  const { id, documentId, attempts } = delivery;
  return {
    key: id,
    cells: [
      delivery.type,
      documentId !== null && (
        <ActorLink kind="document" id={documentId}>
          {documentId.slice(0, 8)}
        </ActorLink>
      ),
      <State of={delivery.status} />,
      <details>
        <summary>{attempts.length}</summary>
        <ol>
          {attempts.map(({ at, status: code, error }) => (
            <li key={at}>
              <Time at={at} /> {error ?? code}
            </li>
          ))}
        </ol>
      </details>,
      lastAnswer(delivery),
      <Time at={delivery.createdAt} />,
      <SendAgain
        id={`portal-resend-${id}`}
        sends="POST /api/webhooks/portal/{organizationId}/deliveries/{id}/resend"
        about={`${delivery.type} of ${documentId?.slice(0, 8) ?? 'no document'}`}
        onPress={(button) => actions?.resend(button, id, true)}
      />,
    ],
  };
}

function lastAnswer({ attempts }: { attempts: WebhookDeliveryList['items'][number]['attempts'] }): string {
  const last = attempts.at(-1);
  return last === undefined ? '' : (last.error ?? `${last.status ?? ''} ${last.response ?? ''}`.trim());
}
