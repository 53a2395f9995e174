/** Pages of the second factor: a code, setting it up, recovery codes; and its part of the account. */
import type { FactorEnrolment, FactorState } from '../../../../actors/portal/api.ts';
import { Button, ButtonLink, Field } from '../../../components/controls.tsx';
import { Badge, Card } from '../../../components/surfaces.tsx';
import { AccountForm, OWN_FACTOR, type Viewed } from '../account-form.tsx';
import { type AccountPage, addressFrom, FORM_TOKEN } from '../account-frame.ts';
import { filled } from '../texts.ts';
import { outside } from './outside-page.tsx';

type Trouble = 'wrong' | 'locked';

/** The field of a code. @param id of the field @param isNew of an app that is being set up, which has no recovery codes */
function CodeField({
  page,
  id = 'code',
  isNew = false,
  trouble,
  autoFocus,
}: {
  readonly page: AccountPage;
  readonly id?: string;
  readonly isNew?: boolean;
  readonly trouble?: Trouble | undefined;
  readonly autoFocus?: boolean;
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
  }: {
    readonly formToken: string;
    readonly action?: string;
    readonly trouble?: Trouble;
  },
): string {
  const { secondFactor: texts } = page.texts;
  const isSignIn = action === '/account/second-step';
  return outside(
    page,
    texts.stepTitle,
    <>
      <p>{texts.stepText}</p>
      <form method="post" action={addressFrom(page, action)}>
        <input type="hidden" name={FORM_TOKEN} value={formToken} />
        <CodeField page={page} trouble={trouble} autoFocus />
        <Button type="submit" rank="main" big>
          {texts.proceed}
        </Button>
      </form>
      <p class="muted">
        {texts.lost}{' '}
        <a href={addressFrom(page, isSignIn ? '/sign-in' : '/account')}>
          {isSignIn ? page.texts.signIn.again : page.texts.account.title}
        </a>
      </p>
    </>,
    !isSignIn,
  );
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
  },
): string {
  const { formToken, action, enrolment, isRequired = false, trouble } = given;
  const { secondFactor: texts } = page.texts;
  const { size, path } = enrolment.code;
  return outside(
    page,
    texts.enrolTitle,
    <>
      {isRequired && <p>{texts.required}</p>}
      <p>{texts.enrolText}</p>
      <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={texts.qr}>
        <rect width={size} height={size} fill="#fff" />
        <path d={path} fill="#000" />
      </svg>
      <p>
        {texts.secret} <code class="secret">{enrolment.secret}</code>
      </p>
      <form method="post" action={addressFrom(page, action)}>
        <input type="hidden" name={FORM_TOKEN} value={formToken} />
        <input type="hidden" name="sealed" value={enrolment.sealed} />
        <CodeField page={page} isNew trouble={trouble} />
        <Button type="submit" rank="main" big>
          {texts.proceed}
        </Button>
      </form>
      {!isRequired && (
        <p>
          <a href={addressFrom(page, '/account')}>{page.texts.account.title}</a>
        </p>
      )}
    </>,
    true,
  );
}

/** Shown once. @param onward address of the page that follows */
export function recoveryCodesPage(page: AccountPage, codes: readonly string[], onward: string): string {
  const { secondFactor: texts } = page.texts;
  return outside(
    page,
    texts.codesTitle,
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
    </>,
    true,
  );
}

/** The second factor on the page of the account. */
export function FactorCard({ of, state }: { readonly of: Viewed; readonly state: FactorState | undefined }) {
  const { page } = of;
  const { secondFactor: texts } = page.texts;
  if (state === undefined)
    return (
      <Card title={texts.title} label={texts.title}>
        <div class="body">
          <p class="muted">{texts.offText}</p>
          <ButtonLink href={addressFrom(page, OWN_FACTOR)}>{texts.setUp}</ButtonLink>
        </div>
      </Card>
    );
  return (
    <Card title={texts.title} label={texts.title} aside={<Badge tone="good">{texts.on}</Badge>}>
      <div class="body">
        <p>{filled(texts.left, { count: String(state.recoveryCodes) })}</p>
        {(['recovery-codes', 'removal'] as const).map((what) => {
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
    </Card>
  );
}
