/** `/failures`: failed jobs by cause, with what to do, and a retry of all jobs of a cause. */
import type { Failures } from '../../../clients/typescript/batch.d.ts';
import { BreakableName, Card, PageHead, Skeleton, StateOf } from '../../components/surfaces.tsx';
import { Time } from '../../components/time.tsx';
import { causeOf, counted, JobLink, type View } from './parts.tsx';
import { ActionButton } from './rights.tsx';

export function FailuresView({ data, actions }: View<Failures, { retry(errorCode: string): void }>) {
  const jobs = data && counted(data.examined, 'failed job', 'failed jobs');
  return (
    <>
      <PageHead title="Failures" />
      <p id="total" class="muted" role="status">
        {data && (data.complete ? jobs : `The newest ${jobs}; there are more.`)}
      </p>
      {data === undefined && <Skeleton lines={5} label="The failures are being loaded." />}
      {data?.groups.length === 0 && <StateOf icon="circle-check" tone="good" title="No job has failed." />}
      {data?.groups.map(({ errorCode, remedy, count, oldestAt, newestAt, example }) => {
        const { cause, advice } = causeOf(remedy);
        return (
          <Card
            key={errorCode}
            label={errorCode}
            title={`${counted(count, 'job', 'jobs')} failed: ${cause}`}
            aside={
              <ActionButton
                sends="POST /api/operations"
                id={`retry-${errorCode}`}
                icon="rotate-cw"
                onClick={() => actions?.retry(errorCode)}
              >
                Retry all of them
              </ActionButton>
            }
          >
            <div class="body stack">
              <p>{remedy === null ? 'Read the message of a job for the cause.' : advice}</p>
              <p class="muted">
                Newest <Time at={newestAt} />, oldest <Time at={oldestAt} />
              </p>
              <p>
                <JobLink id={example.id}>
                  <BreakableName name={example.fileName} />
                </JobLink>{' '}
                {example.message} <code class="muted small">{errorCode}</code>
              </p>
            </div>
          </Card>
        );
      })}
    </>
  );
}
