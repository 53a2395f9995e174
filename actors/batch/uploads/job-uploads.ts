/** Turns uploads into jobs: plans them by their profile, keeps their files, and finds the job of a repeated one. */
import { type Answer, describeFailure, Fatal, isRetryable, Retryable } from '@sealwright/runtime';
import { assertElementPath } from '@sealwright/signatures';
import type { JobView } from '../../../contracts/batch/jobs.ts';
import type { FileStamp, JobFormat, UploadedFile } from '../../../machines/batch/job-context.ts';
import {
  formatsOfParameter,
  overrideName,
  PARAMETER_NAMES,
  type SigningParameters,
} from '../../../machines/batch/signing-parameters.ts';
import type { ProfileName } from '../../../machines/ids.ts';
import { Refusal } from '../../../machines/refusals.ts';
import { bytesOfOutputName, NAME_LIMIT, PLAIN_FORM } from '../../shared/files/output-names.ts';
import { formatByContent, formatByName, formatOfSigned } from '../../shared/files/signing-format.ts';
import { pathKey } from '../../shared/files/storage-layout.ts';
import type { SecretBox } from '../../shared/secrets/secret-box.ts';
import { outputFormatOf, type Profile, type Profiles } from '../../shared/signing/profiles.ts';
import { PASSWORD_PLACE } from '../effects/effect-handler.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import { type JobFactory, type NewJob, refusedJob } from '../job-records/job-factory.ts';
import type { JobActor } from '../job-records/job-index.ts';
import { jobView } from '../job-records/job-view.ts';
import { type JOB, uploadKeyName } from '../job-records/kinds.ts';
import {
  assertSameUpload,
  type UploadContent,
  type UploadKey,
  type UploadKeys,
  uploadKeyText,
} from '../job-records/upload-idempotency.ts';
import { RepeatedUpload, type Upload, type UploadStorage, unavailable } from './upload-storage.ts';

/** Uploads that a watcher has not sampled yet; it offers others, as a start does. */
const MAX_RECENT = 4_096;
/** Bytes that the name of a signed file has more than that of its input, at most: `.signed.xml.enc` and the like. */
const MAX_ADDED = 32;
/** Attempts of an upload whose key belongs to a job that is being released. */
const MAX_KEY_ATTEMPTS = 3;

/** Options of an upload; what is left out follows from the default profile, the file name and the content. */
export interface UploadOptions {
  readonly format: JobFormat | undefined;
  readonly profile: string | undefined;
  /** `Extend`: the file is signed already and is raised to the level of the profile. */
  readonly operation?: 'Extend' | undefined;
  /** Set in place of the profile, where its `Overrides` allow it. */
  readonly parameters?: SigningParameters | undefined;
}

/** Format and profile that an upload gets, with its options. */
interface UploadPlan extends UploadOptions {
  readonly format: JobFormat;
  readonly profile: ProfileName;
  /** True: all files of an upload go into one container. */
  readonly takesSeveral: boolean;
  /** True: the format is a guess, made without the first bytes that tell it. */
  readonly isGuess: boolean;
}

/** Job of a complete upload. */
interface UploadJob extends Omit<UploadContent, 'sha256'> {
  readonly password?: string | undefined;
  readonly key?: UploadKey | undefined;
  readonly by?: string | undefined;
}

/** An upload whose bytes are still to come. */
export interface IncomingUpload {
  readonly key?: UploadKey | undefined;
  /** Whom the history of the job names. @default nobody */
  readonly by?: string | undefined;
  /** Opens an encrypted PDF. Stored encrypted until the job is completed. */
  readonly password?: string | undefined;
  /** The options by the form fields that are known so far. Refusals: those of wrong values. */
  options(fields: ReadonlyMap<string, string>): UploadOptions;
  /**
   * Reads the form to its end; the sink is complete when this resolves, and discarded when it rejects. `files`: those in
   * the sink, in order. `isShortened`: the form had a file that the upload does not take; it has not been read.
   * @param rules.several asked before the second file: true appends it and all later files to the sink of the first
   * @param rules.open called when the first file begins
   */
  read(rules: {
    several(fileName: string, fields: ReadonlyMap<string, string>): boolean;
    open(
      fileName: string,
      fields: ReadonlyMap<string, string>,
    ): Upload | RepeatedUpload | Promise<Upload | RepeatedUpload>;
  }): Promise<{
    readonly sink: Upload | RepeatedUpload;
    readonly fileName: string;
    readonly fields: ReadonlyMap<string, string>;
    readonly files: readonly UploadedFile[];
    readonly isShortened: boolean;
  }>;
}

