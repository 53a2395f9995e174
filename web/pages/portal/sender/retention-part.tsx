/** Legal hold and planned deletion on the page of a document, for administrators. */
import { type DocumentRetention, MAX_HOLD_REASON } from '../../../../contracts/portal/retention/retention.ts';
import { Button, Field } from '../../../components/controls.tsx';
import { AccountForm, Sure, type Viewed } from '../account-form.tsx';
import { timeText } from './times.ts';

const HOLDS = '/organization/retention/holds';

export function RetentionOf({
  id,
  retention: { hold, deletion },
  ...of
}: Viewed & { id: string; retention: DocumentRetention }) {
  const { retention: texts } = of.page.texts;
  const { language } = of.page.words;
  return (
    <section>
      <h2>{texts.title}</h2>
      {deletion !== null && (
        <p>
          {texts.planned}: {timeText(language, deletion.date)}
        </p>
      )}
      {hold === null ? (
        <AccountForm of={of} isChecked action={HOLDS}>
          <input type="hidden" name="type" value="Document" />
          <input type="hidden" name="id" value={id} />
          <Field id="hold-reason" name="reason" label={texts.reason} maxLength={MAX_HOLD_REASON} required />
          <Button type="submit">{texts.hold}</Button>
        </AccountForm>
      ) : (
        <>
          <p>
            {texts.held}: <bdi>{hold.reason}</bdi>{' '}
            <span class="hint">
              <bdi>{hold.by.name}</bdi>, {timeText(language, hold.date)}
            </span>
          </p>
          <Sure of={of} action={`${HOLDS}/Document/${id}/removal`} ask={texts.endHold} sure={texts.endSure} />
        </>
      )}
    </section>
  );
}
