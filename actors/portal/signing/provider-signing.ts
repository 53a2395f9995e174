/**
 * "Sign with my provider": a participant signs with a certificate whose key a remote signing service holds. The browser
 * keeps the visit, encrypted; the document keeps what is signed, as for every certificate (`signing-certificates.ts`).
 *
 * | Step of a visit | Then                                                                             |
 * |-----------------|----------------------------------------------------------------------------------|
 * | `service`       | the browser is at the provider, whose answer lets this service in                |
 * | `choose`        | the person chooses a certificate                                                 |
 * | `credential`    | the browser is at the provider, whose answer authorizes the hash of the document |
 *
 * Each step has a state of its own, of which the answer counts once (`UsedSignInAnswers`), in the browser that has the
 * visit. Nothing is sent a second time: a crash before the document takes the value leaves the document as it was.
 *
 * Source: docs/decisions/0405-keys-behind-the-network.md.
 */
import { X509Certificate } from 'node:crypto';
import { holderName, readCertificate } from '@sealwright/signatures';
import { type ProviderVisit, providerVisit } from '../../../contracts/portal/signing/provider-visits.ts';
import type { Reading } from '../../../contracts/portal/signing/reading.ts';
import type { ElectronicSigning } from '../../../contracts/portal/signing/signing.ts';
import type { Language } from '../../../contracts/portal/words.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import {
  type Granted,
  type PersonCredential,
  ProviderFailure,
} from '../../shared/key-services/csc-person.ts';
import type { AskedSecret } from '../../shared/key-services/csc-secrets.ts';
import type { SecretBox } from '../../shared/secrets/secret-box.ts';
import type { RequestOrigin, Tenant } from '../api/callers.ts';
import type { SigningAccess } from '../api/signing.ts';
import type { DocumentDirectory } from '../document-records/document-reader.ts';
import { pageState } from '../document-records/signing-turns.ts';
import type { SigningLinks } from '../mails/signing-links.ts';
import type { OpenProvider, OpenProviders } from './open-providers.ts';
import { assertRead, assertTurn, type SigningCall, signingCall } from './signing-access.ts';
import type { CertificateSigning } from './signing-certificates.ts';

/** Time for one step: that of a started signature. */
export const PROVIDER_STEP_MS = 10 * 60_000;
const STATE_BYTES = 32;
/** Attempts with typed values for one start: services lock a credential after some. */
const MAX_REFUSED = 2;
/** Browsers keep cookies of 4,096 bytes. */
const MAX_SEALED = 3_800;
/** Of a longer list of pages, of a document read in pieces, the first are recorded. */
const MAX_PAGES_TEXT = 200;
/** States of the signing page of a person who has nothing to do any more. */
const DONE: ReadonlySet<ReturnType<typeof pageState>> = new Set(['processing', 'done', 'concluded']);

/** A visit as the browser keeps it: its state, and the rest encrypted. */
export interface SealedVisit {
  readonly state: string;
  readonly sealed: string;
}

/** Reason for which a step signs nothing. `over`: no such step is open in this browser; `ended`: the document takes no such signature any more. Whether it was signed is not known then. */
export type ProviderTrouble = ProviderFailure['reason'] | 'over' | 'ended' | 'rejected' | 'mismatch';

type StepOutcome =
  /** The browser goes on to the provider; `choice` for a person who comes back from there. */
  | {
      readonly kind: 'onward';
      readonly address: string;
      readonly visit: SealedVisit;
      readonly choice?: SealedVisit;
    }
  /** The person chooses, again after the document has changed. */
  | { readonly kind: 'choose'; readonly visit: SealedVisit; readonly isAgain: boolean }
  /** The person types what the credential asks for, again after a wrong value. */
  | {
      readonly kind: 'secrets';
      readonly visit: SealedVisit;
      readonly isAgain: boolean;
      readonly choice?: SealedVisit;
    }
  /** The turn of the person is done, now or before. */
  | { readonly kind: 'signed'; readonly page: string }
  | {
      readonly kind: 'failed';
      readonly why: ProviderTrouble;
      /** Types of what is wrong with the certificate. */
      readonly faults: readonly string[];
      /** Path of the signing page; undefined: it is not known. */
      readonly page: string | undefined;
      /** The choice as it is now. */
      readonly choice?: SealedVisit;
      /** State of a choice: the person may choose another certificate. */
      readonly back?: string;
    };

