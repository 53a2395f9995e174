/** `/system`: the pipeline's switch, readiness, profiles, and the program itself. */
import type { BatchOperations, PipelineState, Readiness } from '../../../clients/typescript/batch.d.ts';
import { Card, Facts, PageHead, Table } from '../../components/surfaces.tsx';
import { Time } from '../../components/time.tsx';
import { PauseButton } from './overview.tsx';
import { State, type View, worded } from './parts.tsx';
import { ActionButton } from './rights.tsx';

/** Program data that `/system` shows in addition to the API. */
export type SystemInfo = readonly (readonly [name: string, value: string])[];

export interface SystemData {
  readonly state: PipelineState;
  readonly checks: Readiness['checks'];
  readonly profiles: BatchOperations['GET /api/profiles']['answer']['profiles'];
  readonly queued: number;
}

export interface SystemActions {
  toggle(button: HTMLButtonElement): void;
  cleanup(button: HTMLButtonElement): void;
}

export function SystemView({ info, data, actions }: View<SystemData, SystemActions> & { info: SystemInfo }) {
  return (
    <>
      <PageHead title="System">
        <ActionButton
          sends="POST /api/cleanup"
          id="cleanup"
          onClick={({ currentTarget }) => actions?.cleanup(currentTarget)}
        >
          Cleanup
        </ActionButton>
        <PauseButton paused={data?.state.paused} onPress={(button) => actions?.toggle(button)} />
      </PageHead>
      <div class="columns halves">
        <Card title="Pipeline" label="Pipeline" hasBody>
          <Facts id="pipeline" pairs={data && pipelineFacts(data)} />
        </Card>
        <Card title="Program" label="Program" hasBody>
          <Facts pairs={info} />
        </Card>
      </div>
      <Card title="Readiness">
        <Table
          cards="named"
          id="checks"
          caption="Readiness"
          heads={['Check', 'State', 'Detail']}
          rows={data?.checks.map(({ name: check, status: found, detail }) => ({
            key: check,
            cells: [checkName(check), <State of={found} />, detail],
          }))}
        />
      </Card>
      <Card title="Profiles">
        <Table
          cards="named"
          id="profiles"
          caption="Profiles"
          heads={['Name', 'Format', 'Method', 'Verify', 'Encrypt', 'Certificate', 'Valid until']}
          rows={data?.profiles.map((profile) => {
            const { certificate } = profile;
            return {
              key: profile.name,
              cells: [
                profile.default ? `${profile.name} (default)` : profile.name,
                profile.format === null ? 'by extension' : worded(profile.format),
                profile.method,
                profile.verify ? 'yes' : 'no',
                profile.encrypt ? 'yes' : 'no',
                certificate === null ? '-' : `${certificate.source}: ${certificate.subject}`,
                certificate === null ? '-' : <Time at={certificate.notAfter} />,
              ],
            };
          })}
          empty="No profile is configured."
        />
      </Card>
    </>
  );
}

/** Words for checks; those of several things are followed by the name of the thing. */
const CHECKS: { readonly [check: string]: string } = {
  actors: 'Actors',
  authority: 'Authorities of the profile',
  database: 'Store',
  folder: 'Folder',
  'input-folder': 'Input folder',
  license: 'License',
  mail: 'E-mails',
  objects: 'Object store',
  pool: 'Worker threads',
  profile: 'Profile',
  'remote-portal': 'Portal of the signers',
  room: 'Room on the disk',
};

/** `folder:processing` → `Folder processing`. */
function checkName(name: string): string {
  const [kind = '', ...of] = name.split(':');
  return [CHECKS[kind] ?? kind, of.join(':')].filter(Boolean).join(' ');
}

function pipelineFacts({ state, queued }: SystemData) {
  const { paused, held } = state;
  return [
    ['State', <State of={paused ? 'Paused' : held ? 'Held' : 'Running'} />] as const,
    ...(held
      ? [['Held since', <Time at={held.since} />] as const, ['Held because', held.reason] as const]
      : []),
    ['Queue', queued] as const,
    ['In flight', `${state.jobsInFlight} of ${state.maxConcurrency}`] as const,
    [paused ? 'Paused' : 'Resumed', <Time at={paused ? state.pausedAtUtc : state.resumedAtUtc} />] as const,
    ['By', state.pausedBy] as const,
    ['Reason', state.reason ?? '-'] as const,
  ];
}
