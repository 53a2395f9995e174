/** A SAML provider that makes every response, also those that a real one would not. */
import { generateKeyPairSync } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import forge from 'node-forge';
import { SignedXml } from 'xml-crypto';
import { onwardOf, type SiteBrowser } from './oidc-server.ts';

export interface SamlKey {
  readonly key: string;
  readonly certificate: string;
}

const ALGORITHMS = {
  sha256: ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', 'http://www.w3.org/2001/04/xmlenc#sha256'],
  sha1: ['http://www.w3.org/2000/09/xmldsig#rsa-sha1', 'http://www.w3.org/2000/09/xmldsig#sha1'],
  sha1Digest: ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', 'http://www.w3.org/2000/09/xmldsig#sha1'],
  hmac: ['http://www.w3.org/2000/09/xmldsig#hmac-sha1', 'http://www.w3.org/2001/04/xmlenc#sha256'],
} as const;
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success';
export const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';

/** A key with a certificate of its own, which ends in `days`. */
export function samlKey(days = 30): SamlKey {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(
    pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  );
  certificate.serialNumber = '01';
  certificate.validity.notBefore = new Date(Date.now() - 60 * 86_400_000);
  certificate.validity.notAfter = new Date(Date.now() + days * 86_400_000);
  certificate.setSubject([{ name: 'commonName', value: 'identity provider' }]);
  certificate.setIssuer([{ name: 'commonName', value: 'identity provider' }]);
  certificate.sign(forge.pki.privateKeyFromPem(key), forge.md.sha256.create());
  return { key, certificate: forge.pki.certificateToPem(certificate) };
}

/** Metadata of a provider. @param attributes of the outermost element */
export function samlMetadata(issuer: string, entryPoint: string, keys: readonly SamlKey[], attributes = '') {
  const descriptors = keys.map(
    ({ certificate }) =>
      `<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${certificate.replace(
        /-----[^-]+-----/g,
        '',
      )}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`,
  );
  return `\uFEFF<?xml version="1.0"?><!-- of the provider --><md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${issuer}" ${attributes}><md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${descriptors.join('')}<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${entryPoint}/post"/><md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${entryPoint}"/></md:IDPSSODescriptor></md:EntityDescriptor>`;
}

/** A request of the service, as the provider reads it. */
export interface SamlRequest {
  readonly id: string;
  readonly receiver: string;
  readonly issuer: string;
  readonly xml: string;
}

export function readRequest(location: string): SamlRequest {
  const given = new URL(location).searchParams.get('SAMLRequest') ?? '';
  const xml = inflateRawSync(Buffer.from(given, 'base64')).toString();
  const attribute = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(xml)?.[1] ?? '';
  return {
    xml,
    id: attribute('ID'),
    receiver: attribute('AssertionConsumerServiceURL'),
    issuer: /<saml:Issuer[^>]*>([^<]*)</.exec(xml)?.[1] ?? '',
  };
}

/** Parts of a response; undefined leaves one out. */
export interface ResponseContent {
  readonly issuer: string;
  readonly responseIssuer: string | undefined;
  readonly audience: string;
  readonly recipient: string;
  readonly destination: string | undefined;
  readonly inResponseTo: string | undefined;
  readonly confirmedRequest: string | undefined;
  readonly nameId: string;
  readonly format: string;
  readonly attributes: Readonly<Record<string, readonly string[]>>;
  /** Seconds from now. */
  readonly issued: number;
  readonly notBefore: number;
  readonly ends: number;
  readonly confirmationEnds: number;
  readonly status: string;
  readonly statement: boolean;
  /** Authentication of the person, seconds from now. */
  readonly authenticated: number;
  /** End of the session at the provider. */
  readonly sessionEnds: number | undefined;
  readonly assertionId: string;
}

let count = 0;

export function partsFor(request: SamlRequest, given: Partial<ResponseContent> = {}): ResponseContent {
  count += 1;
  return {
    issuer: 'urn:idp',
    responseIssuer: 'urn:idp',
    audience: request.issuer,
    recipient: request.receiver,
    destination: request.receiver,
    inResponseTo: request.id,
    confirmedRequest: request.id,
    nameId: `id-${count}`,
    format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
    attributes: { email: [`saml${count}@example.test`], displayName: ['Ana'], groups: ['signers'] },
    issued: -1,
    notBefore: -1,
    ends: 300,
    confirmationEnds: 300,
    status: SUCCESS,
    statement: true,
    authenticated: -7200,
    sessionEnds: undefined,
    assertionId: `_a${count}`,
    ...given,
  };
}