export type SigningStepOutcome = StepOutcome & {
  /** States of steps that are over: the browser forgets them. */
  readonly spent?: readonly string[];
};

export interface ShownCredential {
  readonly id: string;
  /** Undefined: the certificate cannot be read. */
  readonly holder: string | undefined;
  readonly issuer: string | undefined;
  readonly until: number | undefined;
  readonly trouble: PersonCredential['trouble'];
}

export class ProviderSigning {
  constructor(
    private readonly needs: {
      readonly runtime: Pick<ServiceRuntime, 'clock' | 'ids' | 'log' | 'faults'>;
      readonly directory: DocumentDirectory;
      readonly links: SigningLinks;
      readonly certificates: CertificateSigning;
      readonly secrets: SecretBox;
      /** Without a slash at its end. */
      readonly publicUrl: () => string;
      readonly providers: OpenProviders;
    },
  ) {}

  /** Providers for documents of an organization. */
  offered(organization: Tenant['organization']): ReturnType<OpenProviders['offered']> {
    return this.needs.providers.offered(organization);
  }

  /** Empty: there is no such provider. */
  titleOf(provider: string): Promise<string> {
    return this.needs.providers.titleOf(provider);
  }

  /**
   * Prepares what is signed, and leads to the provider.
   *
   * Refusals: those of `CertificateSigning.prepare`; `DocumentNotRead`; `NotFound` for a provider that is not offered; `ServiceBusy`.
   */
  async begin(
    access: Extract<SigningAccess, { readonly by: 'ticket' }>,
    given: {
      readonly provider: string;
      readonly positions: ElectronicSigning['positions'];
      readonly fieldValues: ElectronicSigning['fieldValues'];
      readonly isQuiet: boolean;
      readonly reading: Reading | undefined;
      readonly language: Language;
    },
  ): Promise<Extract<SigningStepOutcome, { readonly kind: 'onward' }>> {
    const { provider, isQuiet, reading, language } = given;
    const call = await this.#call(access);
    const offered = await this.offered(call.context.organization);
    if (!offered.some(({ name }) => name === provider))
      throw new PortalRefusal('NotFound', 'The document is signed at no such provider.');
    const { at, stamp } = await this.needs.providers.get(provider);
    assertRead(call.context, reading);
    const started = await this.needs.certificates.prepare(call, given);
    const visit = {
      step: 'service',
      provider,
      stamp,
      key: access.key,
      ticket: access.ticket,
      version: call.context.version,
      language,
      started,
      isQuiet,
      ...(reading !== undefined && { reading: { ...reading, pages: firstPages(reading.pages) } }),
    } as const;
    try {
      return await this.#onward(visit, (secrets) => at.serviceAddress(secrets, visit.language));
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      this.#log(provider, error);
      throw new PortalRefusal('ServiceBusy', 'The provider does not answer as it should.');
    }
  }

