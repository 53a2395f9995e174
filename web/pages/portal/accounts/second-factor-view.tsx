/** Pages of the second factor: a code or a passkey, setting it up, recovery codes; and its part of the account. */
import type {
  FactorEnrolment,
  FactorState,
  PasskeyCreation,
  PasskeyRequest,
  SignedInUser,
} from '../../../../actors/portal/api.ts';
import type { Language } from '../../../../contracts/portal/words.ts';
import { Button, ButtonLink, Field } from '../../../components/controls.tsx';
import { QrPicture } from '../../../components/qr-picture.tsx';
import { Badge, Card, Table } from '../../../components/surfaces.tsx';
import { AccountForm, OWN_FACTOR, OWN_PASSKEYS, SIGN_IN_AGAIN, type Viewed } from '../account-form.tsx';
import { type AccountPage, addressFrom, FORM_TOKEN } from '../account-frame.ts';
import { filled } from '../texts.ts';
import { outside } from './outside-page.tsx';
import { PASSKEY_SCRIPT, PasskeyForm } from './passkey-form.tsx';

type Trouble = 'wrong' | 'locked';

/** The field of a code. @param id of the field @param isNew of an app that is being set up, which has no recovery codes */
function CodeField({
  page,
  id = 'code',
  isNew = false,
  trouble,
  autoFocus,
}: {
  page: AccountPage;
  id?: string;
  isNew?: boolean;
  trouble?: Trouble | undefined;
  autoFocus?: boolean;
}) {
  const { secondFactor: texts } = page.texts;
  return (
    <Field
      id={id}
      name="code"
      label={texts.code}
      hint={isNew ? undefined : texts.codeHint}
      error={trouble && texts[trouble]}
      required
      maxLength={64}
      {...(isNew && { inputMode: 'numeric' as const })}
      autoComplete="one-time-code"
      autoCapitalize="characters"
      spellcheck={false}
      autoFocus={autoFocus}
    />
  );
}

/** @param action to which the code goes. @default the second step of a sign-in */
export function secondStepPage(
  page: AccountPage,
  {
    formToken,
    action = '/account/second-step',
    trouble,
    request,
    kept,
  }: {
    formToken: string;
    action?: string;
    trouble?: Trouble | undefined;
    /** Of a passkey. @default there is none */
    request?: PasskeyRequest | undefined;
    /** Fields that are sent with the proof, before what they ask for is carried out. @default there are none */
    kept?: readonly (readonly [name: string, value: string])[];
  },
): string {
  const { secondFactor: texts } = page.texts;
  const isSignIn = action === '/account/second-step';
  const hidden = kept?.map(([name, value]) => <input key={name} type="hidden" name={name} value={value} />);
  return outside(page, kept === undefined ? texts.stepTitle : texts.proofTitle, {
    content: (
      <>
        {kept !== undefined && <p>{texts.proofText}</p>}
        {request !== undefined && (
          <PasskeyForm page={page} options={request} action={action} formToken={formToken} before={hidden}>
            {texts.passkey.use}
          </PasskeyForm>
        )}
        <p>{texts.stepText}</p>
        <form method="post" action={addressFrom(page, action)}>
          <input type="hidden" name={FORM_TOKEN} value={formToken} />
          {hidden}
          <CodeField page={page} trouble={trouble} autoFocus={request === undefined} />
          <Button type="submit" {...(request === undefined && { rank: 'main' })} big>
            {texts.proceed}
          </Button>
        </form>
        <p class="muted">
          {texts.lost}{' '}
          <a href={addressFrom(page, isSignIn ? '/sign-in' : '/account')}>
            {isSignIn ? page.texts.signIn.again : page.texts.account.title}
          </a>
        </p>
        {isSignIn && <LeaveForm page={page} formToken={formToken} />}
      </>
    ),
    isFixed: !isSignIn,
    script: request && PASSKEY_SCRIPT,
  });
}

