/** Columns of lists of jobs: which there are, what they show, and by what they sort. */
import type { ComponentChildren } from 'preact';
import type { Job } from '../../../clients/typescript/batch.d.ts';
import { JOB_STATE } from '../../../contracts/batch/words.ts';
import { BreakableName, type TableRow } from '../../components/surfaces.tsx';
import { shortDuration, Time } from '../../components/time.tsx';
import { JobLink, JobStatus, worded } from './parts.tsx';

interface JobColumn {
  readonly name: string;
  cell(job: Job): ComponentChildren;
  /** By what it sorts; undefined stands last. */
  by(job: Job): string | number | undefined;
}

const hasEnded = ({ status }: Job) => JOB_STATE[status].phase === 'ended';
const took = (job: Job) =>
  hasEnded(job) ? Date.parse(job.updatedAt) - Date.parse(job.createdAt) : undefined;
const bytes = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 3 });

export const JOB_COLUMNS = {
  file: {
    name: 'File',
    cell: ({ id, fileName }) => (
      <JobLink id={id}>
        <BreakableName name={fileName} />
      </JobLink>
    ),
    by: ({ fileName }) => fileName,
  },
  state: {
    name: 'State and cause',
    cell: ({ status, errorMessage }) => (
      <>
        <JobStatus of={status} />
        {errorMessage !== null && (
          <span class="cause-of small" title={errorMessage}>
            {errorMessage}
          </span>
        )}
      </>
    ),
    by: ({ status, errorCode }) => `${status} ${errorCode ?? ''}`,
  },
  took: {
    name: 'Took',
    cell(job) {
      const milliseconds = took(job);
      return milliseconds === undefined ? '–' : shortDuration(milliseconds);
    },
    by: took,
  },
  size: {
    name: 'Size',
    cell: ({ sizeBytes }) => (sizeBytes === null ? '–' : sizeText(sizeBytes)),
    by: ({ sizeBytes }) => sizeBytes ?? undefined,
  },
  profile: {
    name: 'Profile',
    cell: ({ profileName }) => profileName,
    by: ({ profileName }) => profileName,
  },
  ended: {
    name: 'Ended',
    cell: (job) => (hasEnded(job) ? <Time at={job.updatedAt} /> : '–'),
    by: (job) => (hasEnded(job) ? job.updatedAt : undefined),
  },
  created: {
    name: 'Created',
    cell: ({ createdAt }) => <Time at={createdAt} />,
    by: ({ createdAt }) => createdAt,
  },
  format: { name: 'Format', cell: ({ format }) => worded(format), by: ({ format }) => format },
  from: {
    name: 'From',
    cell: ({ folder, source }) => folder ?? worded(source),
    by: ({ folder, source }) => folder ?? source,
  },
} as const satisfies { readonly [id: string]: JobColumn };

export type JobColumnId = keyof typeof JOB_COLUMNS;
export const ALL_JOB_COLUMNS = Object.keys(JOB_COLUMNS) as JobColumnId[];
/** Shown until a person chooses others. */
export const USUAL_JOB_COLUMNS: readonly JobColumnId[] = [
  'file',
  'state',
  'took',
  'size',
  'profile',
  'ended',
];

/** Reads `took`, or `-took` for the largest first. Undefined: no column. */
export function jobSort(
  text: string | null,
): { readonly by: JobColumnId; readonly isDown: boolean } | undefined {
  const isDown = text?.startsWith('-') ?? false;
  const by = ALL_JOB_COLUMNS.find((id) => id === text?.slice(isDown ? 1 : 0));
  return by && { by, isDown };
}

/** The jobs of a page by a column; equal ones stay as they are. */
export function sortedJobs(jobs: readonly Job[], sort: ReturnType<typeof jobSort>): readonly Job[] {
  if (sort === undefined) return jobs;
  const { by }: JobColumn = JOB_COLUMNS[sort.by];
  return jobs.toSorted((one, other) => {
    const first = by(one);
    const second = by(other);
    if (first === undefined || second === undefined)
      return Number(first === undefined) - Number(second === undefined);
    const order =
      typeof first === 'number' && typeof second === 'number'
        ? first - second
        : String(first).localeCompare(String(second), 'en', { numeric: true });
    return sort.isDown ? -order : order;
  });
}

export function jobRow(job: Job, columns = USUAL_JOB_COLUMNS): TableRow {
  return { key: job.id, cells: columns.map((id) => JOB_COLUMNS[id].cell(job)) };
}

function sizeText(count: number): string {
  const unit = Math.min(3, Math.floor(Math.log10(Math.max(1, count)) / 3));
  return `${bytes.format(count / 1000 ** unit)} ${['B', 'kB', 'MB', 'GB'][unit]}`;
}