export class JobUploads {
  /** Uploads refused because the store failed: it is unknown whether their jobs are stored. */
  readonly #unconfirmed = new Set<Upload>();
  /** Paths of uploads that have jobs, for `takeRecent`. */
  readonly #recent = new Set<string>();

  constructor(
    private readonly needs: {
      readonly runtime: BatchRuntime;
      readonly maker: JobFactory;
      readonly profiles: Profiles;
      readonly uploads: UploadStorage;
      readonly uploadKeys: UploadKeys;
      /** Encrypts passwords of uploads at rest. @default uploads with a password are refused */
      readonly secrets?: SecretBox | undefined;
    },
  ) {}

  /**
   * Reads an upload, syncs its bytes, commits its job and renames the file to its final name. With a `key` under
   * which a job was created within the last 24 hours, compares the bytes instead of storing them, and returns that job
   * if its upload had the same SHA-256, name, format, profile, operation and files.
   * Refusals: `profile.not-found`, `job.path-too-long`, `upload.empty`, `upload.format-unsupported`,
   * `upload.invalid-name`, `validation.body-invalid`, `job.already-processing`, `idempotency.mismatch`, `service.busy`; those of the form.
   */
  async receive(incoming: IncomingUpload): Promise<JobView> {
    let planned: UploadPlan | undefined;
    let fieldsOfPlan = 0;
    /** Planned again only when the bytes have to tell the format, or a field has come after the file, whose name is the same. */
    const plan = (fileName: string, fields: ReadonlyMap<string, string>, head?: Buffer) => {
      if (planned === undefined || fieldsOfPlan !== fields.size || (planned.isGuess && head !== undefined)) {
        planned = this.plan({ fileName, head, ...incoming.options(fields) });
        if (!planned.isGuess) this.#assertOutputName(fileName, planned);
      }
      fieldsOfPlan = fields.size;
      return planned;
    };
    const { sink, fileName, files, fields, isShortened } = await incoming.read({
      several: (name, known) => plan(name, known).takesSeveral,
      open: (name, known) => {
        // Checks the fields before the file ahead of its bytes; those after it are checked below.
        plan(name, known);
        return this.openUpload(name, incoming.key);
      },
    });
    try {
      const { format, profile, operation, parameters, takesSeveral } = plan(fileName, fields, sink.head);
      if (isShortened) throw takesSeveral ? notTakenInTime() : tooManyFiles();
      const { password, key, by } = incoming;
      const parts = files.length > 1 ? files : undefined;
      const job = { fileName, format, profile, operation, parameters, files: parts, password, key, by };
      return await this.acceptUpload(sink, job);
    } catch (error) {
      await sink.abort();
      throw error;
    }
  }

  /**
   * Finds the profile that a file names (or the default one) and the format it gets. Refusals: `profile.not-found`; those of wrong
   * options, of a guess without those that hang on the format.
   * @param request.head first bytes of the file, `HEADER_BYTES` at most; undefined while they are not known
   */
  plan(
    request: UploadOptions & { readonly fileName: string; readonly head?: Buffer | undefined },
  ): UploadPlan {
    const profile = this.needs.profiles.find(request.profile);
    if (!profile) throw new Refusal('profile.not-found', `No signing profile is called ${request.profile}.`);
    if (request.operation === 'Extend') assertExtends(profile);
    const { operation, parameters, head } = request;
    const container = profile.form?.container;
    // A file that is extended is signed already, and goes into no container.
    const into = operation === undefined ? container : undefined;
    const known = request.format ?? profile.format ?? knownFormat(request.fileName, into);
    const isGuess = known === undefined && head === undefined;
    const format = known ?? (head === undefined ? 'Cades' : foundFormat(head, request));
    if (parameters && !isGuess) assertOverridable(profile, request, format);
    if (into !== undefined && format === 'Pades') {
      const text = `The profile ${profile.name} makes ASiC containers, which hold Cades or Xades signatures.`;
      throw new Refusal('upload.format-unsupported', text, {
        errors: { format: ['must be Cades or Xades for a profile with a Container'] },
      });
    }
    const takesSeveral = into === 'E';
    return { format, profile: profile.name, operation, parameters, takesSeveral, isGuess };
  }