/** Ends a session that waits for the second factor. */
function LeaveForm({ page, formToken }: { page: AccountPage; formToken: string }) {
  return (
    <form method="post" action={addressFrom(page, '/account/second-step')}>
      <input type="hidden" name={FORM_TOKEN} value={formToken} />
      <input type="hidden" name="leave" value="yes" />
      <Button type="submit">{page.texts.navigation.signOut}</Button>
    </form>
  );
}

/**
 * In place of a change, in a session without a second factor that can be asked for.
 * @param waiting a session that waits for the second factor
 */
export function signInAgainPage(page: AccountPage, waiting?: { readonly formToken: string }): string {
  const { secondFactor: texts, signIn } = page.texts;
  return outside(page, texts.proofTitle, {
    content: (
      <>
        <p>{texts.proofBySignIn}</p>
        <ButtonLink href={addressFrom(page, SIGN_IN_AGAIN)} rank="main">
          {signIn.title}
        </ButtonLink>
        {waiting !== undefined && <LeaveForm page={page} formToken={waiting.formToken} />}
      </>
    ),
    isFixed: true,
  });
}

export function enrolmentPage(
  page: AccountPage,
  given: {
    readonly formToken: string;
    readonly action: string;
    readonly enrolment: FactorEnrolment;
    /** The organization requires it. */
    readonly isRequired?: boolean;
    readonly trouble?: Trouble | undefined;
    /** Of a passkey, which can take the place of the app. @default none can */
    readonly creation?: PasskeyCreation | undefined;
  },
): string {
  const { formToken, action, enrolment, isRequired = false, trouble, creation } = given;
  const { secondFactor: texts } = page.texts;
  return outside(page, texts.enrolTitle, {
    content: (
      <>
        {isRequired && <p>{texts.required}</p>}
        {creation !== undefined && (
          <NewPasskeyForm page={page} options={creation} action={action} formToken={formToken} />
        )}
        <p>{texts.enrolText}</p>
        <QrPicture code={enrolment.code} label={texts.qr} />
        <p>
          {texts.secret} <code class="secret">{enrolment.secret}</code>
        </p>
        <form method="post" action={addressFrom(page, action)}>
          <input type="hidden" name={FORM_TOKEN} value={formToken} />
          <input type="hidden" name="sealed" value={enrolment.sealed} />
          <CodeField page={page} isNew trouble={trouble} />
          <Button type="submit" {...(creation === undefined && { rank: 'main' })} big>
            {texts.proceed}
          </Button>
        </form>
        {isRequired ? (
          <LeaveForm page={page} formToken={formToken} />
        ) : (
          <p>
            <a href={addressFrom(page, '/account')}>{page.texts.account.title}</a>
          </p>
        )}
      </>
    ),
    isFixed: true,
    script: creation && PASSKEY_SCRIPT,
  });
}

function NewPasskeyForm({
  page,
  ...given
}: {
  page: AccountPage;
  options: PasskeyCreation;
  action: string;
  formToken: string;
}) {
  const { passkey: texts } = page.texts.secondFactor;
  return (
    <PasskeyForm
      page={page}
      {...given}
      before={
        <>
          <p>{texts.text}</p>
          <Field id="name" name="name" label={texts.name} hint={texts.nameHint} maxLength={60} />
        </>
      }
    >
      {texts.add}
    </PasskeyForm>
  );
}

/** @param trouble the answer of the authenticator was refused */
export function newPasskeyPage(
  page: AccountPage,
  { formToken }: Pick<SignedInUser, 'formToken'>,
  creation: PasskeyCreation,
  trouble = false,
): string {
  const { passkey: texts } = page.texts.secondFactor;
  return outside(page, texts.add, {
    content: (
      <>
        {trouble && <p class="trouble">{texts.refused}</p>}
        <NewPasskeyForm page={page} options={creation} action={OWN_PASSKEYS} formToken={formToken} />
        <noscript>
          <p>{texts.noScript}</p>
        </noscript>
        <p>
          <a href={addressFrom(page, '/account')}>{page.texts.account.title}</a>
        </p>
      </>
    ),
    isFixed: true,
    script: PASSKEY_SCRIPT,
  });
}

