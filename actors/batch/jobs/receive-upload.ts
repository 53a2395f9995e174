/** Receives an upload: chooses the profile, stores the bytes and creates the job. */
import type { JobView } from '../../../contracts/batch/jobs.ts';
import { Refusal } from '../../../machines/refusals.ts';
import type { IncomingUpload, UploadJob, UploadPlan, UploadRequest, UploadSink } from '../api/jobs.ts';

/** The steps of an upload. */
export interface UploadSteps<Sink extends UploadSink> {
  /** Refusals: `profile.not-found`, `upload.format-unsupported`. */
  plan(request: UploadRequest): UploadPlan;
  /** Refusals: `job.path-too-long`. */
  openUpload(fileName: string, key: IncomingUpload['key']): Promise<Sink>;
  /** Refusals: `upload.empty`, `job.already-processing`, `idempotency.mismatch`, `service.busy`. */
  acceptUpload(sink: Sink, job: UploadJob): Promise<JobView>;
}

/** Implements `Jobs.receive` with the given steps. */
export async function receiveUpload<Sink extends UploadSink>(
  steps: UploadSteps<Sink>,
  incoming: IncomingUpload,
): Promise<JobView> {
  let made: { readonly of: string; readonly plan: UploadRequest & UploadPlan } | undefined;
  /** Planned again only when a field after the file says otherwise. */
  const plan = (fileName: string, fields: ReadonlyMap<string, string>) => {
    const of = JSON.stringify([fileName, ...fields]);
    if (made?.of !== of) {
      const options = incoming.options(fields);
      made = { of, plan: { fileName, ...options, ...steps.plan({ fileName, ...options }) } };
    }
    return made.plan;
  };
  const { sink, fileName, files, fields, isShortened } = await incoming.read({
    several: (name, known) => plan(name, known).takesSeveral === true,
    open: (name, known) => {
      // Checks the fields before the file ahead of its bytes; those after it are checked below.
      plan(name, known);
      return steps.openUpload(name, incoming.key);
    },
  });
  try {
    const { format, profile, operation, parameters, takesSeveral } = plan(fileName, fields);
    if (isShortened) throw takesSeveral ? notTakenInTime() : tooManyFiles();
    const { password, key } = incoming;
    const parts = files.length > 1 ? files : undefined;
    return await steps.acceptUpload(sink, {
      fileName,
      format,
      profile,
      files: parts,
      operation,
      parameters,
      password,
      key,
    });
  } catch (error) {
    await sink.abort();
    throw error;
  }
}

function tooManyFiles(): Refusal {
  return new Refusal('upload.too-many-files', 'The profile signs one file per upload. Nothing was queued.');
}

/** Files after the first were not read: no earlier field said that they belong together, or they are not parts `file`. */
function notTakenInTime(): Refusal {
  return new Refusal(
    'validation.body-invalid',
    'Several files have to be parts `file`, and their profile has to be named before them.',
    { errors: { profile: ['must be in the query or before the files'] } },
  );
}
