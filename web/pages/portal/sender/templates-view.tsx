/** Templates of the organization: their list, and the form that makes a document of one. Works without scripts. */

import type { CreateDocuments, SignedInUser } from '../../../../actors/portal/api.ts';
import { senderFields } from '../../../../contracts/portal/flow.ts';
import type { TemplateItem } from '../../../../contracts/portal/saved-requests/templates.ts';
import { TEXTS } from '../../../../contracts/texts/texts.ts';
import { maySend } from '../../../../machines/portal/accounts/user-rights.ts';
import { Button, ButtonLink, Field, Select, TextArea } from '../../../components/controls.tsx';
import { PageHead, Table } from '../../../components/surfaces.tsx';
import { Notice, Sure } from '../account-form.tsx';
import {
  type AccountNotice,
  type AccountPage,
  accountPage,
  addressFrom,
  FORM_TOKEN,
} from '../account-frame.ts';
import { filled, LANGUAGE_NAMES, type SenderTexts } from '../texts.ts';
import { timeText } from './times.ts';
import { ValueField } from './value-field.tsx';

const PATH = '/account/templates';

type Texts = SenderTexts['templates'];

export interface TemplatesPage {
  readonly q: string;
  readonly items: readonly TemplateItem[];
  /** Address of older templates; undefined: there are none. */
  readonly next: string | undefined;
  readonly isFirst: boolean;
  readonly notice: AccountNotice | undefined;
}

export function templatesPage(page: AccountPage, user: SignedInUser, shown: TemplatesPage): string {
  const texts = TEXTS[page.words.language].senders;
  const { list, templates } = texts;
  const { q, items, next, isFirst, notice } = shown;
  return accountPage(page, user, {
    title: templates.title,
    hasHeading: true,
    main: (
      <>
        <PageHead title={templates.title}>
          <ButtonLink href={addressFrom(page, '/account/links')}>{texts.links.title}</ButtonLink>
          {maySend(user.role, PATH) && (
            <ButtonLink rank="main" href={addressFrom(page, `${PATH}/new`)}>
              {templates.create}
            </ButtonLink>
          )}
        </PageHead>
        <Notice page={page} notice={notice} />
        <p>{templates.text}</p>
        <form method="get" action={PATH} class="filters" role="search">
          {page.culture !== undefined && <input type="hidden" name="culture" value={page.culture} />}
          <label>
            {templates.search} <input name="q" type="search" maxLength={200} value={q} />
          </label>
          <Button type="submit">{list.apply}</Button>
        </form>
        {items.length === 0 ? (
          <p>{templates.none}</p>
        ) : (
          <div class="card">
            <Table
              caption={templates.title}
              heads={[templates.one, templates.roles, templates.version, list.changed]}
              rows={items.map((item) => templateRow(page, templates, item))}
            />
          </div>
        )}
        <p class="ways">
          {!isFirst && <ButtonLink href={addressFrom(page, PATH)}>{templates.first}</ButtonLink>}
          {next !== undefined && <ButtonLink href={addressFrom(page, next)}>{templates.next}</ButtonLink>}
        </p>
      </>
    ),
  });
}

function templateRow(
  page: AccountPage,
  templates: Texts,
  { id, name, description, roles, version, updateDate }: TemplateItem,
) {
  return {
    key: id,
    cells: [
      <>
        <a href={addressFrom(page, `${PATH}/${id}`)}>
          <bdi>{name}</bdi>
        </a>
        {description !== null && <div class="hint">{description}</div>}
      </>,
      roles.map((role) => roleText(templates, role)).join(', '),
      version,
      timeText(page.words.language, updateDate),
    ],
  };
}

export interface TemplatePage {
  /** The version that is used. */
  readonly template: TemplateItem;
  /** Newest first. */
  readonly versions: readonly TemplateItem[];
  readonly request: CreateDocuments;
  /** True when the user may create documents of it, and change it. */
  readonly mayUse: boolean;
  readonly mayChange: boolean;
  /** The same for each time the form is sent. */
  readonly key: string;
  /** Inputs of a refused form, by name. */
  readonly values: Readonly<Record<string, string>>;
  readonly notice: AccountNotice | undefined;
}

/** True when the request makes one document, which can get a title. */
export function hasOneName({ files, isEnvelope }: Pick<CreateDocuments, 'files' | 'isEnvelope'>): boolean {
  return files.length === 1 || isEnvelope === true;
}

