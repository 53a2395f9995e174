/** `/keys`: named API keys, with their scopes, and making, rotating and revoking them. */
import type { AccessKeys } from '../../../clients/typescript/batch.d.ts';
import { Button } from '../../components/controls.tsx';
import { Card, PageHead, Table } from '../../components/surfaces.tsx';
import { Time } from '../../components/time.tsx';
import type { View } from './parts.tsx';

export interface AccessKeyActions {
  make(): void;
  rotate(name: string): void;
  revoke(name: string): void;
}

export function AccessKeysView({ data, actions }: View<AccessKeys, AccessKeyActions>) {
  return (
    <>
      <PageHead title="Access keys">
        <Button id="make-key" rank="main" onClick={() => actions?.make()}>
          Make a key
        </Button>
      </PageHead>
      <p class="muted">Keys of programs beside the configured one. A secret is shown once.</p>
      <Card>
        <Table
          id="rows"
          caption="Access keys"
          heads={['Name', 'Scopes', 'Only for', 'Expires', 'Last used', 'Made by', 'Actions']}
          actions
          rows={data?.items.map(
            ({ name, scopes, profiles, folders, expiresAt, lastUsedAt, createdBy, secrets }) => ({
              key: name,
              cells: [
                <code>{name}</code>,
                scopes.join(', '),
                [...(profiles ?? []), ...(folders ?? [])].join(', ') || 'everything',
                <Time at={expiresAt} />,
                <Time at={lastUsedAt} />,
                createdBy,
                <>
                  <Button id={`rotate-${name}`} onClick={() => actions?.rotate(name)}>
                    {secrets.length > 1 ? 'Rotate again' : 'Rotate'}
                  </Button>{' '}
                  <Button id={`revoke-${name}`} rank="bad" onClick={() => actions?.revoke(name)}>
                    Revoke
                  </Button>
                </>,
              ],
            }),
          )}
          empty="No key was made."
        />
      </Card>
    </>
  );
}
