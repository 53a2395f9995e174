/** `/jobs/{id}`: one job: cause and remedy first, its states with their times, its history, facts and profile. */
import type { BatchOperations, JobList, JobWithHistory } from '../../../clients/typescript/batch.d.ts';
import { JOB_STATE, JOB_STATES } from '../../../contracts/batch/words.ts';
import { Button, ButtonLink } from '../../components/controls.tsx';
import { Icon } from '../../components/icon.tsx';
import { Card, Facts, PageHead, Skeleton } from '../../components/surfaces.tsx';
import { shortDuration, Time, TimeOfDay } from '../../components/time.tsx';
import { ActorLink, JobLink, JobStatus, type View, worded } from './parts.tsx';
import { ActionButton } from './rights.tsx';

type Profile = BatchOperations['GET /api/profiles']['answer']['profiles'][number];
type Pairs = Parameters<typeof Facts>[0]['pairs'];

export interface JobData {
  readonly job: JobWithHistory;
  readonly profile: Profile | undefined;
  readonly children: JobList;
  /** Of its error code. Null: not known, or it has none. */
  readonly remedy: string | null;
  /** Other failed jobs with the same code. */
  readonly alike: number;
}

export interface JobActions {
  retry(button: HTMLButtonElement): void;
  cancel(button: HTMLButtonElement): void;
  copy(): void;
}

export function JobView({ data, actions }: View<JobData, JobActions>) {
  const job = data?.job;
  const isWaiting = job !== undefined && JOB_STATE[job.status].phase === 'waiting';
  return (
    <>
      <PageHead
        from={{ href: '/jobs', text: 'Jobs' }}
        title={job?.fileName ?? 'Job'}
        state={job && <JobStatus of={job.status} />}
      >
        {job !== undefined && job.outputFileName !== null && (
          <ButtonLink
            rank="main"
            icon="download"
            href={`/api/jobs/${encodeURIComponent(job.id)}/output`}
            download
          >
            Download
          </ButtonLink>
        )}
        <ActionButton
          sends="POST /api/jobs/{id}/cancel"
          id="cancel"
          rank="bad"
          hidden={!isWaiting}
          onClick={({ currentTarget }) => actions?.cancel(currentTarget)}
        >
          Cancel
        </ActionButton>
        <ActionButton
          sends="POST /api/jobs/{id}/retry"
          id="retry"
          rank="main"
          icon="rotate-cw"
          hidden={job?.status !== 'Failed'}
          onClick={({ currentTarget }) => actions?.retry(currentTarget)}
        >
          Retry
        </ActionButton>
      </PageHead>
      {job?.errorMessage && (
        <div class="cause">
          <Icon name="triangle-alert" />
          <div class="grow">
            <strong>{job.errorMessage}</strong>
            <div>
              {data?.remedy} {job.errorCode !== null && <a href="/failures">{job.errorCode}</a>}
            </div>
          </div>
          {data !== undefined && data.alike > 0 && (
            <a class="small" href="/failures">
              {data.alike} more with this cause
            </a>
          )}
        </div>
      )}
      {job === undefined ? <Skeleton lines={2} label="The job is being loaded." /> : <Course job={job} />}
      <div class="columns halves">
        <Card
          title="What happened"
          label="History"
          aside={
            <Button id="copy" rank="quiet" icon="copy" onClick={() => actions?.copy()}>
              Copy as curl
            </Button>
          }
        >
          <ol class="steps-of" id="timeline">
            {job?.history.map(({ id: line, timestamp, status, message }, at) => {
              const next = job.history[at + 1]?.timestamp;
              return (
                <li key={line}>
                  <TimeOfDay at={timestamp} />
                  <div class="grow">
                    <JobStatus of={status} /> {message}
                    <div class="muted small">
                      <Time at={timestamp} />
                      {next !== undefined &&
                        `, for ${shortDuration(Date.parse(next) - Date.parse(timestamp))}`}
                    </div>
                  </div>
                </li>
              );
            })}
          </ol>
        </Card>
        <div class="stack">
          {job !== undefined && job.warnings.length > 0 && (
            <Card title="Warnings about the file" label="Warnings" hasBody>
              <ul id="warnings">
                {job.warnings.map(({ code, object, message }) => (
                  <li key={`${code} ${object}`}>
                    {message} <code>{code}</code>
                  </li>
                ))}
              </ul>
            </Card>
          )}
          <Card title="Details" label="Job" hasBody>
            <Facts id="facts" pairs={data && factsOf(data)} />
          </Card>
          <Card title="Profile" label="Profile" hasBody>
            <Facts id="profile" pairs={data && profileFacts(data)} />
          </Card>
        </div>
      </div>
    </>
  );
}

