/** Trusted lists (ETSI TS 119 612, versions 5 and 6 of the format) as data. Nothing here says that a list is authentic. */
import {
  ListFault,
  type ListNode,
  nodeNamed,
  nodesNamed,
  readListTree,
  requiredNode,
  trimmed,
} from './list-tree.ts';

const TSL = 'http://uri.etsi.org/02231/v2#';
const SIE = 'http://uri.etsi.org/TrstSvc/SvcInfoExt/eSigDir-1999-93-EC-TrustedList/#';
const ADDITIONAL = 'http://uri.etsi.org/02231/v2/additionaltypes#';

const LIST_TYPE = 'http://uri.etsi.org/TrstSvc/TrustedList/TSLType/';
export const LIST_OF_LISTS: string = `${LIST_TYPE}EUlistofthelists`;
export const NATIONAL_LIST: string = `${LIST_TYPE}EUgeneric`;
export const LIST_MEDIA_TYPE = 'application/vnd.etsi.tsl+xml';

/** Versions of the format that are read. */
const VERSIONS: ReadonlySet<string> = new Set(['5', '6']);

export interface TrustedList {
  readonly version: string;
  readonly sequence: number;
  /** URI of TSLType. */
  readonly type: string;
  /** Two capitals of SchemeTerritory. */
  readonly territory: string;
  /** Milliseconds since the epoch. */
  readonly issued: number;
  /** Undefined for a list that is closed. */
  readonly nextUpdate: number | undefined;
  /** SchemeInformationURI in order. */
  readonly informationUris: readonly string[];
  readonly pointers: readonly ListPointer[];
  readonly providers: readonly ListedProvider[];
}

/** OtherTSLPointer: where another list stands, and who signs it. */
export interface ListPointer {
  readonly location: string;
  readonly type: string;
  readonly mediaType: string;
  readonly territory: string;
  /** DER. */
  readonly signers: readonly Buffer[];
}

export interface ListedProvider {
  /** Names and trade names, in any language. */
  readonly names: readonly string[];
  readonly services: readonly ListedService[];
}

export interface ListedService {
  /** Name for people. */
  readonly name: string;
  /** DER of the certificates that the current entry identifies the service by. */
  readonly certificates: readonly Buffer[];
  /** The current entry, then the history in the order of the list. */
  readonly entries: readonly ServiceEntry[];
}

/** Status of a service from `since` on. */
export interface ServiceEntry {
  /** URIs. */
  readonly type: string;
  readonly status: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** URIs of AdditionalServiceInformation. */
  readonly information: readonly string[];
  readonly qualifications: readonly Qualification[];
  /** A critical extension that is not known. */
  readonly isUnread: boolean;
}

/** QualificationElement: what the list says of certificates that meet criteria. */
export interface Qualification {
  /** URIs. */
  readonly qualifiers: readonly string[];
  readonly isCritical: boolean;
  readonly criteria: Criterion;
}

/** `unread`: a criterion that is not known, so that nobody can say whether a certificate meets it. */
export type Criterion =
  | { readonly kind: 'all' | 'atLeastOne' | 'none'; readonly criteria: readonly Criterion[] }
  | {
      readonly kind: 'keyUsage';
      readonly bits: readonly { readonly name: string; readonly isSet: boolean }[];
    }
  | { readonly kind: 'policies' | 'purposes' | 'subjectAttributes'; readonly ids: readonly string[] }
  | { readonly kind: 'statements'; readonly statements: readonly StatementCriterion[] }
  | { readonly kind: 'unread' };

export interface StatementCriterion {
  readonly id: string;
  /** Type that QcType must name; undefined: any. */
  readonly type: string | undefined;
}

/**
 * Reads a list. @param document bytes of the file
 * @throws {ListFault} for what the format does not allow @throws {CryptoError} as `readXml`
 */
export function readTrustedList(document: Buffer): TrustedList {
  const root = readListTree(document);
  if (root.namespace !== TSL || root.local !== 'TrustServiceStatusList')
    throw new ListFault('is no trusted list');
  const scheme = requiredNode(root, TSL, 'SchemeInformation');
  const version = trimmed(requiredNode(scheme, TSL, 'TSLVersionIdentifier'));
  if (!VERSIONS.has(version)) throw new ListFault('has a version that is not read');
  const sequence = trimmed(requiredNode(scheme, TSL, 'TSLSequenceNumber'));
  if (!/^\d{1,9}$/.test(sequence)) throw new ListFault('has no sequence number');
  const territory = trimmed(requiredNode(scheme, TSL, 'SchemeTerritory'));
  if (!/^[A-Z]{2}$/.test(territory)) throw new ListFault('has no territory');
  const next = trimmed(nodeNamed(requiredNode(scheme, TSL, 'NextUpdate'), TSL, 'dateTime'));
  const uris = nodesNamed(nodeNamed(scheme, TSL, 'SchemeInformationURI'), TSL, 'URI');
  const pointers = nodesNamed(nodeNamed(scheme, TSL, 'PointersToOtherTSL'), TSL, 'OtherTSLPointer');
  const providers = nodeNamed(root, TSL, 'TrustServiceProviderList');
  return {
    version,
    sequence: Number(sequence),
    type: trimmed(requiredNode(scheme, TSL, 'TSLType')),
    territory,
    issued: timeOf(requiredNode(scheme, TSL, 'ListIssueDateTime')),
    nextUpdate: next === '' ? undefined : timeIn(next),
    informationUris: uris.map(trimmed),
    pointers: pointers.map(readPointer),
    providers: nodesNamed(providers, TSL, 'TrustServiceProvider').map(readProvider),
  };
}

