/** Page on which a participant hands an action on to another person. Works without a script. */
import { CODE_DELIVERY_TIMEOUT_MS } from '../../../../machines/portal/mail.ts';
import { Button, Field, TextArea } from '../../../components/controls.tsx';
import { portalPage, type Theme } from '../page-frame.tsx';
import { filled, type PageTexts } from '../texts.ts';
import { CodeStep } from './public-link-view.tsx';

export type PassingFault =
  | 'name'
  | 'email'
  | 'phone'
  | 'reason'
  | 'person'
  | 'often'
  | 'code'
  | 'codes'
  | 'busy';

export interface ShownPassing {
  readonly words: PageTexts;
  readonly theme: Theme | undefined;
  readonly branding: Parameters<typeof portalPage>[0]['branding'];
  /** Of the document. */
  readonly name: string;
  /** Path of this page, and of the signing page. */
  readonly address: string;
  readonly back: string;
  /** The action asks a telephone number, or an identifier. */
  readonly asksPhone: boolean;
  readonly asksIdentifier: boolean;
  readonly values: Readonly<Record<string, string>>;
  /** A code was mailed to the participant. */
  readonly asksCode: boolean;
  readonly fault?: PassingFault | undefined;
}

export function passingPage(shown: ShownPassing): string {
  const { words, theme, branding, name, address, back, asksCode, values, fault } = shown;
  const { passOn: texts } = words;
  const sent = filled(texts.codeTo, { minutes: CODE_DELIVERY_TIMEOUT_MS / 60_000 });
  return portalPage({
    words,
    theme,
    branding,
    title: texts.link,
    kind: 'quiet',
    main: (
      <main id="main" class="notice narrow" tabIndex={-1}>
        <h1>{texts.link}</h1>
        <p>
          <bdi>{name}</bdi>
        </p>
        <form method="post" action={address} class="stack">
          {asksCode ? (
            <CodeStep
              words={words}
              sent={sent}
              values={values}
              fault={fault === 'code' || fault === 'codes' || fault === 'busy' ? fault : undefined}
            />
          ) : (
            <DataStep {...shown} />
          )}
        </form>
        <p>
          <a href={back}>{words.signing.close}</a>
        </p>
      </main>
    ),
  });
}

function DataStep({ words, asksPhone, asksIdentifier, values, fault }: ShownPassing) {
  const { passOn: texts, publicLink } = words;
  const all = { ...publicLink.faults, ...texts.faults };
  const error = (of: PassingFault) => (fault === of ? all[of] : undefined);
  const isGeneral = fault === 'person' || fault === 'often' || fault === 'busy' || fault === 'codes';
  return (
    <>
      <p>{texts.intro}</p>
      {isGeneral && (
        <p class="trouble" role="alert">
          {all[fault]}
        </p>
      )}
      <Field
        id="name"
        name="name"
        label={texts.name}
        autoComplete="off"
        required
        maxLength={200}
        value={values['name']}
        error={error('name')}
      />
      <Field
        id="email"
        name="email"
        type="email"
        label={texts.email}
        autoComplete="off"
        spellcheck={false}
        required
        maxLength={254}
        value={values['email']}
        error={error('email')}
      />
      {asksPhone && (
        <Field
          id="phone"
          name="phone"
          type="tel"
          label={texts.phone}
          autoComplete="off"
          required
          maxLength={50}
          value={values['phone']}
          error={error('phone')}
        />
      )}
      {asksIdentifier && (
        <Field
          id="identifier"
          name="identifier"
          label={texts.identifier}
          autoComplete="off"
          maxLength={50}
          value={values['identifier']}
        />
      )}
      <TextArea
        id="reason"
        name="reason"
        label={texts.reason}
        rows={3}
        required
        maxLength={2_000}
        value={values['reason']}
        error={error('reason')}
      />
      <Button type="submit" rank="main" big>
        {texts.button}
      </Button>
    </>
  );
}