const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toJSON();
const attribute = (name: string, value: string | undefined) =>
  value === undefined ? '' : ` ${name}="${value}"`;

export function assertionOf(parts: ResponseContent): string {
  const attributes = Object.entries(parts.attributes).flatMap(([name, values]) =>
    // Some providers send one attribute for each value.
    values.map(
      (one) =>
        `<saml:Attribute Name="${name}"><saml:AttributeValue>${one}</saml:AttributeValue></saml:Attribute>`,
    ),
  );
  return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${parts.assertionId}" Version="2.0" IssueInstant="${at(parts.issued)}"><saml:Issuer>${parts.issuer}</saml:Issuer><saml:Subject><saml:NameID Format="${parts.format}">${parts.nameId}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData NotOnOrAfter="${at(parts.confirmationEnds)}" Recipient="${parts.recipient}"${attribute('InResponseTo', parts.confirmedRequest)}/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${at(parts.notBefore)}" NotOnOrAfter="${at(parts.ends)}"><saml:AudienceRestriction><saml:Audience>${parts.audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>${parts.statement ? `<saml:AuthnStatement AuthnInstant="${at(parts.authenticated)}" SessionIndex="s1"${attribute('SessionNotOnOrAfter', parts.sessionEnds === undefined ? undefined : at(parts.sessionEnds))}><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>` : ''}<saml:AttributeStatement>${attributes.join('')}</saml:AttributeStatement></saml:Assertion>`;
}

export function responseOf(parts: ResponseContent, content: string): string {
  const issuer = parts.responseIssuer;
  return `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_r${parts.assertionId}" Version="2.0" IssueInstant="${at(0)}"${attribute('Destination', parts.destination)}${attribute('InResponseTo', parts.inResponseTo)}>${issuer === undefined ? '' : `<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${issuer}</saml:Issuer>`}<samlp:Status><samlp:StatusCode Value="${parts.status}"/></samlp:Status>${content}</samlp:Response>`;
}

/** Signs the element with an id; the signature is its second child. */
export function signedXml(
  xml: string,
  id: string,
  { key, certificate }: SamlKey,
  algorithm: keyof typeof ALGORITHMS = 'sha256',
): string {
  const [signatureAlgorithm, digestAlgorithm] = ALGORITHMS[algorithm];
  const signer = new SignedXml({
    signatureAlgorithm,
    canonicalizationAlgorithm: EXCLUSIVE,
    privateKey: algorithm === 'hmac' ? certificate : key,
  });
  if (algorithm === 'hmac') signer.enableHMAC();
  const xpath = `//*[@ID='${id}']`;
  signer.addReference({
    xpath,
    digestAlgorithm,
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', EXCLUSIVE],
  });
  signer.computeSignature(xml, {
    location: { reference: `${xpath}/*[local-name(.)='Issuer']`, action: 'after' },
  });
  return signer.getSignedXml();
}

/** A response with a signed assertion. */
export function signedResponse(
  parts: ResponseContent,
  key: SamlKey,
  algorithm?: keyof typeof ALGORITHMS,
): string {
  return signedXml(responseOf(parts, assertionOf(parts)), parts.assertionId, key, algorithm);
}

/** Begins a sign-in. */
export async function beginSaml(browser: SiteBrowser, start: string): Promise<SamlRequest> {
  const answer = await browser.fetch(start);
  const location = answer.headers.get('location');
  if (location === null) throw new Error(`${start} answered ${answer.status}: ${await answer.text()}`);
  return readRequest(location);
}

/** Sends a response as the page of the provider does, and follows the page that leads on. */
export async function sendResponse(browser: SiteBrowser, receiver: string, xml: string): Promise<Response> {
  const body = new URLSearchParams({
    SAMLResponse: Buffer.from(xml).toString('base64'),
    RelayState: 'https://evil.example/',
  });
  const answer = await browser.fetch(receiver, { method: 'POST', body }, true);
  return answer.status === 200 ? browser.fetch(onwardOf(await answer.text(), receiver)) : answer;
}