/** Sentences about a list that is not of a time, milliseconds since the epoch. */
export function notesOn(
  { territory, issued, nextUpdate }: Pick<TrustedList, 'territory' | 'issued' | 'nextUpdate'>,
  at: number,
): string[] {
  const list = `The list of ${territory}`;
  if (issued > at) return [`${list} is of ${dayOf(issued)}, newer than the time of validation.`];
  if (nextUpdate === undefined) return [`${list} is closed.`];
  return nextUpdate < at ? [`${list} ended on ${dayOf(nextUpdate)}.`] : [];
}

export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

function timeOf(node: ListNode): number {
  return timeIn(trimmed(node));
}

function timeIn(text: string): number {
  const at = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new ListFault('has a time that is none');
  return at;
}

function readPointer(node: ListNode): ListPointer {
  const information = nodesNamed(nodeNamed(node, TSL, 'AdditionalInformation'), TSL, 'OtherInformation');
  const value = (namespace: string, local: string) =>
    trimmed(information.map((one) => nodeNamed(one, namespace, local)).find((one) => one !== undefined));
  const identities = nodesNamed(
    nodeNamed(node, TSL, 'ServiceDigitalIdentities'),
    TSL,
    'ServiceDigitalIdentity',
  );
  return {
    location: trimmed(requiredNode(node, TSL, 'TSLLocation')),
    type: value(TSL, 'TSLType'),
    mediaType: value(ADDITIONAL, 'MimeType'),
    territory: value(TSL, 'SchemeTerritory'),
    signers: identities.flatMap(certificatesOf),
  };
}

/** DER of the certificates of a ServiceDigitalIdentity. */
function certificatesOf(identity: ListNode | undefined): Buffer[] {
  return nodesNamed(identity, TSL, 'DigitalId')
    .flatMap((id) => nodesNamed(id, TSL, 'X509Certificate'))
    .map((node) => Buffer.from(node.text.replace(/\s+/g, ''), 'base64'));
}

function namesOf(node: ListNode | undefined): string[] {
  return nodesNamed(node, TSL, 'Name').map(trimmed);
}

function readProvider(node: ListNode): ListedProvider {
  const information = requiredNode(node, TSL, 'TSPInformation');
  const names = namesOf(requiredNode(information, TSL, 'TSPName'));
  const services = nodesNamed(requiredNode(node, TSL, 'TSPServices'), TSL, 'TSPService');
  return {
    names: [...names, ...namesOf(nodeNamed(information, TSL, 'TSPTradeName'))],
    services: services.map(readService),
  };
}

function readService(node: ListNode): ListedService {
  const current = requiredNode(node, TSL, 'ServiceInformation');
  const history = nodesNamed(nodeNamed(node, TSL, 'ServiceHistory'), TSL, 'ServiceHistoryInstance');
  return {
    name: namesOf(nodeNamed(current, TSL, 'ServiceName'))[0] ?? '',
    certificates: certificatesOf(requiredNode(current, TSL, 'ServiceDigitalIdentity')),
    entries: [current, ...history].map(readEntry),
  };
}

function readEntry(node: ListNode): ServiceEntry {
  const extensions = nodesNamed(nodeNamed(node, TSL, 'ServiceInformationExtensions'), TSL, 'Extension');
  return {
    type: trimmed(requiredNode(node, TSL, 'ServiceTypeIdentifier')),
    status: trimmed(requiredNode(node, TSL, 'ServiceStatus')),
    since: timeOf(requiredNode(node, TSL, 'StatusStartingTime')),
    information: extensions
      .flatMap((one) => nodesNamed(one, TSL, 'AdditionalServiceInformation'))
      .map((one) => trimmed(requiredNode(one, TSL, 'URI'))),
    qualifications: extensions.flatMap((one) =>
      nodesNamed(one, SIE, 'Qualifications').flatMap((list) =>
        nodesNamed(list, SIE, 'QualificationElement').map((element) => readQualification(element, one)),
      ),
    ),
    isUnread: extensions.some((one) => isCritical(one) && !one.children.every(isKnownExtension)),
  };
}

function isCritical(extension: ListNode): boolean {
  return /^(?:true|1)$/.test(extension.attributes.get('Critical') ?? '');
}

/** Extensions that are read or that change nothing of what is decided here (TS 119 612 §5.5.9). */
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([
  `${TSL} AdditionalServiceInformation`,
  `${TSL} ExpiredCertsRevocationInfo`,
  `${SIE} Qualifications`,
  `${ADDITIONAL} TakenOverBy`,
]);

