/** `/certificates`: certificates that profiles sign with, keys of applications, and how long they are valid. */
import type { BatchOperations, PortalKeys, Readiness } from '../../../clients/typescript/batch.d.ts';
import { Card, PageHead, Table, type TableRow } from '../../components/surfaces.tsx';
import { Time } from '../../components/time.tsx';
import { counted, State } from './parts.tsx';

type Profile = BatchOperations['GET /api/profiles']['answer']['profiles'][number];

export interface CertificateData {
  readonly profiles: readonly Profile[];
  readonly checks: Readiness['checks'];
  /** Absent without a portal. */
  readonly keys: PortalKeys | undefined;
}

const EXPIRY_TEXTS = { never: 'Valid', later: 'Valid', soon: 'Expires soon', over: 'Expired' } as const;

export function CertificatesView({ data }: { data?: CertificateData | undefined }) {
  return (
    <>
      <PageHead title="Certificates and keys" />
      <p class="muted">
        Certificates that profiles sign with. Jobs of a profile whose certificate cannot sign fail with the
        reason; the others run.
      </p>
      <Card title="Certificates">
        <Table
          cards="named"
          id="rows"
          caption="Certificates"
          heads={['Profile', 'State', 'Subject', 'Source', 'Valid until']}
          rows={data?.profiles.map((profile) => certificateRow(profile, data))}
          empty="No profile is configured."
        />
      </Card>
      {data?.keys && <Keys keys={data.keys} />}
    </>
  );
}

function Keys({ keys: { items, complete } }: { keys: PortalKeys }) {
  const ending = items.filter(({ expiry }) => expiry === 'soon' || expiry === 'over').length;
  return (
    <div class="stack">
      <h2>Keys of applications</h2>
      <p class="muted">
        Keys of the portal's applications, those that expire first at the top. An administrator of the
        organization makes and revokes them.
      </p>
      <Card
        aside={
          <p id="keys-total" class="muted" role="status">
            {`${counted(items.length, 'key', 'keys')}, ${ending} expired or about to expire${complete ? '' : '. There are more than these'}`}
          </p>
        }
      >
        <Table
          cards="named"
          id="keys"
          caption="Keys of applications"
          heads={['Application', 'Organization', 'Key', 'State', 'Expires', 'Last used', 'Created']}
          rows={items.map((key) => ({
            key: key.id,
            cells: [
              key.application,
              key.organization,
              <code title={key.id}>{`${key.id.slice(0, 8)}${key.limited ? ', limited' : ''}`}</code>,
              <State of={EXPIRY_TEXTS[key.expiry]} />,
              <Time at={key.expiresAt} />,
              <Time at={key.lastUsedAt} />,
              <Time at={key.createdAt} />,
            ],
          }))}
          empty="No key was made."
        />
      </Card>
    </div>
  );
}

function certificateRow(profile: Profile, { checks }: CertificateData): TableRow {
  const { certificate } = profile;
  const check = checks.find(({ name: checked }) => checked === `profile:${profile.name}`);
  const state = (
    <>
      <State of={check?.status ?? 'Unknown'} />
      {check?.detail && check.status !== 'Healthy' && ` ${check.detail}`}
    </>
  );
  if (certificate === null) {
    return {
      key: profile.name,
      cells: [profile.name, state, 'none here: a remote portal signs', '', ''],
    };
  }
  return {
    key: profile.name,
    cells: [
      profile.name,
      state,
      <span title={`SHA-1 ${certificate.thumbprint}`}>{certificate.subject}</span>,
      certificate.source,
      <Time at={certificate.notAfter} />,
    ],
  };
}
