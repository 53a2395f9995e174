/**
 * Retired words as data, for scripts/check-words.mjs: names that code, comments and documents no longer use, with the
 * word that replaced them. Words on the wire and in stores keep their spelling and are listed in WIRE_SPELLINGS.
 */

/** Identifiers that are gone: each is looked for as a whole word in code and comments. */
export const RETIRED_IDENTIFIERS = {
  PIECE: 'PAGE_SIZE, BATCH_SIZE or CHUNK_BYTES',
  PATIENCE: 'TIMEOUT_MS',
  LOOKS: 'MAX_POLLS, MAX_NODES_VISITED: say what is counted',
  MOST_LOOKS: 'MAX_ with what is counted',
  MAX_LOOKS: 'MAX_ with what is counted',
  OutOfWork: 'WorkBudgetExceeded',
  PatientThreads: 'IoWorkerPool',
  LatelyUsed: 'LruCache',
  GrowingPdf: 'IncrementalFile',
  Draft: 'IncrementalUpdate',
  DictDraft: 'DictUpdate',
  hastenEffects: 'rescheduleAfterClockRegression',
  troubledEffects: 'failedEffects',
  troubledCount: 'failedEffectCount',
  settleLeft: 'settlePending',
  holeStart: 'placeholderStart',
  holeEnd: 'placeholderEnd',
  fillHole: 'fillPlaceholder',
  waysUp: 'buildCertificationPaths',
  WaysUp: 'CertificationPaths',
  StatePair: 'ObjectComparison',
  PermittedChanges: 'ObjectComparison',
  Pencil: 'CanvasContext',
  Doer: 'Principal',
  MadeAction: 'CompletedAction',
  Circumstances: 'ReadingContext',
  Surroundings: 'Environment',
  atHand: 'peek',
  Visit: 'RequestContext',
  tooMuch: 'overloadProblem',
  vital: 'exemptFromLoadShedding',
  LONGER: 'TARGET_RATIO (RFC 8289)',
  LASTING: 'INTERVAL_MS (RFC 8289)',
  FEWEST: 'MIN_LIMIT',
  queueKey: 'partition',
  queueKeys: 'partitions',
  FlowRoom: 'PortalFixture',
  flowRoom: 'portalFixture',
  SimulatedWorld: 'SimulatedCluster',
  RandomWorld: 'RandomSimulation',
  EditorSessionLooks: 'EditorSessionPageOptions',
  unfit: 'invalidInput',
  unfitParams: 'invalidParamsCode',
  looker: 'fileReader',
  onLook: 'onSample',
  stillThe: 'isUnchanged',
  isHopeless: 'hasTimedOut',
  SOON_MS: 'EXPIRY_WARNING_MS',
  tellNewVersion: 'notifyNewVersion',
  judgedByOthers: 'verifiedByOtherTool',
  KeptRequest: 'SavedRequest',
  KeptRequests: 'SavedRequests',
  keptRequestMachine: 'savedRequestMachine',
  KeptDocuments: 'DocumentSnapshot',
  KeptAnswer: 'StoredAnswer',
  MadeDocument: 'DocumentOfRequest',
  MadeSignature: 'EarlySignature',
  GivenProof: 'SecondFactorProof',
  GivenFile: 'DeclaredFile',
  GivenRow: 'RowRequest',
  ShownText: 'PaintedText, ShapedText',
  ShownImage: 'EmbeddableImage',
  ShownName: 'DisplayName',
  KEPT_SPELLINGS: 'WIRE_SPELLINGS',
};

/** Endings of type names that say nothing of what a type holds. */
export const RETIRED_TYPE_ENDINGS = [
  {
    pattern: /^(?:interface|type|class) \w*[a-z]Parts\b/,
    instead: '…Dependencies, …Options or plain parameters',
  },
  { pattern: /^(?:interface|type|class) \w*[a-z]Facts\b/, instead: '…Info or …Report' },
  { pattern: /^(?:interface|type|class) \w*[a-z]Scene\b/, instead: '…Context' },
  { pattern: /^(?:interface|type|class) \w*[a-z]Wishes\b/, instead: '…Options' },
  { pattern: /^(?:interface|type|class) (?:Given|Kept|Made|Seen|Stands)\b/, instead: 'what the values are' },
];

/** Words of comments and documents that a reader of the field would not expect. */
export const RETIRED_PROSE = {
  'patient thread': 'I/O worker',
  'patient threads': 'I/O workers',
  'lately used': 'recently used',
  'the house': 'the project',
  'the census': 'the state index',
  'is told what': 'receives what',
  'what it would take next': 'accepts these messages',
  'is the address of nobody': 'has no server',
  'good no more': 'is revoked',
  'no step says so': 'no step records it',
  'nothing says so': 'nothing records it',
  'stands under': 'has the name',
  'nobody looks': 'is not used',
  'nobody could be asked': 'no service answered',
  'could not be told': 'did not accept',
  'is there no more': 'was removed',
  'kept request': 'saved request',
  'kept requests': 'saved requests',
};

/** Files in which retired words may stand: this list, its test, decisions and measured results of the past. */
export const EXEMPT = [
  /^scripts\/words\//,
  /^scripts\/check-words\.mjs$/,
  /^test\/project\/words\.test\.ts$/,
  /^docs\/decisions\//,
  /^docs\/glossary\.md$/,
  /^bench\/results\//,
];

/** Files that use a retired identifier because the wire or the store spells it so. */
export const WIRE_SPELLINGS = [{ path: /segmented-upload|portal-records\.test|uploads/, word: 'PIECE' }];

/** First words that a one-line doc comment does not begin with: it begins with a verb or a noun. */
export const DOC_OPENINGS = ['What', 'Who', 'Whether', 'How', 'Where', 'When', 'Which', 'Why'];