function isKnownExtension({ namespace, local }: ListNode): boolean {
  return KNOWN_EXTENSIONS.has(`${namespace} ${local}`);
}

function readQualification(element: ListNode, extension: ListNode): Qualification {
  const qualifiers = nodesNamed(requiredNode(element, SIE, 'Qualifiers'), SIE, 'Qualifier');
  return {
    qualifiers: qualifiers.map((one) => one.attributes.get('uri')?.trim() ?? ''),
    isCritical: isCritical(extension),
    criteria: readCriteria(requiredNode(element, SIE, 'CriteriaList')),
  };
}

const ASSERTIONS: ReadonlyMap<string | undefined, 'all' | 'atLeastOne' | 'none'> = new Map([
  ['all', 'all'],
  ['atLeastOne', 'atLeastOne'],
  ['none', 'none'],
]);

const UNREAD: Criterion = { kind: 'unread' };

/** Reads a CriteriaList; text for people, `Description`, is no criterion. */
function readCriteria(list: ListNode): Criterion {
  const kind = ASSERTIONS.get(list.attributes.get('assert'));
  const criteria = list.children
    .filter(({ local }) => local !== 'Description')
    .flatMap((node) => CRITERIA.get(`${node.namespace} ${node.local}`)?.(node) ?? [UNREAD]);
  return kind === undefined || criteria.length === 0 ? UNREAD : { kind, criteria };
}

type CriterionReader = (node: ListNode) => readonly Criterion[];

const CRITERIA: ReadonlyMap<string, CriterionReader> = new Map<string, CriterionReader>([
  [`${SIE} CriteriaList`, (node) => [readCriteria(node)]],
  [`${SIE} KeyUsage`, readKeyUsage],
  [`${SIE} PolicySet`, (node) => [readIds('policies', node, 'PolicyIdentifier')]],
  [
    `${SIE} otherCriteriaList`,
    (node) =>
      node.children.flatMap((one) => OTHER_CRITERIA.get(`${one.namespace} ${one.local}`)?.(one) ?? [UNREAD]),
  ],
]);

const OTHER_CRITERIA: ReadonlyMap<string, CriterionReader> = new Map<string, CriterionReader>([
  [`${ADDITIONAL} ExtendedKeyUsage`, (node) => [readIds('purposes', node, 'KeyPurposeId')]],
  [`${ADDITIONAL} CertSubjectDNAttribute`, (node) => [readIds('subjectAttributes', node, 'AttributeOID')]],
  [`${ADDITIONAL} QcStatementSet`, readStatementSet],
]);

function readKeyUsage(node: ListNode): Criterion[] {
  const bits = node.children.map((bit) => ({
    name: bit.attributes.get('name') ?? '',
    written: trimmed(bit),
    isBit: bit.namespace === SIE && bit.local === 'KeyUsageBit',
  }));
  const isRead =
    bits.length > 0 && bits.every((bit) => bit.isBit && /^(?:true|false|0|1)$/.test(bit.written));
  if (!isRead) return [UNREAD];
  const read = bits.map(({ name, written }) => ({ name, isSet: written === 'true' || written === '1' }));
  return [{ kind: 'keyUsage', bits: read }];
}

/** Reads a set whose members are all of one name and hold an Identifier each. */
function readIds(
  kind: 'policies' | 'purposes' | 'subjectAttributes',
  node: ListNode,
  member: string,
): Criterion {
  const members = node.children.filter(({ local }) => local !== 'Description');
  const ids = members.flatMap((one) => (one.local === member ? identifierIn(one) : [undefined]));
  const read = ids.filter((id) => id !== undefined);
  return read.length === 0 || read.length < members.length ? UNREAD : { kind, ids: read };
}

/** Dotted identifier of an ObjectIdentifierType (XAdES); undefined when it has none. */
function identifierIn(node: ListNode): string | undefined {
  const identifiers = node.children.filter(({ local }) => local === 'Identifier');
  const text = identifiers.length === 1 ? trimmed(identifiers[0]).replace(/^urn:oid:/i, '') : '';
  return /^\d+(?:\.\d+)+$/.test(text) ? text : undefined;
}

/** Reads QcStatementSet = QcStatement { QcStatementId, QcStatementInfo { QcType }? }+. */
function readStatementSet(node: ListNode): Criterion[] {
  const statements = node.children.map((one): StatementCriterion | undefined => {
    const [id, ...more] = one.children;
    if (one.local !== 'QcStatement' || id?.local !== 'QcStatementId') return undefined;
    const read = identifierIn(id);
    if (read === undefined) return undefined;
    if (more.length === 0) return { id: read, type: undefined };
    const [type, ...others] = more[0]?.local === 'QcStatementInfo' ? more[0].children : [];
    const named = type?.local === 'QcType' && others.length === 0 ? identifierIn(type) : undefined;
    return more.length === 1 && named !== undefined ? { id: read, type: named } : undefined;
  });
  const isRead = statements.length > 0 && statements.every((one) => one !== undefined);
  return isRead
    ? [{ kind: 'statements', statements: statements.filter((one) => one !== undefined) }]
    : [UNREAD];
}