  /**
   * Reads the answer of the provider.
   * @param use false: the state was used before
   */
  async answer(
    provider: string,
    { state, sealed }: SealedVisit,
    {
      query,
      origin,
      use,
    }: {
      readonly query: { readonly [name: string]: unknown };
      readonly origin: RequestOrigin;
      readonly use: (state: string) => Promise<boolean>;
    },
  ): Promise<SigningStepOutcome> {
    const visit = this.#read(provider, state, sealed);
    if (visit === undefined || visit.step === 'choose') return failed('over', visit);
    const outcome = await this.#attempt(visit, async () => {
      if (!(await use(state))) return this.#over(visit, 'over');
      const { verifier } = visit;
      const { at } = await this.#open(visit);
      const secrets = { verifier, redirectUri: this.#redirectUri(provider) };
      const granted = await at.answer(secrets, query, visit.step === 'credential' ? 'credential' : 'service');
      if (visit.step === 'credential') return this.#sign(visit, granted, origin);
      const { until: _, verifier: __, ...more } = visit;
      return {
        kind: 'choose' as const,
        visit: this.#seal({ ...more, step: 'choose', token: granted.value }).visit,
        isAgain: false,
      };
    });
    return afterwards(outcome, state, visit.choice);
  }

  /** The document and the certificates of the person; undefined: no such step is open in this browser. */
  async choices(
    provider: string,
    { state, sealed }: SealedVisit,
  ): Promise<
    | { readonly document: string; readonly credentials: readonly ShownCredential[]; readonly page: string }
    | Extract<SigningStepOutcome, { readonly kind: 'failed' | 'signed' }>
  > {
    const visit = this.#read(provider, state, sealed);
    if (visit?.step !== 'choose') return failed('over', visit);
    const outcome = await this.#attempt(visit, async () => {
      const call = await this.#callOf(visit);
      assertTurn(call);
      const credentials = await (await this.#open(visit)).at.credentials(visit.token ?? '');
      return { document: call.context.name, credentials: credentials.map(shown), page: pageOf(visit) };
    });
    if (!('kind' in outcome)) return outcome;
    const isOver = outcome.kind === 'signed' || outcome.why === 'ended';
    return isOver ? { ...outcome, spent: [state] } : outcome;
  }

  /** Lists what the person is to type for the document; undefined: no such step is open in this browser. */
  async secrets(
    provider: string,
    { state, sealed }: SealedVisit,
  ): Promise<
    | {
        readonly document: string;
        readonly secrets: readonly AskedSecret[];
        readonly question: string | undefined;
        readonly page: string;
      }
    | Extract<SigningStepOutcome, { readonly kind: 'failed' | 'signed' }>
  > {
    const visit = this.#read(provider, state, sealed);
    if (visit?.step !== 'secrets') return failed('over', visit);
    const outcome = await this.#attempt(visit, async () => {
      const call = await this.#callOf(visit);
      assertTurn(call);
      const { token = '', credential = '', question } = visit;
      const { secrets = [] } = await (await this.#open(visit)).at.credential(token, credential);
      return { document: call.context.name, secrets, question, page: pageOf(visit) };
    });
    if (!('kind' in outcome)) return outcome;
    const isOver = outcome.kind === 'signed' || outcome.why === 'ended';
    return isOver ? { ...outcome, spent: [state] } : outcome;
  }

  /**
   * Authorizes the hash by what the person typed, and signs.
   * @param values in the order of the secrets
   * @param use false: the state was used before, so that nothing is sent twice
   */
  async authorize(
    provider: string,
    { state, sealed }: SealedVisit,
    {
      values,
      origin,
      use,
    }: {
      readonly values: readonly string[];
      readonly origin: RequestOrigin;
      readonly use: (state: string) => Promise<boolean>;
    },
  ): Promise<SigningStepOutcome> {
    const visit = this.#read(provider, state, sealed);
    if (visit?.step !== 'secrets') return failed('over', visit);
    const outcome = await this.#attempt(visit, async () => {
      if (!(await use(state))) return this.#over(visit, 'over');
      assertTurn(await this.#callOf(visit));
      const { token = '', credential: id = '', toSign, refused = 0 } = visit;
      const { at } = await this.#open(visit);
      const credential = await at.credential(token, id);
      const { secrets } = credential;
      if (toSign === undefined || secrets === undefined) return this.#over(visit, 'over');
      const typed = new Map(secrets.map((one, index) => [one.id, values[index] ?? '']));
      try {
        const activation = await at.authorize(token, credential, toSign, typed);
        return await this.#sign(visit, activation, origin);
      } catch (error) {
        const isWrong = error instanceof ProviderFailure && error.reason === 'secret';
        if (!isWrong || refused + 1 >= MAX_REFUSED) throw error;
        this.#log(provider, error);
        return this.#asking({ ...visit, refused: refused + 1 }, credential);
      }
    });
    return afterwards(outcome, state, visit.choice);
  }

  /** Has codes sent, and leads to the page where the person types. */
  async #asking(
    { until: _, verifier: __, question: ___, ...visit }: ProviderVisit,
    credential: PersonCredential,
  ): Promise<Extract<StepOutcome, { readonly kind: 'secrets' }>> {
    const question = await (await this.#open(visit)).at.challenge(visit.token ?? '', credential);
    const asked = { ...visit, step: 'secrets', ...(question !== undefined && { question }) } as const;
    return { kind: 'secrets', visit: this.#seal(asked).visit, isAgain: (visit.refused ?? 0) > 0 };
  }

  /** Starts the signature with the chosen certificate, and leads to the provider, which is to authorize its hash. */
  async choose(
    provider: string,
    { state, sealed }: SealedVisit,
    credentialId: string,
  ): Promise<SigningStepOutcome> {
    const visit = this.#read(provider, state, sealed);
    if (visit?.step !== 'choose') return failed('over', visit);
    let choice: SealedVisit | undefined;
    const outcome = await this.#attempt(visit, async () => {
      const { token = '', until: _, verifier: __, ...more } = visit;
      const call = await this.#callOf(visit);
      const { at } = await this.#open(visit);
      const credential = await at.credential(token, credentialId);
      const { scheme, certificates, trouble } = credential;
      const [own, ...chain] = certificates.map((der) => der.toString('base64'));
      if (trouble !== undefined || scheme === undefined || own === undefined)
        return failed('rejected', visit, ['certificate.demand']);
      const { started, next } = await this.needs.certificates.startPrepared(call, visit.started, {
        der: own,
        chain,
        digest: scheme.digest,
        ...(scheme.scheme !== 'ecdsa' && { padding: scheme.scheme === 'rsa-pss' ? 'pss' : 'pkcs1' }),
      });
      // Whoever comes back from the provider chooses again, with what was prepared.
      choice = this.#sealed(state, { ...visit, started: next });
      if (started.token === null || started.toSignHash === null)
        return failed('rejected', visit, typesOf(started));
      const toSign = { hash: started.toSignHash, digest: scheme.digest };
      const credentialVisit = {
        ...more,
        token,
        step: 'credential',
        choice: state,
        credential: credentialId,
        toSign,
        started: started.token,
      } as const;
      if (credential.secrets !== undefined) return this.#asking({ ...visit, ...credentialVisit }, credential);
      return this.#onward(credentialVisit, (secrets) =>
        at.credentialAddress(secrets, credentialId, toSign, {
          language: visit.language,
          description: call.context.name,
        }),
      );
    });
    if (outcome.kind === 'signed') return { ...outcome, spent: [state] };
    const isOpen = outcome.kind === 'failed' && outcome.why !== 'ended';
    return { ...outcome, ...(choice && { choice }), ...(isOpen && { back: state }) };
  }

  /** @param activation it stands for one hash, and is used up here */
  async #sign(visit: ProviderVisit, activation: Granted, origin: RequestOrigin): Promise<SigningStepOutcome> {
    const { faults } = this.needs.runtime;
    const { token = '', credential: id = '', toSign, started } = visit;
    if (toSign === undefined) return this.#over(visit, 'over');
    const call = await this.#callOf(visit);
    await faults.at('portal.provider.authorized');
    const { at, settings } = await this.#open(visit);
    const credential = await at.credential(token, id);
    const signature = await at.sign({ token, activation }, credential, toSign);
    await faults.at('portal.provider.signed');
    const { certificates } = this.needs;
    const answer = await certificates.complete(
      call,
      {
        token: started,
        signature,
        disableNotifications: visit.isQuiet,
        reading: visit.reading,
        isFinal: true,
        provider: { name: settings.title, address: settings.address },
      },
      origin,
      call.turn,
    );
    if (answer.success) return { kind: 'signed', page: pageOf(visit) };
    const types = typesOf(answer);
    if (!types.includes('document.changed'))
      return failed(types.some(isOfCertificate) ? 'rejected' : 'mismatch', visit, types);
    const more = chosenAgain(visit);
    return { kind: 'choose', visit: this.#seal({ ...more, step: 'choose' }).visit, isAgain: true };
  }

  async #onward(
    visit: Omit<ProviderVisit, 'until' | 'verifier'>,
    addressOf: (secrets: { state: string; verifier: string; redirectUri: string }) => Promise<string>,
  ): Promise<Extract<SigningStepOutcome, { readonly kind: 'onward' }>> {
    const { visit: kept, verifier } = this.#seal(visit);
    const redirectUri = this.#redirectUri(visit.provider);
    const address = await addressOf({ state: kept.state, verifier, redirectUri });
    return { kind: 'onward', address, visit: kept };
  }

  #seal(visit: Omit<ProviderVisit, 'until' | 'verifier'>): {
    readonly visit: SealedVisit;
    readonly verifier: string;
  } {
    const random = () => this.needs.runtime.ids.bytes(STATE_BYTES).toString('base64url');
    const verifier = random();
    return { visit: this.#sealed(random(), { ...visit, verifier }), verifier };
  }

  #sealed(state: string, visit: Omit<ProviderVisit, 'until'>): SealedVisit {
    const until = this.needs.runtime.clock.now() + PROVIDER_STEP_MS;
    const content = JSON.stringify({ ...visit, until });
    const sealed = this.needs.secrets.encrypt(content, placeOf(visit.provider, state));
    if (sealed.length > MAX_SEALED)
      throw new ProviderFailure('unavailable', 'its token is too long for a cookie');
    return { state, sealed };
  }

  /** The state is authenticated with the rest: another one opens nothing. */
  #read(provider: string, state: string, sealed: string): ProviderVisit | undefined {
    if (sealed === '' || sealed.length > MAX_SEALED) return undefined;
    try {
      const text = this.needs.secrets.decrypt(sealed, placeOf(provider, state));
      const visit = providerVisit.safeParse(JSON.parse(text)).data;
      return visit !== undefined && visit.until > this.needs.runtime.clock.now() ? visit : undefined;
    } catch {
      return undefined;
    }
  }

  /** Runs a step; what the provider or the document refuses is an outcome. */
  async #attempt<Result>(
    visit: ProviderVisit,
    step: () => Promise<Result>,
  ): Promise<Result | Extract<SigningStepOutcome, { readonly kind: 'failed' | 'signed' }>> {
    try {
      return await step();
    } catch (error) {
      if (error instanceof ProviderFailure) {
        this.#log(visit.provider, error);
        return failed(error.reason, visit);
      }
      if (!(error instanceof PortalRefusal) || error.code === 'ServiceBusy') throw error;
      return error.code.startsWith('Cpf')
        ? failed('rejected', visit, [error.code])
        : this.#over(visit, 'ended');
    }
  }

  /** A person whose turn is done sees the document, which says how. */
  async #over(
    visit: ProviderVisit,
    why: 'over' | 'ended',
  ): Promise<Extract<SigningStepOutcome, { readonly kind: 'failed' | 'signed' }>> {
    try {
      const call = await this.#callOf(visit);
      if (DONE.has(pageState(call, call.turn))) return { kind: 'signed', page: pageOf(visit) };
    } catch (error) {
      if (!(error instanceof PortalRefusal)) throw error;
    }
    return failed(why, visit);
  }

  #log(provider: string, { reason, message }: ProviderFailure): void {
    if (reason !== 'denied')
      this.needs.runtime.log.warn('A signing provider did not sign.', {
        Provider: provider,
        Reason: reason,
        Error: message,
      });
  }

  #callOf({ key, ticket, version }: ProviderVisit): Promise<SigningCall> {
    return this.#call({ by: 'ticket', key, ticket, documentVersion: version });
  }

  #call(access: SigningAccess): Promise<SigningCall> {
    return signingCall(access, this.needs.directory, this.needs.links);
  }

  /** The provider at which the visit began: code, token and what is typed go to no other one. Refusals: `NotFound`. */
  async #open({ provider, stamp }: Pick<ProviderVisit, 'provider' | 'stamp'>): Promise<OpenProvider> {
    const found = await this.needs.providers.get(provider);
    // Visits that an earlier version began have no stamp.
    if (stamp !== undefined && stamp !== found.stamp) throw new PortalRefusal('NotFound');
    return found;
  }

  #redirectUri(provider: string): string {
    return `${this.needs.publicUrl()}/signing-provider/${provider}/return`;
  }
}

