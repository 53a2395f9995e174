/** Links of templates for anybody: their list, the form of a new one, and the page with the address of one. Works without scripts. */

import type { PublicLinks, SignedInUser } from '../../../../actors/portal/api.ts';
import type { NewField } from '../../../../contracts/portal/flow.ts';
import type { PublicLinkView } from '../../../../contracts/portal/saved-requests/public-links.ts';
import type { TemplateItem } from '../../../../contracts/portal/saved-requests/templates.ts';
import { TEXTS } from '../../../../contracts/texts/texts.ts';
import type { Tone } from '../../../../contracts/tone.ts';
import { maySend } from '../../../../machines/portal/accounts/user-rights.ts';
import { Boxes, Button, ButtonLink, Field, Select } from '../../../components/controls.tsx';
import { Island } from '../../../components/island.tsx';
import { QrPicture } from '../../../components/qr-picture.tsx';
import { Badge, Card, Facts, PageHead, Table } from '../../../components/surfaces.tsx';
import { AccountForm, type Entries, entriesOf, Notice, Sure } from '../account-form.tsx';
import { type AccountNotice, type AccountPage, accountPage, addressFrom } from '../account-frame.ts';
import { filled, LANGUAGE_NAMES, type SenderTexts } from '../texts.ts';
import { CopyAddress } from './copy-address.tsx';
import { roleText } from './templates-view.tsx';
import { timeText } from './times.ts';

export const LINKS_PATH = '/account/links';
const TEMPLATES = '/account/templates';

type Texts = SenderTexts['links'];

const TONES: { readonly [status in PublicLinkView['status']]?: Tone } = { Open: 'good', Full: 'warn' };

/** A template whose links are listed. */
interface LinksOfTemplate {
  readonly template: TemplateItem;
  /** Those that the sender fills in. */
  readonly fields: readonly NewField[];
  /** True when the user may make a link of it. */
  readonly mayUse: boolean;
  readonly takesPhones: boolean;
  /** The same for each time the form is sent. */
  readonly key: string;
}

interface LinksPage {
  readonly items: readonly PublicLinkView[];
  readonly isFirst: boolean;
  /** Query of older links; absent: there are none. */
  readonly next?: string;
  /** Absent: the links are those of one template. */
  readonly q?: string;
  readonly of?: LinksOfTemplate;
  readonly notice?: AccountNotice | undefined;
}

export function linksPage(page: AccountPage, user: SignedInUser, shown: LinksPage): string {
  const { links: texts, templates, list } = TEXTS[page.words.language].senders;
  const { items, isFirst, next, q, of, notice } = shown;
  const path = of === undefined ? LINKS_PATH : `${TEMPLATES}/${of.template.id}/links`;
  const title = of === undefined ? texts.title : filled(texts.ofTemplate, { name: of.template.name });
  const from =
    of === undefined
      ? { href: addressFrom(page, TEMPLATES), text: templates.back }
      : { href: addressFrom(page, `${TEMPLATES}/${of.template.id}`), text: of.template.name };
  return accountPage(page, user, {
    title,
    hasHeading: true,
    hasMain: true,
    main: (
      <>
        <PageHead title={title} from={from} />
        <Notice page={page} notice={notice} labels={labelsOf(texts)} />
        <p>{texts.intro}</p>
        {q !== undefined && (
          <form method="get" action={path} class="filters" role="search">
            {page.culture !== undefined && <input type="hidden" name="culture" value={page.culture} />}
            <label>
              {texts.name} <input name="q" type="search" maxLength={200} value={q} />
            </label>
            <Button type="submit">{list.apply}</Button>
          </form>
        )}
        {items.length === 0 ? (
          <p>{texts.none}</p>
        ) : (
          <Card>
            <Table
              caption={texts.title}
              heads={[texts.name, texts.state, texts.use, texts.endDate]}
              rows={items.map((link) => linkRow(page, texts, link))}
              cards="named"
            />
          </Card>
        )}
        <p class="ways">
          {!isFirst && <ButtonLink href={addressFrom(page, path)}>{texts.first}</ButtonLink>}
          {next !== undefined && (
            <ButtonLink href={addressFrom(page, `${path}?${next}`)}>{texts.next}</ButtonLink>
          )}
        </p>
        {of?.mayUse === true && <NewLink page={page} user={user} of={of} notice={notice} />}
        {of?.mayUse === false && <p class="hint">{list.readOnly}</p>}
      </>
    ),
  });
}

function linkRow(page: AccountPage, texts: Texts, link: PublicLinkView) {
  const { id, name, endDate } = link;
  return {
    key: id,
    cells: [
      <a href={addressFrom(page, `${LINKS_PATH}/${id}`)}>
        <bdi>{name}</bdi>
      </a>,
      <State texts={texts} link={link} />,
      useOf(texts, link),
      timeText(page.words.language, endDate),
    ],
  };
}

