/** `/keys`: named API keys, with their scopes, and making, rotating and revoking them. */
import type { AccessKeys } from '../../../clients/typescript/batch.d.ts';
import { Card, PageHead, Table } from '../../components/surfaces.tsx';
import { Time } from '../../components/time.tsx';
import type { View } from './parts.tsx';
import { ActionButton } from './rights.tsx';

export interface AccessKeyActions {
  make(): void;
  rotate(name: string): void;
  revoke(name: string): void;
}

export function AccessKeysView({ data, actions }: View<AccessKeys, AccessKeyActions>) {
  return (
    <>
      <PageHead title="Access keys">
        <ActionButton sends="POST /api/keys" id="make-key" rank="main" onClick={() => actions?.make()}>
          Make a key
        </ActionButton>
      </PageHead>
      <p class="muted">Keys of programs beside the configured one. A secret is shown once.</p>
      <Card>
        <Table
          cards="named"
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
                  <ActionButton
                    sends="POST /api/keys/{name}/rotate"
                    id={`rotate-${name}`}
                    onClick={() => actions?.rotate(name)}
                  >
                    {secrets.length > 1 ? 'Rotate again' : 'Rotate'}
                  </ActionButton>{' '}
                  <ActionButton
                    sends="POST /api/keys/{name}/revoke"
                    id={`revoke-${name}`}
                    rank="bad"
                    onClick={() => actions?.revoke(name)}
                  >
                    Revoke
                  </ActionButton>
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