/** A visit whose choice is to be made again. */
function chosenAgain({
  until: _,
  verifier: __,
  credential: ___,
  toSign: ____,
  choice: _____,
  refused: ______,
  question: _______,
  ...more
}: ProviderVisit) {
  return more;
}

/** States that are over after an authorization, and the way back to the choice while that is open. */
function afterwards<Outcome extends SigningStepOutcome>(
  outcome: Outcome,
  state: string,
  choice: string | undefined,
): Outcome {
  // A value that was refused is typed again, for the same start.
  if (choice === undefined || outcome.kind === 'secrets') return { ...outcome, spent: [state] };
  // A value that does not fit uses the start up, as does a certificate that may no longer sign.
  if (outcome.kind !== 'failed' || outcome.why === 'mismatch' || outcome.why === 'rejected')
    return { ...outcome, spent: [state, choice] };
  const isOpen = outcome.why !== 'over' && outcome.why !== 'ended';
  return { ...outcome, spent: [state], ...(isOpen && { back: choice }) };
}

function placeOf(provider: string, state: string): string {
  return `signing-provider/${provider}/${state}`;
}

function pageOf({ key, ticket, language }: Pick<ProviderVisit, 'key' | 'ticket' | 'language'>): string {
  const query = new URLSearchParams({ ticket, culture: language });
  return `/document/key/${encodeURIComponent(key)}/sign?${query}`;
}

