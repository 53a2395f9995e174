/** Page of the signing providers of an organization. */
import type { SignedInUser } from '../../../../actors/portal/api.ts';
import type { ProviderView } from '../../../../contracts/portal/signing-providers.ts';
import { Button, Field } from '../../../components/controls.tsx';
import { Badge, Card, PageHead } from '../../../components/surfaces.tsx';
import { AccountForm, type Entries, entriesOf, Notice, Sure } from '../account-form.tsx';
import { type AccountNotice, type AccountPage, accountPage } from '../account-frame.ts';

const PATH = '/organization/signing-providers';

type Texts = AccountPage['texts']['providers'];

export function signingProvidersPage(
  page: AccountPage,
  user: SignedInUser,
  providers: readonly ProviderView[],
  notice: AccountNotice | undefined,
): string {
  const { providers: texts } = page.texts;
  const of = { page, user };
  const changed = providers.find(({ id }) => notice?.form?.action === `${PATH}/${id}`);
  const labels = {
    title: texts.name,
    address: texts.address,
    authorization: texts.authorization,
    clientId: texts.clientId,
    clientSecret: texts.clientSecret,
  };
  return accountPage(page, user, {
    title: texts.title,
    hasHeading: true,
    main: (
      <>
        <PageHead title={texts.title} />
        <Notice page={page} notice={notice} labels={labels} end={changed && `-${changed.id}`} />
        <Card label={texts.title} title={texts.title} aside={<Badge>{providers.length}</Badge>} hasBody>
          <p class="muted">{texts.text}</p>
          {providers.map((provider) => (
            <Provider key={provider.id} of={of} provider={provider} notice={notice} />
          ))}
          <h3>{texts.add}</h3>
          <AccountForm of={of} action={PATH}>
            <Fields texts={texts} entries={entriesOf(notice, PATH)} />
            <Button type="submit" rank="main" icon="plus">
              {texts.add}
            </Button>
          </AccountForm>
        </Card>
      </>
    ),
  });
}

function Provider({
  of,
  provider,
  notice,
}: {
  of: { readonly page: AccountPage; readonly user: SignedInUser };
  provider: ProviderView;
  notice: AccountNotice | undefined;
}) {
  const { providers: texts } = of.page.texts;
  const path = `${PATH}/${provider.id}`;
  const entries = entriesOf(notice, path);
  return (
    <article class="webhook">
      <h3>
        <bdi>{provider.title}</bdi>
      </h3>
      <p>{provider.address}</p>
      <p>
        {texts.returnAddress} <code>{provider.returnAddress}</code>
      </p>
      <div class="ways">
        <AccountForm of={of} action={`${path}/test`}>
          <Button type="submit" icon="send">
            {texts.test}
          </Button>
        </AccountForm>
        <Sure of={of} action={`${path}/removal`} ask={texts.remove} sure={texts.removeSure} />
        <details open={entries.isRefused}>
          <summary class="button">{texts.edit}</summary>
          <AccountForm of={of} action={path}>
            <Fields texts={texts} entries={entries} known={provider} />
            <Button type="submit">{texts.save}</Button>
          </AccountForm>
        </details>
      </div>
    </article>
  );
}

/** @param known the provider that they change; its id ends the ids of the fields */
function Fields({ texts, entries, known }: { texts: Texts; entries: Entries; known?: ProviderView }) {
  const end = known === undefined ? '' : `-${known.id}`;
  return (
    <div class="fields halves">
      <Field
        id={`title${end}`}
        label={texts.name}
        required
        maxLength={100}
        {...entries.of('title', known?.title)}
      />
      <Field
        id={`address${end}`}
        label={texts.address}
        type="url"
        required
        maxLength={500}
        spellcheck={false}
        {...entries.of('address', known?.address)}
      />
      <Field
        id={`authorization${end}`}
        label={texts.authorization}
        type="url"
        maxLength={500}
        spellcheck={false}
        {...entries.of('authorization', known?.authorization ?? '')}
      />
      <Field
        id={`clientId${end}`}
        label={texts.clientId}
        required
        maxLength={500}
        autoComplete="off"
        spellcheck={false}
        {...entries.of('clientId', known?.clientId)}
      />
      <Field
        id={`clientSecret${end}`}
        label={texts.clientSecret}
        hint={known === undefined ? undefined : texts.kept}
        type="password"
        maxLength={500}
        autoComplete="off"
        {...entries.of('clientSecret')}
      />
    </div>
  );
}