export function templatePage(page: AccountPage, user: SignedInUser, shown: TemplatePage): string {
  const texts = TEXTS[page.words.language].senders;
  const { templates } = texts;
  const { template, versions, notice, mayUse, mayChange } = shown;
  const { id, name, description, version } = template;
  const newest = versions[0]?.version ?? version;
  return accountPage(page, user, {
    title: name,
    hasHeading: true,
    main: (
      <>
        <PageHead title={name} from={{ href: addressFrom(page, PATH), text: templates.back }} />
        <Notice page={page} notice={notice} />
        {description !== null && <p>{description}</p>}
        {version !== newest && (
          <p class="hint">
            {filled(templates.notNewest, { version: String(version), newest: String(newest) })}
          </p>
        )}
        {mayUse ? (
          <UseForm page={page} user={user} texts={texts} shown={shown} />
        ) : (
          <p class="hint">{texts.list.readOnly}</p>
        )}
        <h2>{templates.versions}</h2>
        {/* biome-ignore lint/a11y/noRedundantRoles: without markers it is no list for some screen readers. */}
        <ol class="rows" role="list">
          {versions.map((one) => (
            <li key={one.version}>
              <a
                href={addressFrom(page, `${PATH}/${one.id}?version=${one.version}`)}
                aria-current={one.version === version ? 'true' : undefined}
              >
                <bdi>
                  {filled(templates.versionLine, {
                    version: String(one.version),
                    time: timeText(page.words.language, one.updateDate),
                    name: one.updatedBy.name,
                  })}
                </bdi>
              </a>
            </li>
          ))}
        </ol>
        <div class="ways">
          {mayUse && (
            <ButtonLink href={addressFrom(page, `${PATH}/${id}/bulk`)}>{texts.bulk.open}</ButtonLink>
          )}
          <ButtonLink href={addressFrom(page, `${PATH}/${id}/links`)}>{texts.links.title}</ButtonLink>
          {mayChange && (
            <>
              <ButtonLink href={addressFrom(page, `${PATH}/${id}/edit`)}>{templates.edit}</ButtonLink>
              <Sure
                of={{ page, user }}
                action={`${PATH}/${id}/removal`}
                ask={templates.remove}
                sure={templates.removeSure}
              />
            </>
          )}
        </div>
      </>
    ),
  });
}

/** The browser checks its fields: a refusal of the service is about the whole form. */
function UseForm({
  page,
  user,
  texts: { editor, templates },
  shown: { template, request, key, values },
}: {
  page: AccountPage;
  user: SignedInUser;
  texts: SenderTexts;
  shown: TemplatePage;
}) {
  const { id, version, roles } = template;
  const fields = senderFields(request);
  return (
    <form method="post" action={addressFrom(page, `${PATH}/${id}/documents`)}>
      <input type="hidden" name={FORM_TOKEN} value={user.formToken} />
      <input type="hidden" name="version" value={version} />
      <input type="hidden" name="key" value={key} />
      {roles.length > 0 && <h2>{templates.people}</h2>}
      {roles.map((role, index) => (
        <fieldset>
          <legend>
            <bdi>{roleText(templates, role)}</bdi>
          </legend>
          <Field
            id={`name-${index}`}
            name={`name-${index}`}
            label={editor.personName}
            required
            maxLength={200}
            value={values[`name-${index}`]}
          />
          <Field
            id={`email-${index}`}
            name={`email-${index}`}
            label={editor.mail}
            type="email"
            required
            maxLength={254}
            spellcheck={false}
            value={values[`email-${index}`]}
          />
          <Select
            id={`language-${index}`}
            name={`language-${index}`}
            label={editor.personLanguage}
            options={[['', editor.anyLanguage], ...LANGUAGE_NAMES]}
            value={values[`language-${index}`] ?? ''}
          />
        </fieldset>
      ))}
      {fields.length > 0 && (
        <>
          <h2>{templates.values}</h2>
          <p class="hint">{templates.valuesHint}</p>
        </>
      )}
      {fields.map((field, index) => (
        <ValueField required={templates.required} field={field} id={`value-${index}`} values={values} />
      ))}
      <h2>{editor.message}</h2>
      {hasOneName(request) && (
        <Field
          id="document-name"
          name="documentName"
          label={templates.documentName}
          maxLength={250}
          value={values['documentName'] ?? nameOf(request)}
        />
      )}
      <TextArea
        id="description"
        name="description"
        label={editor.messageText}
        rows={4}
        maxLength={4000}
        value={values['description'] ?? request.description ?? ''}
      />
      <p class="ways">
        <Button type="submit" rank="main">
          {editor.send}
        </Button>
      </p>
    </form>
  );
}

function nameOf({ files, isEnvelope, envelopeName }: CreateDocuments): string {
  return (isEnvelope === true ? envelopeName : files[0]?.displayName) ?? '';
}

/** Name of a role: those that the service gave, such as `Signer 1`, in the language of the page. */
export function roleText({ roleNames }: Texts, role: string): string {
  const [, type, number] = /^(Signer|Approver) (\d{1,4})$/.exec(role) ?? [];
  return type === 'Signer' || type === 'Approver' ? `${roleNames[type]} ${number}` : role;
}
