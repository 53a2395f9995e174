/** Branding of an organization: logo, colors, page after signing, and texts of mails with a preview. */

import type { SignedInUser } from '../../../actors/portal/api.ts';
import {
  BRANDED_MAILS,
  type BrandedMail,
  MAX_INTRODUCTION,
  MAX_REDIRECT_URL,
  MAX_SUBJECT,
  type MailPreview,
} from '../../../contracts/portal/branding.ts';
import { TEXTS } from '../../../contracts/texts/texts.ts';
import type { BrandingContext } from '../../../machines/portal/branding.ts';
import { Button, Field, Select, TextArea } from '../../components/controls.tsx';
import { Card, PageHead } from '../../components/surfaces.tsx';
import { AccountForm, entriesOf, Notice, Sure, type Viewed } from './account-form.tsx';
import { type AccountNotice, type AccountPage, accountPage, addressFrom, personOf } from './account-frame.ts';
import { BRANDING } from './page-frame.tsx';

const PATH = '/organization/branding';

export interface BrandingPage {
  readonly branding: BrandingContext;
  /** The mail whose texts are edited. */
  readonly kind: BrandedMail;
  readonly preview: MailPreview;
  readonly placeholders: readonly string[];
  readonly notice: AccountNotice | undefined;
}

type Parts = Viewed & BrandingPage;

export function brandingPage(page: AccountPage, user: SignedInUser, shown: BrandingPage): string {
  const { branding: texts } = page.texts;
  const { id } = user.tenant.organization;
  const { primaryColor, headerColor, redirectOrigins, redirectUrl, subject, introduction } = texts;
  const labels = { primaryColor, headerColor, redirectOrigins, redirectUrl, subject, introduction };
  const parts = { ...shown, page, user };
  return accountPage(page, user, {
    title: texts.title,
    hasHeading: true,
    main: (
      <>
        <PageHead title={texts.title} />
        <Notice page={page} notice={shown.notice} labels={labels} />
        <p class="muted">{texts.text}</p>
        <Logo {...parts} />
        <Looks {...parts} />
        <Mails {...parts} />
      </>
    ),
    script: 'branding.js',
    data: {
      formToken: user.formToken,
      userId: personOf(user),
      organization: id,
      kind: shown.kind,
      language: page.words.language,
      words: { ...TEXTS[page.words.language].senders.editor.script, noLogo: texts.noLogo },
    },
  });
}

function Logo(parts: Parts) {
  const { page, user } = parts;
  const { logo } = parts.branding;
  const { branding: texts } = page.texts;
  const { id, name } = user.tenant.organization;
  return (
    <Card label={texts.logo} title={texts.logo} hasBody>
      {logo === null ? (
        <p class="muted">{texts.logoNone}</p>
      ) : (
        <div class="ways">
          <img
            src={`${BRANDING}/${id}/logo?v=${logo.digest}`}
            alt={name}
            width={logo.width}
            height={logo.height}
            class="logo"
          />
          <Sure
            of={parts}
            action={`${PATH}/logo-removal`}
            ask={texts.logoRemove}
            sure={texts.logoRemoveSure}
          />
        </div>
      )}
      <noscript>
        <p class="trouble">{texts.needsScript}</p>
      </noscript>
      <div class="fields">
        <Field id="logo-file" label={texts.logoFile} type="file" accept="image/png,image/jpeg" />
      </div>
      <Button id="logo-upload" icon="upload">
        {texts.logoUpload}
      </Button>
      <div id="outcome" class="outcome" role="status" aria-live="polite" tabIndex={-1} />
    </Card>
  );
}

function Looks(parts: Parts) {
  const { page, branding, notice } = parts;
  const { branding: texts } = page.texts;
  const entries = entriesOf(notice, `${PATH}/looks`);
  return (
    <Card label={texts.looks} title={texts.looks} hasBody>
      <AccountForm of={parts} action={`${PATH}/looks`}>
        <div class="fields">
          {(['primaryColor', 'headerColor'] as const).map((name) => {
            const { [name]: colour } = branding;
            return (
              <Field
                key={name}
                id={name}
                label={
                  <>
                    {colour !== null && (
                      <svg class="colour" aria-hidden="true">
                        <rect width="100%" height="100%" fill={colour} />
                      </svg>
                    )}{' '}
                    {texts[name]}
                  </>
                }
                maxLength={7}
                placeholder="#1b5fb4"
                spellcheck={false}
                {...entries.of(name, colour ?? '')}
              />
            );
          })}
        </div>
        <TextArea
          id="redirectOrigins"
          label={texts.redirectOrigins}
          rows={3}
          maxLength={6019}
          spellcheck={false}
          {...entries.of('redirectOrigins', branding.redirectOrigins.join('\n'))}
        />
        <Field
          id="redirectUrl"
          label={texts.redirectUrl}
          type="url"
          maxLength={MAX_REDIRECT_URL}
          spellcheck={false}
          {...entries.of('redirectUrl', branding.redirectUrl ?? '')}
        />
        <Button type="submit" rank="main">
          {texts.save}
        </Button>
      </AccountForm>
    </Card>
  );
}

function Mails(parts: Parts) {
  const { page, branding, kind, preview, placeholders, notice } = parts;
  const { branding: texts } = page.texts;
  const { culture } = page;
  const path = `${PATH}/mail`;
  const entries = entriesOf(notice, path);
  const own = branding.mailTexts[kind];
  const hint = (
    <>
      {texts.hint}{' '}
      {placeholders.map((name) => (
        <>
          <code>{`{${name}}`}</code>{' '}
        </>
      ))}
    </>
  );
  return (
    <Card label={texts.mails} title={texts.mails} hasBody>
      <form method="get" action={`${PATH}#mails`} class="filter" id="mails">
        {culture !== undefined && <input type="hidden" name="culture" value={culture} />}
        <Select
          id="kind"
          name="kind"
          label={texts.kind}
          value={kind}
          options={BRANDED_MAILS.map((one) => [one, texts.kinds[one]] as const)}
        />
        <Button type="submit">{texts.show}</Button>
      </form>
      <div class="fields halves">
        <AccountForm of={parts} action={path} encType="multipart/form-data">
          <input type="hidden" name="kind" value={kind} />
          <Field
            id="subject"
            label={texts.subject}
            maxLength={MAX_SUBJECT}
            {...entries.of('subject', own?.subject ?? '')}
          />
          <TextArea
            id="introduction"
            label={texts.introduction}
            hint={hint}
            rows={5}
            maxLength={MAX_INTRODUCTION}
            {...entries.of('introduction', own?.introduction ?? '')}
          />
          <Button type="submit">{texts.saveMail}</Button>
        </AccountForm>
        <div role="group" aria-labelledby="preview-title" class="mail-preview">
          <h3 id="preview-title">{texts.preview}</h3>
          <p id="preview-state" class="hint" role="status" aria-live="polite" />
          <p>
            <strong id="preview-subject">
              <bdi>{preview.subject}</bdi>
            </strong>
          </p>
          <pre id="preview-text">{preview.text}</pre>
          <a
            class="button"
            href={addressFrom(page, `${PATH}/preview?kind=${kind}`)}
            target="_blank"
            rel="noopener"
          >
            {texts.asMail}
          </a>
        </div>
      </div>
    </Card>
  );
}