function State({ texts, link: { status } }: { texts: Texts; link: PublicLinkView }) {
  const tone = TONES[status];
  return <Badge {...(tone !== undefined && { tone })}>{texts.states[status]}</Badge>;
}

function useOf(texts: Texts, { documentCount, mostDocuments }: PublicLinkView): string {
  return filled(texts.useOf, { count: documentCount, most: mostDocuments });
}

function labelsOf(texts: Texts): Readonly<Record<string, string>> {
  const { name, mostDocuments, mostPerPerson, endDate, returnUrl } = texts;
  return { name, mostDocuments, mostPerPerson, endDate, returnUrl };
}

function NewLink({
  page,
  user,
  of: { template, fields, takesPhones, key },
  notice,
}: {
  page: AccountPage;
  user: SignedInUser;
  of: LinksOfTemplate;
  notice: AccountNotice | undefined;
}) {
  const { links: texts, editor, templates } = TEXTS[page.words.language].senders;
  const action = `${TEMPLATES}/${template.id}/links`;
  const entries = entriesOf(notice, action);
  return (
    <Card label={texts.create} title={texts.create} hasBody>
      <AccountForm of={{ page, user }} action={action} isChecked>
        <input type="hidden" name="key" value={key} />
        <div class="fields">
          <Field
            id="name"
            label={texts.name}
            required
            maxLength={250}
            {...entries.of('name', template.name)}
          />
        </div>
        <Roles page={page} roles={template.roles} entries={entries} />
        <div class="fields">
          {takesPhones && (
            <Select
              id="contact"
              label={texts.contact}
              options={[
                ['Email', texts.contacts.Email],
                ['Phone', texts.contacts.Phone],
              ]}
              {...entries.of('contact', 'Email')}
            />
          )}
          <Select
            id="language"
            label={editor.personLanguage}
            options={[['', texts.anyLanguage], ...LANGUAGE_NAMES]}
            {...entries.of('language')}
          />
        </div>
        {fields.length > 0 && (
          <Boxes
            legend={texts.fields}
            hint={texts.fieldsHint}
            boxes={fields.map(({ name, label, readOnly }, index) => ({
              name: `field-${index}`,
              text: (
                <>
                  <bdi>{label?.trim() || name}</bdi>
                  {readOnly === true && <span class="hint"> ({templates.required})</span>}
                </>
              ),
              checked: entries.checked(`field-${index}`, readOnly === true),
            }))}
          />
        )}
        <div class="fields">
          <Field
            id="mostDocuments"
            label={texts.mostDocuments}
            type="number"
            min={1}
            max={100_000}
            {...entries.of('mostDocuments')}
          />
          <Field
            id="mostPerPerson"
            label={texts.mostPerPerson}
            type="number"
            min={1}
            max={100}
            {...entries.of('mostPerPerson')}
          />
          <Field
            id="endDate"
            label={texts.endDate}
            type="date"
            hint={texts.endHint}
            {...entries.of('endDate')}
          />
          <Field
            id="returnUrl"
            label={texts.returnUrl}
            type="url"
            maxLength={2_000}
            spellcheck={false}
            {...entries.of('returnUrl')}
          />
        </div>
        <Button type="submit" rank="main" icon="plus">
          {texts.create}
        </Button>
      </AccountForm>
    </Card>
  );
}

/** The visitor's role is chosen; the others have people. */
function Roles({ page, roles, entries }: { page: AccountPage; roles: readonly string[]; entries: Entries }) {
  const { links: texts, editor, templates } = TEXTS[page.words.language].senders;
  if (roles.length === 1) return <input type="hidden" name="role" value="0" />;
  const chosen = entries.of('role', '0').value;
  return (
    <>
      <p class="hint" id="roles-hint">
        {texts.rolesHint}
      </p>
      {roles.map((role, index) => (
        <fieldset class="link-role">
          <legend>
            <bdi>{roleText(templates, role)}</bdi>
          </legend>
          <label class="tick">
            <input
              type="radio"
              name="role"
              value={index}
              checked={chosen === String(index)}
              aria-describedby="roles-hint"
            />{' '}
            {texts.visitor}
          </label>
          <div class="fields">
            <Field
              id={`name-${index}`}
              label={editor.personName}
              maxLength={200}
              {...entries.of(`name-${index}`)}
            />
            <Field
              id={`email-${index}`}
              label={editor.mail}
              type="email"
              maxLength={254}
              spellcheck={false}
              {...entries.of(`email-${index}`)}
            />
          </div>
        </fieldset>
      ))}
    </>
  );
}

