/**
 * A SAML 2.0 provider at which people sign in, as its metadata file describes it. `@node-saml/node-saml` writes requests
 * and verifies signatures; it and the XML reader are loaded at first use.
 *
 * Source: SAML 2.0 Profiles §4.1; docs/decisions/0286-saml.md.
 */
import { readFile, stat } from 'node:fs/promises';
import type { Clock, Log } from '@sealwright/runtime';
import { z } from 'zod';
import { type FlowSecrets, MAX_GROUPS, type ProviderPerson, SignInFailure, shortText } from './provider.ts';
import type { SamlMetadata } from './saml-xml.ts';

export interface SamlOptions {
  readonly name: string;
  readonly metadataFile: string;
  /** Name of this service at the provider. */
  readonly entityId: string;
  /** Attribute with the groups. */
  readonly groupsClaim: string;
  /** Take responses without a request of ours. */
  readonly allowUnsolicited: boolean;
}

/** A verified response. */
export interface SamlAnswer {
  readonly person: ProviderPerson;
  /** State of the sign-in to which it belongs; undefined: unsolicited. */
  readonly state: string | undefined;
  /** Id of the assertion. */
  readonly assertion: string;
}

const MAX_METADATA = 262_144;
/** Time after which ends of certificates are looked at anew. */
const FRESH_MS = 60_000;
/** Clocks may differ. */
const SKEW_MS = 120_000;
/** Greatest age of an assertion; shorter than the time for which used ones are known (`UsedSignInAnswers`). */
const MAX_AGE_MS = 600_000;
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
/** Common names of attributes, short and as identifiers. */
const EMAIL = [
  'email',
  'mail',
  'emailAddress',
  'urn:oid:0.9.2342.19200300.100.1.3',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
];
const NAME = [
  'displayName',
  'name',
  'cn',
  'urn:oid:2.16.840.1.113730.3.1.241',
  'urn:oid:2.5.4.3',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name',
];

/** SAML 2.0 Core §1.3.3. */
const utcTime = z.iso.datetime({ offset: true }).transform((given) => Date.parse(given));
const text = z.looseObject({ _: z.string() });
const attribute = z.looseObject({
  $: z.looseObject({ Name: z.string(), FriendlyName: z.string().optional() }),
  AttributeValue: z.array(z.unknown()).optional(),
});
/** The signed assertion, as the library gives it: lists of elements by local name. */
const assertionShape = z.looseObject({
  $: z.looseObject({ ID: z.string().min(1).max(255), IssueInstant: z.string() }),
  Issuer: z.tuple([text]),
  Subject: z.tuple([
    z.looseObject({
      NameID: z.tuple([
        z.looseObject({
          _: shortText,
          $: z.looseObject({ Format: z.string(), NameQualifier: z.string() }).partial().optional(),
        }),
      ]),
      SubjectConfirmation: z.array(
        z.looseObject({
          $: z.looseObject({ Method: z.string() }),
          SubjectConfirmationData: z
            .array(
              z.looseObject({
                $: z
                  .looseObject({
                    Recipient: z.string(),
                    NotOnOrAfter: z.string(),
                    NotBefore: z.string(),
                    InResponseTo: z.string(),
                  })
                  .partial()
                  .optional(),
              }),
            )
            .optional(),
        }),
      ),
    }),
  ]),
  AuthnStatement: z
    .array(
      z.looseObject({
        $: z
          .looseObject({
            AuthnInstant: z.string(),
            SessionIndex: z.string(),
            SessionNotOnOrAfter: z.iso.datetime({ offset: true }),
          })
          .partial()
          .optional(),
      }),
    )
    .min(1),
  AttributeStatement: z
    .array(z.union([z.string(), z.looseObject({ Attribute: z.array(attribute).optional() })]))
    .optional(),
});
type Assertion = z.infer<typeof assertionShape>;

export class SamlProvider {
  readonly #options: SamlOptions;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Log;
  #trouble: string | undefined;
  /** The metadata as read from the file of these times and this size. */
  #read: { readonly version: string; readonly until: number; readonly metadata: SamlMetadata } | undefined;

  constructor(options: SamlOptions, { clock, log }: { clock: Pick<Clock, 'now'>; log: Log }) {
    this.#options = options;
    this.#clock = clock;
    this.#log = log;
  }

