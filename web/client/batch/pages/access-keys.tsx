/** `/keys`: named API keys, with their scopes, and making, rotating and revoking them. */
import type { AccessKeys, AccessKeyWithSecret } from '../../../../clients/typescript/batch.d.ts';
import { Boxes, Button, Field } from '../../../components/controls.tsx';
import { AccessKeysView } from '../../../pages/batch/access-keys.tsx';
import { askForm, type FieldFault, openDialog } from '../../dialogs.tsx';
import { getJson, post, problemOf, toast } from '../api.ts';
import { ask } from '../dialogs.tsx';
import { startPage } from '../live-page.tsx';

const SCOPES = [
  ['read', 'read: see everything, change nothing'],
  ['submit', 'submit: send files'],
  ['operate', 'operate: pause, retry, cancel, rescan'],
  ['administer', 'administer: keys and nodes'],
] as const;

/** Shows a secret until the person has taken it. */
async function show({ key, secret }: AccessKeyWithSecret): Promise<void> {
  const opened = openDialog(
    `Secret of ${key.name}`,
    <div class="stack">
      <p>It is shown this once. Send it in the header of the API key.</p>
      <p>
        <code id="secret">{secret}</code>
      </p>
      <div class="ways">
        <Button rank="main" onClick={() => opened.dialog.close()}>
          I have it
        </Button>
      </div>
    </div>,
  );
  await opened.closed;
  live.refresh();
}

const actions = {
  async make() {
    let made: AccessKeyWithSecret | undefined;
    const submit = async (entered: FormData): Promise<FieldFault | undefined> => {
      const profiles = String(entered.get('profiles') ?? '')
        .split(/[\s,]+/)
        .filter((name) => name !== '');
      const expiresAt = String(entered.get('expiresAt') ?? '');
      try {
        made = await post<AccessKeyWithSecret>('/api/keys', {
          name: String(entered.get('name') ?? ''),
          scopes: SCOPES.map(([scope]) => scope).filter((scope) => entered.get(scope) === 'yes'),
          ...(profiles.length > 0 && { profiles }),
          ...(expiresAt !== '' && { expiresAt }),
        });
        return undefined;
      } catch (error) {
        const { code, message } = problemOf(error);
        const text =
          code === 'validation.body-invalid'
            ? 'Give a name of lower-case letters, digits and hyphens, at least one scope, known profiles and a day in the future.'
            : message;
        return { text };
      }
    };
    await askForm({
      title: 'Make a key',
      confirm: 'Make the key',
      back: 'Back',
      content: () => (
        <>
          <Field id="key-name" label="Name" name="name" required maxLength={40} autoComplete="off" />
          <Boxes
            legend="Scopes"
            boxes={SCOPES.map(([name, text]) => ({ name, text, checked: name === 'read' }))}
          />
          <Field
            id="key-profiles"
            label="Only these profiles"
            hint="Empty: all"
            name="profiles"
            autoComplete="off"
          />
          <Field id="key-end" label="Expires on" hint="Empty: never" name="expiresAt" type="date" />
        </>
      ),
      submit,
    });
    if (made !== undefined) await show(made);
  },
  async rotate(name: string) {
    const text = <p>The present secret stays valid for 24 hours.</p>;
    if (!(await ask(`Give ${name} a new secret?`, 'Rotate', text))) return;
    await attempt(async () => show(await post<AccessKeyWithSecret>(`/api/keys/${name}/rotate`, {})));
  },
  async revoke(name: string) {
    if (!(await ask(`Revoke ${name}?`, 'Revoke'))) return;
    await attempt(() => post(`/api/keys/${name}/revoke`));
    live.refresh();
  },
};

async function attempt(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const problem = problemOf(error);
    toast(problem.code, problem.message);
  }
}

const live = startPage<AccessKeys>({
  load: () => getJson<AccessKeys>('/api/keys'),
  view: (data) => <AccessKeysView data={data} actions={actions} />,
});
