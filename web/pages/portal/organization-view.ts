/** Page of the organization: webhooks with their deliveries (Integration), embedding origins, test mail. */

import type { OrganizationView, SignedInUser } from '../../../actors/portal/api.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../../../contracts/deliveries.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import {
  type DeliveryView,
  EVENT_TYPES,
  WEBHOOK_AUTH_TYPES,
  type WebhookView,
} from '../../../contracts/portal/webhooks.ts';
import { type Html, html } from '../../../contracts/texts/html.ts';
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

export interface OrganizationPageData {
  readonly organization: Pick<OrganizationView, 'embedOrigins'>;
  readonly webhooks: readonly WebhookView[];
  readonly deliveries: Page<DeliveryView>;
  /** Filter and place in the list of deliveries. */
  readonly status: DeliveryStatus | undefined;
  readonly offset: number;
  readonly limit: number;
  /** Types of events that a webhook can receive. */
  readonly notice?: AccountNotice | undefined;
}

export function organizationPage(page: AccountPage, user: SignedInUser, data: OrganizationPageData): string {
  const { organization: texts } = page.texts;
  return accountPage(page, user, {
    title: texts.title,
    main: html`${noticePart(data.notice)}
${integration(page, user, data)}
${deliveryList(page, user, data)}
${origins(page, user, data)}
${mail(page, user)}`,
  });
}

function integration(page: AccountPage, user: SignedInUser, data: OrganizationPageData): Html {
  const { organization: texts } = page.texts;
  const { webhooks } = data;
  const known = webhooks.map((webhook) => webhookPart(page, user, webhook, data));
  const path = '/organization/webhooks';
  const entries = entriesOf(data.notice, path);
  const registration = form(
    page,
    user,
    path,
    html`${targetFields(page, entries)}
<p class="ways"><button type="submit" class="main">${texts.register}</button></p>`,
  );
  return html`<section aria-labelledby="integration"><h2 id="integration">${texts.integration}</h2>
<p>${texts.integrationText}</p>
${known.length === 0 ? html`<p>${texts.none}</p>` : known}
<h3>${texts.register}</h3>
${registration}
</section>`;
}

/** Fields of a webhook. @param known the webhook that they change; its id ends the ids of the fields */
function targetFields(
  { texts: { organization: texts } }: AccountPage,
  entries: FormEntries,
  known?: WebhookView,
): Html {
  const end = known === undefined ? '' : `-${known.id}`;
  const types = WEBHOOK_AUTH_TYPES.map((type) => {
    const chosen = entries.selected('authType', type, known?.authType ?? 'NoAuth');
    return html`<option value="${type}"${chosen}>${texts.authTypes[type]}</option>`;
  });
  const about = known !== undefined ? texts.kept : entries.isRefused ? texts.again : undefined;
  const hint = about === undefined ? undefined : `kept${end}`;
  return html`<label for="url${end}">${texts.url}</label>
<input id="url${end}" name="url" type="url" required maxlength="2000" spellcheck="false" value="${entries.value('url', known?.url)}"${entries.marks('url')}>
${entries.fault('url')}<label for="auth-type${end}">${texts.authentication}</label>
<select id="auth-type${end}" name="authType">${types}</select>
${hint === undefined ? '' : html`<p class="hint" id="${hint}">${about}</p>\n`}<label for="token${end}">${texts.token}</label>
<input id="token${end}" name="token" type="password" maxlength="2000" autocomplete="off"${entries.marks('token', hint)}>
${entries.fault('token')}<label for="secret${end}">${texts.secret}</label>
<input id="secret${end}" name="secret" type="password" maxlength="200" autocomplete="off"${entries.marks('secret', hint)}>
${entries.fault('secret')}`;
}

function webhookPart(
  page: AccountPage,
  user: SignedInUser,
  webhook: WebhookView,
  data: OrganizationPageData,
): Html {
  const { organization: texts } = page.texts;
  const { id, url, authType, isSigned, disabledReason } = webhook;
  const path = `/organization/webhooks/${id}`;
  const disabled =
    disabledReason === null
      ? html``
      : html`<p class="trouble">${filled(texts.disabled, { reason: disabledReason })}</p>\n`;
  const test = form(page, user, `${path}/test`, html`<button type="submit">${texts.test}</button>`);
  return html`<article>
<h3>${url}</h3>
<p>${texts.authentication}: ${texts.authTypes[authType]}. ${isSigned ? texts.signed : ''}</p>
${disabled}${edition(page, user, webhook, data)}
<div class="ways">${test}
${sureForm(page, user, `${path}/removal`, { ask: texts.remove, sure: texts.removeSure })}</div>
</article>
`;
}