  get name(): string {
    return this.#options.name;
  }

  get allowsUnsolicited(): boolean {
    return this.#options.allowUnsolicited;
  }

  /** Reason for which nobody can sign in now; undefined: no failure is known. Looks again in the background. */
  get trouble(): string | undefined {
    this.warmUp();
    return this.#trouble;
  }

  /** Reads the metadata in the background, so that a failure is known before somebody signs in. */
  warmUp(): void {
    this.#metadata().catch(() => {});
  }

  /** Address to which the browser goes. Throws `SignInFailure`. @param receiver address that takes the response */
  async begin({ state, asked }: FlowSecrets, receiver: string): Promise<string> {
    const request = { id: `_${state}`, forceAuthn: asked !== undefined };
    const saml = await this.#library(await this.#metadata(), receiver, request);
    // No RelayState: the cookie of the sign-in keeps where it goes on.
    return saml.getAuthorizeUrlAsync('', undefined, {});
  }

  /** Verifies a response. Who may use it, and once, is for the caller to check. Throws `SignInFailure`. */
  async finish(response: string, receiver: string): Promise<SamlAnswer> {
    const metadata = await this.#metadata();
    const { issuer } = metadata;
    const { checkResponse } = await import('./saml-xml.ts');
    const { inResponseTo } = checkResponse(response, { issuer, receiver });
    const saml = await this.#library(metadata, receiver);
    let given: unknown;
    try {
      const { profile } = await saml.validatePostResponseAsync({ SAMLResponse: response });
      given = profile?.getAssertion?.()['Assertion'];
    } catch (error) {
      throw refusal(error instanceof Error ? error.message : 'It is not a SAML response.');
    }
    const read = assertionShape.safeParse(given);
    if (!read.success) throw refusal(`The assertion is incomplete: ${z.prettifyError(read.error)}`);
    const assertion = read.data;
    if (assertion.Issuer[0]._.trim() !== issuer)
      throw refusal(`The issuer of the assertion is ${assertion.Issuer[0]._}, not ${issuer}.`);
    const confirmed = this.#confirmation(assertion, receiver);
    if (confirmed.InResponseTo !== inResponseTo)
      throw refusal('The assertion belongs to another request than its response.');
    return {
      person: this.#person(assertion, issuer),
      state: inResponseTo?.replace(/^_/, ''),
      assertion: assertion.$.ID,
    };
  }

  /** Metadata of this service for the provider. @param receiver address that takes the response */
  async description(receiver: string): Promise<string> {
    const { generateServiceProviderMetadata } = await import('@node-saml/node-saml');
    const { entityId } = this.#options;
    return generateServiceProviderMetadata({
      issuer: entityId,
      callbackUrl: receiver,
      identifierFormat: null,
      wantAssertionsSigned: true,
      // The same file each time.
      generateUniqueId: () => `_${this.name}`,
    });
  }