type LinkPage = Awaited<ReturnType<PublicLinks['shown']>> & {
  readonly notice: AccountNotice | undefined;
};

export function linkView(
  page: AccountPage,
  user: SignedInUser,
  { link, code, mayUse, mayChange, notice }: LinkPage,
): string {
  const { links: texts, templates } = TEXTS[page.words.language].senders;
  const { id, name, status, url, templateId, lastRefusal } = link;
  const isOver = status === 'Ended' || status === 'Expired';
  return accountPage(page, user, {
    title: name,
    hasHeading: true,
    hasMain: true,
    script: 'link.js',
    main: (
      <>
        <PageHead
          title={<bdi>{name}</bdi>}
          from={{ href: addressFrom(page, LINKS_PATH), text: texts.back }}
          state={<State texts={texts} link={link} />}
        />
        <Notice page={page} notice={notice} labels={{ pin: texts.pin }} />
        {lastRefusal !== null && (
          <p class="outcome bad">{filled(texts.lastRefusal, { reason: lastRefusal.message })}</p>
        )}
        {!isOver && (
          <Card title={texts.address} hasBody>
            <Island
              name="copy"
              of={CopyAddress}
              props={{ url, texts: { address: texts.address, copy: texts.copy } }}
            />
            <QrPicture code={code} label={texts.qr} />
            <p class="ways">
              <ButtonLink href={url}>{texts.open}</ButtonLink>
            </p>
          </Card>
        )}
        {status === 'Open' && mayUse && maySend(user.role, LINKS_PATH) && (
          <Devices page={page} user={user} link={link} notice={notice} />
        )}
        <Card title={texts.about} hasBody>
          <Facts pairs={factsOf(page, link)} />
          <p>
            <a href={addressFrom(page, `${TEMPLATES}/${templateId}/links`)}>{templates.one}</a>
          </p>
        </Card>
        {mayChange && maySend(user.role, LINKS_PATH) && status !== 'Ended' && (
          <div class="ways">
            <Sure
              of={{ page, user }}
              action={`${LINKS_PATH}/${id}/end`}
              ask={texts.end}
              sure={texts.endSure}
            />
          </div>
        )}
      </>
    ),
    data: { words: { copied: texts.copied, selected: texts.selected } },
  });
}

/** Devices at which persons sign one after the other. */
function Devices({
  page,
  user,
  link: { id, devices },
  notice,
}: {
  page: AccountPage;
  user: SignedInUser;
  link: PublicLinkView;
  notice: AccountNotice | undefined;
}) {
  const { links: texts } = TEXTS[page.words.language].senders;
  const { language } = page.words;
  const action = `${LINKS_PATH}/${id}/devices`;
  return (
    <Card label={texts.here} title={texts.here} hasBody>
      <p>{texts.hereText}</p>
      <AccountForm of={{ page, user }} action={action}>
        <div class="fields">
          <Field
            id="pin"
            type="password"
            label={texts.pin}
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={12}
            {...entriesOf(notice, action).of('pin')}
          />
        </div>
        <Button type="submit">{texts.hereStart}</Button>
      </AccountForm>
      {devices.length > 0 && (
        <Table
          caption={texts.devices}
          heads={[texts.madeBy, texts.endDate, texts.end]}
          rows={devices.map(({ id: device, openedBy, creationDate, endDate }) => ({
            key: device,
            cells: [
              <>
                <bdi>{openedBy.name}</bdi>, {timeText(language, creationDate)}
              </>,
              timeText(language, endDate),
              <Sure
                of={{ page, user }}
                action={`${action}/${device}/end`}
                ask={texts.deviceEnd}
                sure={texts.deviceEndSure}
              />,
            ],
          }))}
          cards="named"
        />
      )}
    </Card>
  );
}

function factsOf({ words: { language } }: AccountPage, link: PublicLinkView) {
  const { links: texts, templates, editor } = TEXTS[language].senders;
  const { role, contact, fields, mostPerPerson, endDate, language: spoken, returnUrl, createdBy } = link;
  const facts: (readonly [string, string])[] = [
    [texts.use, useOf(texts, link)],
    [texts.mostPerPerson, String(mostPerPerson)],
    [texts.endDate, timeText(language, endDate)],
    [texts.visitor, roleText(templates, role)],
    [texts.contact, texts.contacts[contact]],
    [editor.personLanguage, LANGUAGE_NAMES.find(([one]) => one === spoken)?.[1] ?? texts.anyLanguage],
  ];
  if (fields.length > 0) facts.push([texts.fields, fields.join(', ')]);
  if (returnUrl !== null) facts.push([texts.returnUrl, returnUrl]);
  facts.push([texts.madeBy, `${createdBy.name ?? ''}, ${timeText(language, link.creationDate)}`]);
  return facts;
}
