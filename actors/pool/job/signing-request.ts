/** Builds the request to sign the file of a job: the profile, and what the upload set in its place. */
import {
  holderName,
  type PadesFormat,
  readCertificate,
  type SignAtLevelRequest,
  type SignerIdentity,
  type XadesFormat,
} from '@sealwright/signatures';
import {
  type Extent,
  filledLines,
  linesOf,
  parseExtent,
  parsePage,
  type SigningParameters,
} from '../../../machines/batch/signing-parameters.ts';
import type { AppearanceChoice, SigningChoices } from '../../shared/signing/profiles.ts';
import { TaskFailure } from '../task-failure.ts';
import type { SignTask } from '../tasks.ts';
import { policyOf, type WorkerProfileRuntime } from '../worker-profiles.ts';

/** Builds the request to the engine. @throws {TaskFailure} `profile.not-found` without a certificate */
export function signingRequest(
  task: SignTask,
  { signer, choices, form }: WorkerProfileRuntime,
  input: string,
  output: string,
): SignAtLevelRequest {
  const { format, profile: name, at, password } = task;
  if (!signer) throw new TaskFailure('profile.not-found', `The profile ${name} has no certificate here.`);
  const {
    timestamp: _,
    pades: _pades,
    appearance: _appearance,
    coSign: _coSign,
    policy: _policy,
    xades,
    ...shared
  } = choices;
  return {
    format,
    input,
    output,
    signer,
    at,
    sync: false,
    ...shared,
    ...policyOf(choices, { format, at, signer }),
    ...(password !== undefined && { password }),
    ...(format === 'Pades' && { pades: padesForm(task, choices, signer) }),
    ...(format === 'Xades' && xades && { xades }),
    ...(format === 'Cades' && {
      cades: { detached: form.detached, armor: form.saveAsPem ? 'pem' : 'der' } as const,
    }),
  };
}

/** The profile with what the upload set for signing, verification and the name of the output. */
export function profileOfUpload(
  profile: WorkerProfileRuntime,
  { rsaPadding, coSign, elementId, place }: SigningParameters = {},
): WorkerProfileRuntime {
  if ((rsaPadding ?? coSign ?? elementId ?? place) === undefined) return profile;
  const { choices } = profile;
  const coSigns = coSign === undefined ? choices.coSign : isSame(coSign, 'true');
  const xades = xadesForm(choices.xades, elementId, place);
  return {
    ...profile,
    choices: {
      ...choices,
      ...(rsaPadding !== undefined && { padding: isSame(rsaPadding, 'pss') ? 'pss' : 'pkcs1' }),
      ...(coSigns !== undefined && { coSign: coSigns }),
      xades: coSigns === undefined ? xades : { ...xades, coSignable: coSigns },
    },
  };
}

function isSame(text: string, word: string): boolean {
  return text.toLowerCase() === word;
}

/** Only one of the element that is signed and the place of the signature is used. */
function xadesForm(
  xades: XadesFormat = {},
  elementId: string | undefined,
  place: string | undefined,
): XadesFormat {
  if ((elementId ?? place) === undefined) return xades;
  const { elementId: _id, elementPath: _path, place: _place, packaging: _, insertion, ...kept } = xades;
  if (elementId !== undefined)
    return { ...kept, ...(insertion && { insertion }), packaging: 'element', elementId };
  // The position beside a signed element is none for the whole document.
  return { ...kept, ...(insertion?.endsWith('child') && { insertion }), place: place ?? '' };
}

const PLAIN: PadesFormat = {};

/** The form of the profile with what the upload set. */
function padesForm(
  task: SignTask,
  { pades, appearance }: SigningChoices,
  signer: SignerIdentity,
): PadesFormat {
  if (task.parameters === undefined && appearance === undefined) return pades ?? PLAIN;
  const { certification, ...given } = task.parameters ?? {};
  const texts = (['reason', 'location', 'contactInfo', 'fieldName'] as const).map((name) => [
    name,
    given[name],
  ]);
  const form: PadesFormat = {
    ...pades,
    ...Object.fromEntries(texts.filter(([, text]) => text !== undefined)),
    ...(certification !== undefined && { certification: CERTIFICATION_LEVELS[certification] }),
  };
  return appearance === undefined ? form : { ...form, appearance: shownBy(appearance, task, form, signer) };
}

function shownBy(
  choice: AppearanceChoice,
  { parameters = {}, jobId, fileName, profile, at }: SignTask,
  { reason = '', location = '', contactInfo = '' }: PadesFormat,
  { certificate }: SignerIdentity,
): NonNullable<PadesFormat['appearance']> {
  const extent = (name: 'left' | 'top' | 'width' | 'height'): Extent =>
    parseExtent(parameters[name] ?? '') ?? choice[name];
  const page = parsePage(parameters.page ?? String(choice.page));
  const lines = parameters.lines === undefined ? choice.lines : linesOf(parameters.lines);
  return {
    place: {
      page: page ?? null,
      left: extent('left'),
      top: extent('top'),
      width: extent('width'),
      height: extent('height'),
    },
    lines: filledLines(lines, {
      reason,
      location,
      contactInfo,
      profile,
      signer: holderName(readCertificate(certificate)),
      date: shownTime(at, choice.timeZone),
      file: fileName,
      job: jobId,
    }),
    ...(choice.image && { image: Buffer.from(choice.image) }),
  };
}

const CERTIFICATION_LEVELS: { readonly [text: string]: 1 | 2 | 3 } = { 1: 1, 2: 2, 3: 3 };

/** `2026-11-26 10:07:48 -03:00`, in the time zone. */
function shownTime(at: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  }).format(at);
  const zone = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value;
  return `${parts} ${zone === 'GMT' ? 'UTC' : (zone ?? timeZone).replace('GMT', '')}`;
}