  async #library(
    { issuer, entryPoint, certificates }: SamlMetadata,
    receiver: string,
    request?: { readonly id: string; readonly forceAuthn: boolean },
  ) {
    const { SAML, ValidateInResponseTo } = await import('@node-saml/node-saml');
    return new SAML({
      entryPoint,
      idpIssuer: issuer,
      idpCert: [...certificates],
      callbackUrl: receiver,
      issuer: this.#options.entityId,
      audience: this.#options.entityId,
      wantAssertionsSigned: true,
      wantAuthnResponseSigned: false,
      acceptedClockSkewMs: SKEW_MS,
      maxAssertionAgeMs: MAX_AGE_MS,
      // The provider chooses its name format and how people prove who they are.
      identifierFormat: null,
      disableRequestedAuthnContext: true,
      // `SignInFlows` binds the answer to the browser.
      validateInResponseTo: ValidateInResponseTo.never,
      ...(request !== undefined && { generateUniqueId: () => request.id, forceAuthn: request.forceAuthn }),
    });
  }

  /** The confirmation that holds here and now. */
  #confirmation({ Subject }: Assertion, receiver: string) {
    const now = this.#clock.now();
    for (const { $, SubjectConfirmationData: data } of Subject[0].SubjectConfirmation) {
      const said = data?.[0]?.$;
      if ($.Method !== BEARER || said?.Recipient !== receiver || said.NotBefore !== undefined) continue;
      if (Date.parse(said.NotOnOrAfter ?? '') + SKEW_MS > now) return said;
    }
    throw refusal(`No subject confirmation is for ${receiver} and in time.`);
  }

  #person(assertion: Assertion, issuer: string): ProviderPerson {
    const [{ NameID }] = assertion.Subject;
    const [{ _: subject, $: { Format: format, NameQualifier: qualifier } = {} }] = NameID;
    if (format === TRANSIENT)
      throw new SignInFailure('unavailable', 'The NameID is transient; send a lasting one (persistent).');
    if (qualifier !== undefined && qualifier !== '' && qualifier !== issuer)
      throw refusal(`The NameID belongs to ${qualifier}, not to ${issuer}.`);
    const said = attributesOf(assertion);
    const first = (names: readonly string[]) =>
      names.flatMap((one) => shortText.safeParse(said.get(one)?.[0]).data ?? [])[0];
    const groups = said.get(this.#options.groupsClaim) ?? [];
    // A provider with many groups sends a link to them in their place.
    const isElsewhere = groups.length === 0 && [...said.keys()].some((one) => one.endsWith('/groups.link'));
    // Of several statements, the earliest times count.
    const begins = assertion.AuthnStatement.map(({ $ }) => utcTime.safeParse($?.AuthnInstant).data ?? 0);
    const ends = assertion.AuthnStatement.flatMap(({ $ }) => Date.parse($?.SessionNotOnOrAfter ?? '') || []);
    const until = ends.length === 0 ? undefined : Math.min(...ends);
    if (until !== undefined && until <= this.#clock.now())
      throw refusal('The session at the provider is over (SessionNotOnOrAfter).');
    return {
      issuer,
      subject,
      idToken: '',
      emailVerified: undefined,
      until,
      authenticatedAt: Math.min(...begins),
      session: shortText.safeParse(assertion.AuthnStatement[0]?.$?.SessionIndex).data,
      email: first(EMAIL) ?? (format === EMAIL_FORMAT ? subject : undefined),
      name: first(NAME),
      groups: isElsewhere || groups.length > MAX_GROUPS ? undefined : groups,
    };
  }

  /** The metadata; the file can change at any time. Anybody can ask for it, so it is parsed again only then. Throws `SignInFailure`. */
  async #metadata(): Promise<SamlMetadata> {
    const { metadataFile: file } = this.#options;
    try {
      const { size, mtimeNs, ctimeNs, ino } = await stat(file, { bigint: true });
      if (size > MAX_METADATA) throw new Error(`it has more than ${MAX_METADATA} bytes`);
      const now = this.#clock.now();
      const version = `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
      if (this.#read?.version !== version || this.#read.until <= now) {
        const { readMetadata } = await import('./saml-xml.ts');
        const metadata = readMetadata(await readFile(file, 'utf8'), now);
        this.#read = { version, until: now + FRESH_MS, metadata };
      }
      const { metadata } = this.#read;
      if (this.#trouble !== undefined)
        this.#log.info('The identity provider can be used again.', { Provider: this.name });
      this.#trouble = undefined;
      return metadata;
    } catch (error) {
      const why = error instanceof Error ? error.message : 'unknown';
      const trouble = `its metadata file cannot be used: ${why}`.slice(0, 300);
      if (this.#trouble !== trouble)
        this.#log.warn('Nobody can sign in at the identity provider.', {
          Provider: this.name,
          File: file,
          Error: trouble,
        });
      this.#trouble = trouble;
      throw new SignInFailure('unavailable', `${this.name}: ${trouble}`);
    }
  }
}

/** Values by name, and by friendly name. An attribute may be given several times. */
function attributesOf({ AttributeStatement: statements = [] }: Assertion): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const statement of statements)
    for (const { $, AttributeValue = [] } of typeof statement === 'string' ? [] : (statement.Attribute ?? []))
      for (const name of new Set([$.Name, $.FriendlyName ?? $.Name]))
        values.set(name, [...(values.get(name) ?? []), ...AttributeValue.flatMap(textOf)]);
  return values;
}

function textOf(value: unknown): string | readonly string[] {
  return typeof value === 'string' ? value : (text.safeParse(value).data?._ ?? []);
}

function refusal(why: string): SignInFailure {
  return new SignInFailure('refused', why.slice(0, 300));
}