/** Ranges that fit; a document that was read whole has one range. */
function firstPages(pages: string): string {
  return pages.length <= MAX_PAGES_TEXT ? pages : pages.slice(0, pages.lastIndexOf(',', MAX_PAGES_TEXT));
}

function failed(
  why: ProviderTrouble,
  visit: ProviderVisit | undefined,
  faults: readonly string[] = [],
): Extract<SigningStepOutcome, { readonly kind: 'failed' }> {
  return { kind: 'failed', why, faults, page: visit && pageOf(visit) };
}

function isOfCertificate(type: string): boolean {
  return type.startsWith('certificate.');
}

function typesOf({
  validationResults,
}: {
  readonly validationResults: { readonly errors: readonly { readonly type: string }[] };
}): readonly string[] {
  return validationResults.errors.map(({ type }) => type);
}

function shown({ id, certificates, trouble }: PersonCredential): ShownCredential {
  const nothing = { id, holder: undefined, issuer: undefined, until: undefined, trouble: 'blocked' } as const;
  const [own] = certificates;
  if (own === undefined) return nothing;
  try {
    const certificate = readCertificate(own);
    return {
      id,
      holder: holderName(certificate),
      issuer: /^CN=(.+)$/m.exec(new X509Certificate(own).issuer)?.[1],
      until: certificate.notAfter,
      trouble,
    };
  } catch {
    return nothing;
  }
}