  /** Refusals: `upload.invalid-name` when the signed file would have a longer name than file systems take. */
  #assertOutputName(fileName: string, { format, profile: name, operation, parameters }: UploadPlan): void {
    const profile = this.needs.profiles.find(name);
    if (profile === undefined || Buffer.byteLength(fileName) <= NAME_LIMIT - MAX_ADDED) return;
    const plain = { ...PLAIN_FORM, encrypted: profile.encrypt };
    const forms =
      operation === 'Extend'
        ? [{ ...plain, extended: true }]
        : // With `CoSign` the content says which of two forms it is: the shorter name may be right.
          (profile.method === 'Local' && profile.choices?.coSign === true) || parameters?.coSign !== undefined
          ? [plain, outputFormatOf(profile)]
          : [outputFormatOf(profile)];
    const bytes = Math.min(...forms.map((form) => bytesOfOutputName(fileName, format, form)));
    if (bytes <= NAME_LIMIT) return;
    const text = `The signed file would have a name of ${bytes} bytes; file systems take ${NAME_LIMIT}.`;
    throw new Refusal('upload.invalid-name', text, { errors: { file: ['must have a shorter name'] } });
  }

  openUpload(fileName: string, key?: UploadKey): Upload | Promise<Upload | RepeatedUpload> {
    if (key === undefined) return this.needs.uploads.openJob(fileName, false);
    return this.needs.uploadKeys
      .find(uploadKeyText(key))
      .then((job) => (job === undefined ? this.needs.uploads.openJob(fileName, true) : new RepeatedUpload()));
  }

  /** @param upload opened with the same `key` */
  async acceptUpload(upload: Upload | RepeatedUpload, job: UploadJob): Promise<JobView> {
    if (upload.length === 0) throw new Refusal('upload.empty', 'The file has no bytes.');
    const sha256 = upload.sha256();
    if (upload instanceof RepeatedUpload) return this.#repeated(job, sha256);
    const { faults, log } = this.needs.runtime;
    const seen = await finished(upload);
    await faults.at('upload.synced');
    const made = await this.#createOrFind({
      fileName: job.fileName,
      format: job.format,
      profileName: job.profile,
      originalPath: upload.location,
      source: 'Upload',
      folder: null,
      parentJobId: null,
      seen,
      uploadKey: job.key === undefined ? null : uploadKeyText(job.key),
      message: job.operation === 'Extend' ? 'Uploaded to be extended.' : 'Uploaded.',
      ...(job.files && { files: job.files }),
      ...(job.operation && { operation: job.operation }),
      ...(job.parameters && { parameters: job.parameters }),
      ...(job.password && { sealedPassword: this.#encrypted(job.password) }),
      ...(job.by && { by: job.by }),
      ...(sha256 !== undefined && { uploadSha256: sha256 }),
    }).catch((error: unknown) => {
      // After a store failure the job may be stored; after the loss of a thread it is not.
      if (isRetryable(error) && error.code !== 'shard.lost') {
        upload.keep();
        this.#unconfirmed.add(upload);
      }
      throw error;
    });
    if ('found' in made) {
      await upload.abort();
      assertSameUpload(made.found.context, { ...job, sha256 });
      return jobView(made.found);
    }
    if (!made.answer.accepted) throw refusedJob(made.answer);
    upload.keep();
    await faults.at('upload.committed');
    this.#remember(upload.path);
    // The job is stored, so the upload is not refused: its first step, or the next start, looks for the name of the upload too.
    await upload.rename().catch((error: unknown) => {
      log.warn('An upload could not get its name yet.', { Error: describeFailure(error).message });
    });
    await faults.at('upload.renamed');
    if (this.#unconfirmed.size > 0) await this.#confirmPending();
    return jobView(made.answer);
  }

  /** True once for the path of a recent upload, which has a job: a watcher of its folder need not ask the store. */
  takeRecent(path: string): boolean {
    return this.#recent.delete(path);
  }

  #remember(path: string): void {
    const [oldest] = this.#recent;
    if (oldest !== undefined && this.#recent.size >= MAX_RECENT) this.#recent.delete(oldest);
    this.#recent.add(path);
  }

  /** The job of the key, when its upload was the same. */
  async #repeated(job: UploadJob, sha256: string | undefined): Promise<JobView> {
    const made = job.key && (await this.needs.uploadKeys.find(uploadKeyText(job.key)));
    // The job existed when the upload began; its key has expired since.
    if (!made)
      throw new Retryable('upload.key-expired', 'The key has expired meanwhile; send the upload again.');
    assertSameUpload(made.context, { ...job, sha256 });
    return jobView(made);
  }

  /** The store works again: finds out which of the unconfirmed uploads have a job. */
  async #confirmPending(): Promise<void> {
    for (const upload of this.#unconfirmed) {
      const prefix = [pathKey(upload.location)];
      try {
        const [job] = await this.needs.runtime.store.rows({ view: 'paths', prefix, limit: 1 });
        if (job) await upload.rename();
        else await upload.remove();
        this.#unconfirmed.delete(upload);
      } catch {
        // The next upload or start tries again.
        return;
      }
    }
  }

  /** Creates a job, or finds the one with its upload key. */
  async #createOrFind(
    job: NewJob & { readonly uploadKey: string | null },
  ): Promise<{ readonly answer: Answer<typeof JOB> } | { readonly found: JobActor }> {
    const { maker, uploadKeys } = this.needs;
    const { uploadKey } = job;
    for (let tries = 1; ; tries += 1) {
      const answer = await maker.create(job);
      if (answer.accepted || answer.reason !== 'taken' || uploadKey === null) return { answer };
      if (answer.name !== uploadKeyName(uploadKey) || tries === MAX_KEY_ATTEMPTS) return { answer };
      const found = await uploadKeys.find(uploadKey);
      if (found) return { found };
    }
  }

  #encrypted(password: string): string {
    const { secrets } = this.needs;
    if (secrets === undefined) throw new Fatal('internal', 'There is no key to encrypt passwords with.');
    return secrets.encrypt(password, PASSWORD_PLACE);
  }
}

