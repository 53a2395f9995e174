/** Page of a link for anybody: what it asks, and the code that was sent. Works without a script. */
import type { PublicLinkPage } from '../../../contracts/portal/saved-requests/public-links.ts';
import { Template } from '../../../contracts/texts/markup.tsx';
import type { PageBranding } from '../../../machines/portal/branding.ts';
import { CODE_DELIVERY_TIMEOUT_MS } from '../../../machines/portal/mail.ts';
import { Button, Field } from '../../components/controls.tsx';
import { languages } from './account-frame.ts';
import { noticePage } from './notice-view.tsx';
import { portalPage, type Theme } from './page-frame.tsx';
import { ValueField } from './sender/value-field.tsx';
import { filled, type PageTexts } from './texts.ts';

export type LinkFault = keyof PageTexts['publicLink']['faults'];

export interface ShownLink {
  readonly words: PageTexts;
  readonly theme: Theme | undefined;
  readonly page: PublicLinkPage;
  readonly branding: PageBranding | undefined;
  readonly ticket: string;
  /** Names of the fields of the link: the position names the input, also when the template changes. */
  readonly inputs: readonly string[];
  /** The same for each time the form is sent. */
  readonly visitId: string;
  /** Inputs by name. */
  readonly values: Readonly<Record<string, string>>;
  /** True: a code was sent, and is asked. */
  readonly asksCode: boolean;
  readonly fault?: { readonly of: LinkFault; readonly reason?: string } | undefined;
}

export function publicLinkPage(shown: ShownLink): string {
  const { words, theme, page, branding, ticket, visitId, asksCode } = shown;
  const { name, organizationName } = page;
  const address = `/link?ticket=${encodeURIComponent(ticket)}`;
  return portalPage({
    words,
    theme,
    branding,
    title: name,
    kind: 'quiet',
    main: (
      <main id="main" class="notice narrow" tabIndex={-1}>
        <h1>
          <bdi>{name}</bdi>
        </h1>
        <p>{filled(words.from, { organization: organizationName })}</p>
        <form method="post" action={`${address}&culture=${words.language}`} class="stack">
          <input type="hidden" name="visit" value={visitId} />
          {asksCode ? <CodeStep {...shown} /> : <DataStep {...shown} />}
        </form>
        {page.language === null && !asksCode && <Template of={languages({ words, address })} />}
      </main>
    ),
  });
}

function DataStep({ words, page, inputs, values, fault }: ShownLink) {
  const { publicLink: texts, signing, newLink } = words;
  const error = (of: LinkFault) => (fault?.of === of ? texts.faults[of] : undefined);
  const { contact, fields } = page;
  return (
    <>
      <p>{texts.intro}</p>
      <Trouble words={words} fault={fault} />
      <Field
        id="name"
        name="name"
        label={signing.name}
        autoComplete="name"
        required
        maxLength={200}
        value={values['name']}
        error={error('name')}
      />
      {contact === 'Email' ? (
        <Field
          id="email"
          name="email"
          type="email"
          label={newLink.address}
          autoComplete="email"
          spellcheck={false}
          required
          maxLength={254}
          value={values['email']}
          error={error('email')}
        />
      ) : (
        <Field
          id="phone"
          name="phone"
          type="tel"
          label={texts.phone}
          autoComplete="tel"
          required
          maxLength={50}
          value={values['phone']}
          error={error('phone')}
        />
      )}
      {fields.map(({ required, ...field }) => (
        <ValueField
          required={signing.required}
          field={{ ...field, readOnly: required }}
          id={`value-${inputs.indexOf(field.name)}`}
          values={values}
        />
      ))}
      <Button type="submit" rank="main" big>
        {texts.sendCode}
      </Button>
    </>
  );
}

function CodeStep({ words, page, values, fault }: ShownLink) {
  const { publicLink: texts } = words;
  const to = values[page.contact === 'Email' ? 'email' : 'phone'] ?? '';
  return (
    <>
      <h2>{texts.codeTitle}</h2>
      <p>{filled(texts.codeSent, { to, minutes: CODE_DELIVERY_TIMEOUT_MS / 60_000 })}</p>
      <Trouble words={words} fault={fault} />
      {Object.entries(values).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <Field
        id="code"
        name="code"
        label={texts.code}
        autoComplete="one-time-code"
        inputMode="numeric"
        required
        maxLength={50}
        error={fault?.of === 'code' ? texts.faults.code : undefined}
      />
      <p class="ways">
        <Button type="submit" rank="main" big>
          {texts.onward}
        </Button>
        <Button type="submit" name="do" value="again" formNoValidate>
          {texts.again}
        </Button>
        <Button type="submit" rank="quiet" name="do" value="change" formNoValidate>
          {texts.change}
        </Button>
      </p>
    </>
  );
}

/** The fault of the form as a whole. */
function Trouble({ words, fault }: Pick<ShownLink, 'words' | 'fault'>) {
  if (fault === undefined || ['name', 'email', 'phone', 'code'].includes(fault.of)) return null;
  return (
    <p class="trouble" role="alert">
      {filled(words.publicLink.faults[fault.of], { reason: fault.reason ?? '' })}
    </p>
  );
}

export type LinkEnd = keyof PageTexts['publicLink']['closed'] | 'personFull';

/** A link without a form. It names neither the link nor its sender. */
export function publicLinkEndPage(words: PageTexts, theme: Theme | undefined, end: LinkEnd): string {
  const { closed, ...texts } = words.publicLink;
  const message = end === 'personFull' ? texts.personFull : closed[end];
  return noticePage({ words, theme, message, icon: 'link-2-off' });
}