/** States that a job passes through when nothing stops it. */
const COURSE = JOB_STATES.filter((state) => JOB_STATE[state].isUsual);

/** The states that it was in, then those that would have followed, as far as it has not ended. */
function Course({ job }: { job: JobWithHistory }) {
  const passed = job.history.filter(({ status }, at) => status !== job.history[at - 1]?.status);
  // An open page may be told of states that a newer service has.
  const hasEnded = JOB_STATE[job.status]?.phase === 'ended';
  const usual = passed.findLast(({ status }) => JOB_STATE[status]?.isUsual);
  const coming = hasEnded ? [] : COURSE.slice(usual === undefined ? 0 : COURSE.indexOf(usual.status) + 1);
  return (
    <ol class="course-of card" aria-label="States">
      {passed.map(({ id, status, timestamp }, at) => {
        const next = passed[at + 1];
        const isBad = JOB_STATE[status]?.phase === 'ended' && !JOB_STATE[status].isUsual;
        const isCurrent = next === undefined && !hasEnded;
        return (
          <li
            key={id}
            class={isBad ? 'bad' : isCurrent ? 'current' : undefined}
            aria-current={isCurrent ? 'step' : undefined}
          >
            <Icon name={isBad ? 'x' : isCurrent ? 'clock' : 'check'} size="s" />
            {worded(status)}
            {next !== undefined && (
              <span class="muted small">
                {' '}
                {shortDuration(Date.parse(next.timestamp) - Date.parse(timestamp))}
              </span>
            )}
          </li>
        );
      })}
      {coming.map((status) => (
        <li key={status} class="coming">
          <Icon name="ellipsis" size="s" />
          <span class="unseen">to come: </span>
          {worded(status)}
        </li>
      ))}
    </ol>
  );
}

function factsOf({ job, children }: JobData): Pairs {
  const code = (text: string) => <code>{text}</code>;
  const known = (name: string, value: string | null) =>
    value === null ? [] : ([[name, code(value)]] as const);
  return [
    ['Id', code(job.id)],
    ['Profile', job.profileName],
    ['Format', worded(job.format)],
    ['Source', job.folder === null ? job.source : `${job.source} (folder ${job.folder})`],
    ['Created', <Time at={job.createdAt} />],
    ['Changed', <Time at={job.updatedAt} />],
    ['File', code(job.originalPath)],
    ...(job.outputFileName === null
      ? []
      : ([
          ['Output', job.outputEncrypted ? `${job.outputFileName} (encrypted)` : job.outputFileName],
        ] as const)),
    ['Actor', <ActorLink kind="job" id={job.id} />],
    ...known('Remote document', job.remoteDocumentId),
    ...(job.awaitingSignerSince === null
      ? []
      : ([['Waiting since', <Time at={job.awaitingSignerSince} />]] as const)),
    ...known('SHA-256 of the input', job.inputSha256),
    ...known('SHA-256 of the output', job.outputSha256),
    ...(job.parentJobId === null
      ? []
      : ([['Retry of', <JobLink id={job.parentJobId}>{job.parentJobId}</JobLink>]] as const)),
    ...children.items.map(
      ({ id, status }) =>
        [
          'Retried as',
          <>
            <JobLink id={id}>{id}</JobLink> <JobStatus of={status} />
          </>,
        ] as const,
    ),
  ];
}

function profileFacts({ job, profile }: JobData): Pairs {
  if (profile === undefined) return [[job.profileName, 'no longer configured']];
  const yesNo = (value: boolean) => (value ? 'yes' : 'no');
  return [
    ['Name', profile.name],
    ['Method', profile.method],
    ['Format', profile.format === null ? 'by extension' : worded(profile.format)],
    ['Verify', yesNo(profile.verify)],
    ['Encrypt', yesNo(profile.encrypt)],
    ['Validate certificate', yesNo(profile.validateCertificate)],
    ['Certificate', profile.certificate?.subject ?? 'none'],
    ['Valid until', profile.certificate === null ? '-' : <Time at={profile.certificate.notAfter} />],
  ];
}