/** Rejects with an error of the disk as one to try again. */
async function finished(upload: Upload): Promise<FileStamp> {
  try {
    return await upload.finish();
  } catch (error) {
    throw unavailable(error);
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

/** Refusals: `validation.body-invalid` when a profile has no level to extend to. */
function assertExtends(profile: Profile): void {
  if (profile.method === 'Local' && (profile.choices?.level ?? 'B') !== 'B') return;
  const text = `The profile ${profile.name} cannot extend signatures: it needs Method Local and Level T, LT or LTA.`;
  throw new Refusal('validation.body-invalid', text, {
    errors: { operation: ['needs a profile of Level T, LT or LTA that signs here'] },
  });
}

/** Refusals: `validation.body-invalid` for a parameter that the profile keeps to itself, or that the signature has not. */
function assertOverridable(
  settings: Profile,
  {
    parameters = {},
    operation,
  }: { parameters?: SigningParameters | undefined; operation?: 'Extend' | undefined },
  format: JobFormat,
): void {
  const { name: profile, overrides = [] } = settings;
  const refuse = (name: string, text: string, rule: string): never => {
    throw new Refusal('validation.body-invalid', text, { errors: { [name]: [rule] } });
  };
  for (const name of PARAMETER_NAMES.filter((one) => parameters[one] !== undefined)) {
    const wanted = formatsOfParameter(name);
    if (!overrides.includes(name))
      refuse(
        name,
        `The profile ${profile} does not let an upload set ${name}. Leave the field out, or add ${overrideName(name)} to the Overrides of the profile.`,
        `is not among the Overrides of the profile ${profile}`,
      );
    if (operation === 'Extend')
      refuse(name, `${name} has no effect on a file that is extended.`, 'is for operation Sign');
    if (!wanted.includes(format))
      refuse(
        name,
        `${name} is for the format ${wanted.join(' or ')}; this file gets ${format}.`,
        `is for the format ${wanted.join(' or ')}`,
      );
  }
  const { elementId, place } = parameters;
  if (elementId !== undefined && place !== undefined)
    refuse(
      'place',
      'An upload sets the element that is signed or the place of the signature, not both.',
      'cannot be used with elementId',
    );
  try {
    if (place !== undefined) assertElementPath(place);
  } catch (error) {
    refuse('place', describeFailure(error).message, 'must be a location path');
  }
  const keyType = settings.method === 'Local' ? settings.signer?.keyType : undefined;
  if (parameters.rsaPadding !== undefined && keyType !== undefined && keyType !== 'rsa')
    refuse(
      'rsaPadding',
      `The key of the profile ${profile} has no choice of the padding: it is of the type ${keyType}.`,
      'is for RSA keys',
    );
}

/** A container holds no Pades: a PDF in it is signed as any other file. Undefined: the content tells. */
function knownFormat(fileName: string, container: string | undefined): JobFormat | undefined {
  const format = formatByName(fileName);
  if (container === undefined) return format;
  return format === 'Xades' ? 'Xades' : 'Cades';
}

function foundFormat(
  head: Buffer,
  { operation, fileName }: Pick<UploadOptions, 'operation'> & { readonly fileName: string },
): JobFormat {
  return operation === 'Extend' ? formatOfSigned(head) : formatByContent(head, fileName);
}