/** Shown once. @param onward address of the page that follows */
export function recoveryCodesPage(page: AccountPage, codes: readonly string[], onward: string): string {
  const { secondFactor: texts } = page.texts;
  return outside(page, texts.codesTitle, {
    content: (
      <>
        <p>{texts.codesText}</p>
        <ul class="recovery-codes">
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <p>
          <ButtonLink href={addressFrom(page, onward)} rank="main">
            {texts.codesKept}
          </ButtonLink>
        </p>
      </>
    ),
    isFixed: true,
  });
}

/** The second factor on the page of the account. */
export function FactorCard({
  of,
  state,
  takesPasskeys,
}: {
  of: Viewed;
  state: FactorState | undefined;
  takesPasskeys: boolean;
}) {
  const { page } = of;
  const { secondFactor: texts } = page.texts;
  const { recoveryCodes = 0, hasApp = false, passkeys = [] } = state ?? {};
  const aside = state && <Badge tone="good">{texts.on}</Badge>;
  const changes = state === undefined ? [] : hasApp ? ALL_CHANGES : RENEWAL;
  return (
    <Card title={texts.title} label={texts.title} aside={aside}>
      <div class="body">
        <p class={state && 'muted'}>
          {state === undefined ? texts.offText : filled(texts.left, { count: String(recoveryCodes) })}
        </p>
        <div class="ways">
          {!hasApp && <ButtonLink href={addressFrom(page, OWN_FACTOR)}>{texts.setUp}</ButtonLink>}
          {takesPasskeys && (
            <ButtonLink href={addressFrom(page, OWN_PASSKEYS)}>{texts.passkey.add}</ButtonLink>
          )}
          {changes.map((what) => {
            const text = what === 'removal' ? texts.remove : texts.renew;
            return (
              <details key={what}>
                <summary class="button">{text}</summary>
                <AccountForm of={of} action={`${OWN_FACTOR}/${what}`} isChecked>
                  <CodeField page={page} id={`code-${what}`} />
                  <Button type="submit" {...(what === 'removal' && { rank: 'bad' as const })}>
                    {text}
                  </Button>
                </AccountForm>
              </details>
            );
          })}
        </div>
      </div>
      {passkeys.length > 0 && <PasskeyTable of={of} passkeys={passkeys} />}
    </Card>
  );
}

const RENEWAL = ['recovery-codes'] as const;
const ALL_CHANGES = ['recovery-codes', 'removal'] as const;

function PasskeyTable({ of, passkeys }: { of: Viewed; passkeys: FactorState['passkeys'] }) {
  const { language } = of.page.words;
  const { passkey: texts } = of.page.texts.secondFactor;
  const { actions } = of.page.texts.sessions;
  return (
    <Table
      caption={texts.title}
      heads={[texts.name, texts.added, texts.used, actions]}
      rows={passkeys.map(({ id, name, addedAt, usedAt }, index) => ({
        key: id,
        cells: [
          <bdi>{name}</bdi>,
          <Day at={addedAt} language={language} />,
          usedAt === undefined ? texts.never : <Day at={usedAt} language={language} />,
          <div class="ways">
            <details>
              <summary class="button">{texts.rename}</summary>
              <AccountForm of={of} action={`${OWN_PASSKEYS}/name`} isChecked>
                <input type="hidden" name="passkey" value={id} />
                <Field
                  id={`passkey-${index}`}
                  name="name"
                  label={texts.name}
                  value={name}
                  maxLength={60}
                  required
                />
                <Button type="submit">{texts.rename}</Button>
              </AccountForm>
            </details>
            <details class="sure">
              <summary class="button">{texts.remove}</summary>
              <AccountForm of={of} action={`${OWN_PASSKEYS}/removal`}>
                <input type="hidden" name="passkey" value={id} />
                <Button type="submit" rank="bad" icon="trash-2">
                  {texts.removeSure}
                </Button>
              </AccountForm>
            </details>
          </div>,
        ],
      }))}
      empty=""
      cards="named"
      actions
    />
  );
}

function Day({ at, language }: { at: number; language: Language }) {
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' });
  return <time dateTime={new Date(at).toISOString()}>{format.format(at)}</time>;
}