/** A form that changes the webhook; open when it was refused. */
function edition(
  page: AccountPage,
  user: SignedInUser,
  webhook: WebhookView,
  { notice }: OrganizationPageData,
): Html {
  const { organization: texts } = page.texts;
  const path = `/organization/webhooks/${webhook.id}`;
  const entries = entriesOf(notice, path);
  const boxes = EVENT_TYPES.map((type) => {
    const checked = entries.checked(`event${type}`, webhook.events?.includes(type));
    return html`<label><input type="checkbox" name="event${type}" value="yes"${checked}> ${type}</label>\n`;
  });
  const content = html`${targetFields(page, entries, webhook)}<fieldset class="scopes"><legend>${texts.events}</legend>
${boxes}</fieldset>
<p class="ways"><button type="submit">${texts.saveWebhook}</button></p>`;
  return html`<details${entries.isRefused ? html` open` : ''}><summary>${texts.edit}</summary>
${form(page, user, path, content)}
</details>`;
}

function deliveryList(page: AccountPage, user: SignedInUser, data: OrganizationPageData): Html {
  const { organization: texts } = page.texts;
  const { deliveries, status, offset, limit } = data;
  const rows = deliveries.items.map((delivery) => deliveryRow(page, user, delivery));
  const choices = DELIVERY_STATUSES.map((one) => {
    const chosen = one === status ? html` selected` : '';
    return html`<option value="${one}"${chosen}>${texts.statuses[one]}</option>`;
  });
  const culture =
    page.culture === undefined ? html`` : html`<input type="hidden" name="culture" value="${page.culture}">`;
  const link = (to: number, label: string) => {
    const filter = status === undefined ? '' : `&status=${status}`;
    const address = addressFrom(page, `/organization?offset=${to}${filter}#deliveries`);
    return html`<a class="button" href="${address}">${label}</a>`;
  };
  const newer = offset > 0 ? link(offset - 1, texts.newer) : html``;
  const older = (offset + 1) * limit < deliveries.totalCount ? link(offset + 1, texts.older) : html``;
  const heads = [texts.time, texts.event, texts.state, texts.attempts];
  return html`<section aria-labelledby="deliveries"><h2 id="deliveries">${texts.deliveries}</h2>
<form method="get" action="/organization#deliveries" class="filter">${culture}
<div><label for="status">${texts.filter}</label>
<select id="status" name="status"><option value="">${texts.all}</option>${choices}</select></div>
<button type="submit">${texts.show}</button>
</form>
${rows.length === 0 ? html`<p>${texts.noDeliveries}</p>` : accountTable(texts.deliveries, heads, rows)}
<p class="ways">${newer}${older}</p>
</section>`;
}

function deliveryRow(page: AccountPage, user: SignedInUser, delivery: DeliveryView): Html {
  const { organization: texts } = page.texts;
  const attempts = delivery.attempts.map(
    ({
      date,
      status,
      milliseconds,
      error,
      response,
    }) => html`<li>${utcTime(date)}: ${status ?? error ?? texts.noResponse} (${Math.round(milliseconds)} ms)
${response ? html`<pre>${response}</pre>` : ''}</li>\n`,
  );
  const resend = form(
    page,
    user,
    `/organization/deliveries/${delivery.id}/resend`,
    html`<button type="submit">${texts.resend}</button>`,
  );
  return html`<tr><td>${utcTime(delivery.creationDate)}</td><td>${delivery.type}</td><td>${texts.statuses[delivery.status]}
${resend}</td>
<td><details><summary>${delivery.attempts.length}</summary>
<ol>${attempts}</ol>
<p>${texts.body}</p>
<pre>${delivery.body}</pre>
</details></td></tr>\n`;
}

function origins(
  page: AccountPage,
  user: SignedInUser,
  { organization, notice }: OrganizationPageData,
): Html {
  const { organization: texts } = page.texts;
  const path = '/organization/origins';
  const entries = entriesOf(notice, path);
  const text = entries.value('origins', organization.embedOrigins.join('\n'));
  const content = html`<label for="origins">${texts.originsLabel}</label>
<textarea id="origins" name="origins" rows="4" maxlength="12850" spellcheck="false"${entries.marks('origins')}>${text}</textarea>
${entries.fault('origins')}<p class="ways"><button type="submit">${texts.save}</button></p>`;
  return html`<section aria-labelledby="embedding"><h2 id="embedding">${texts.origins}</h2>
${form(page, user, path, content)}
</section>`;
}

function mail(page: AccountPage, user: SignedInUser): Html {
  const { organization: texts } = page.texts;
  return html`<section aria-labelledby="mail"><h2 id="mail">${texts.mail}</h2>
<p>${filled(texts.mailText, { email: user.email })}</p>
${form(page, user, '/organization/mail-test', html`<button type="submit">${texts.mailTest}</button>`)}
</section>`;
}
