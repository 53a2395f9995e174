/**
 * The layout of the project as data: who may import whom, which packages belong where, what is passed in.
 * The reasons are in docs/decisions/0001-root-files-and-pool.md.
 */

/**
 * Zones by name. `owns` decides which zone a file belongs to (first match wins); `enteredBy` lists the files that
 * other zones may import, as patterns; `imports` names the zones it may import from ('types' = `import type` only, a pattern = those
 * files);
 * `packages` are the npm packages it may use; `builtins` false forbids node: modules; `ownTime` lets it ask the machine
 * for time and randomness.
 */
export const ZONES = {
  /** Members, bounds, meanings and operations of both APIs, each once; machines, actors and HTTP take their types from here. */
  contracts: {
    owns: /^contracts\//,
    enteredBy: [/^contracts\/.+\.tsx?$/],
    imports: {},
    packages: ['zod', 'preact', 'preact-render-to-string'],
    builtins: false,
  },
  machines: {
    owns: /^machines\//,
    enteredBy: [/^machines\/.+\.ts$/],
    // The actions that ask the runtime for something; they are pure.
    imports: { contracts: 'all', runtime: /^runtime\/actions\.ts$/ },
    packages: ['xstate'],
    builtins: false,
  },
  runtime: {
    owns: /^runtime\//,
    // `core.ts`: what threads without actors need of `index.ts`.
    enteredBy: [
      /^runtime\/(index|actions|core|copy|history|inspect|lmdb|postgres|postgres-parts|shards)\.ts$/,
    ],
    imports: {},
    packages: ['xstate', 'lmdb', 'comlink', 'pg', 'lru-cache'],
    builtins: true,
  },
  crypto: {
    owns: /^crypto\//,
    // Browsers open PKCS#12 containers with the same readers.
    enteredBy: [/^crypto\/(index|asn1|command-line|http|pkcs12|threads)\.ts$/],
    imports: {},
    packages: ['node-forge', '@fontsource/dejavu-sans', 'harfbuzzjs', 'bidi-js', 'lru-cache', 'piscina'],
    builtins: true,
  },
  /** The second implementation of signature checking: it shares no code with `crypto`. */
  independent: {
    owns: /^independent\//,
    enteredBy: [/^independent\/index\.ts$/],
    imports: {},
    packages: ['pkijs', 'asn1js', 'xml-crypto', '@xmldom/xmldom', 'jszip'],
    builtins: true,
  },
  actors: {
    owns: /^actors\//,
    enteredBy: [
      /^actors\/index\.ts$/,
      /^actors\/portal\/api\.ts$/,
      /^actors\/shared\/(files\/(output-names|storage-layout|windows-1252)|secrets\/token)\.ts$/,
    ],
    imports: {
      contracts: 'all',
      machines: 'all',
      runtime: 'all',
      crypto: 'all',
      independent: 'all',
    },
    packages: [
      'piscina',
      'chokidar',
      'nodemailer',
      'uqr',
      '@simplewebauthn/server',
      'preact',
      'exceljs',
      'jpeg-js',
      'pdfjs-dist',
      'lru-cache',
      '@aws-sdk/client-s3',
      '@aws-sdk/client-kms',
    ],
    builtins: true,
  },
  http: {
    owns: /^http\//,
    enteredBy: [/^http\/index\.ts$/],
    imports: { contracts: 'all', machines: 'all', actors: 'all', runtime: 'types', web: 'all' },
    packages: [
      'zod',
      'prom-client',
      'piscina',
      'uws-node20',
      'uws-node22',
      'pdfjs-dist',
      'node-forge',
      'lru-cache',
      'openid-client',
      '@node-saml/node-saml',
      '@xmldom/xmldom',
      'jose',
    ],
    builtins: true,
  },
  /**
   * Components and pages as templates, and the scripts of browsers below client/: a compiler project of their own, imported
   * by no other code.
   */
  web: {
    owns: /^web\//,
    enteredBy: [/^web\/(pages\/(batch|portal)(\/(accounts|forms|sender))?|components)\/[^/]+\.tsx?$/],
    imports: { contracts: 'all', machines: 'all', actors: 'types', crypto: 'all', clients: 'types' },
    packages: ['pdfjs-dist', 'node-forge', 'preact', 'preact-render-to-string'],
    builtins: true,
  },
  settings: {
    owns: /^settings(\/|\.ts$)/,
    enteredBy: [/^settings\.ts$/],
    imports: { machines: 'all', runtime: 'all' },
    packages: ['jsonc-parser', 'zod'],
    builtins: true,
  },
  logging: {
    owns: /^logging(\/|\.ts$)/,
    enteredBy: [/^logging\.ts$/, /^logging\/progress\.ts$/],
    imports: { runtime: 'types' },
    packages: ['pino'],
    builtins: true,
  },
  /** Place where real parts meet: settings → store → actors → HTTP. */
  service: {
    owns: /^service\//,
    enteredBy: [/^service\/[^/]+\.ts$/],
    imports: {
      machines: 'all',
      runtime: 'all',
      crypto: 'all',
      actors: 'all',
      http: 'all',
      settings: 'all',
      logging: 'all',
    },
    packages: [],
    builtins: true,
  },
  /** The command line: `main.ts` reads it, each command is a file. */
  program: {
    owns: /^(commands\/|main\.ts$)/,
    enteredBy: [],
    imports: {
      contracts: 'all',
      machines: 'all',
      runtime: 'all',
      crypto: 'all',
      independent: 'all',
      actors: 'all',
      http: 'all',
      settings: 'all',
      logging: 'all',
      service: 'all',
      bench: 'all',
      clients: 'all',
    },
    packages: ['commander'],
    builtins: true,
  },
  /** Server for assistants: a program of its own on the typed client. */
  mcp: {
    owns: /^clients\/mcp\//,
    enteredBy: [],
    imports: { clients: 'all' },
    packages: [],
    builtins: true,
  },
  /** Traces and metrics of the runtime for programs that have OpenTelemetry. */
  'opentelemetry client': {
    owns: /^clients\/opentelemetry\//,
    enteredBy: [],
    imports: { runtime: 'all' },
    packages: ['@opentelemetry/api'],
    builtins: false,
  },
  /** Typed clients of the HTTP APIs; they use nothing but what browsers and Node have. */
  clients: {
    owns: /^clients\//,
    enteredBy: [/^clients\/typescript\/(client|batch\.d|portal\.d)\.ts$/],
    imports: {},
    packages: [],
    builtins: false,
  },
  /**
   * Benchmarks look into everything, and of the tests use the authority and the outside verifiers. They run where the
   * product is installed: no package is theirs that only development has. Their load generators have a clock of their own.
   */
  bench: {
    owns: /^bench\//,
    enteredBy: [/^bench\/index\.ts$/],
    imports: 'any',
    packages: ['xstate', 'zod', 'pg'],
    builtins: true,
    ownTime: true,
  },
  /** Programs of others, on the packages alone. */
  examples: {
    owns: /^examples\//,
    enteredBy: [],
    imports: { runtime: 'all', crypto: 'all' },
    packages: ['xstate'],
    builtins: true,
    ownTime: true,
  },
  /** Tests may import anything; nothing imports them but what `enteredBy` says, and that only `bench`. */
  test: {
    owns: /^test\//,
    enteredBy: [/^test\/(pki|verifiers)\//],
    imports: 'any',
    packages: 'any',
    builtins: true,
    ownTime: true,
  },
};

/** Folders that are packages (workspaces), by their names. */
export const PACKAGES = { '@sealwright/runtime': 'runtime', '@sealwright/signatures': 'crypto' };

/** Imports forbidden between folders of one zone: files of `from` import nothing of `to`, types included. */
export const FORBIDDEN_PAIRS = [
  // Layers of the runtime. What is beside `host/` and above it does not know each other.
  { from: /^runtime\/model\//, to: /^runtime\/(?!model\/)/ },
  { from: /^runtime\/history\//, to: /^runtime\/(?!(model|history)\/)/ },
  { from: /^runtime\/step\//, to: /^runtime\/(?!(model|history|step)\/)/ },
  { from: /^runtime\/host\//, to: /^runtime\/(?!(model|history|step|host)\/)/ },
  { from: /^runtime\/store\//, to: /^runtime\/(?!(model|history|step|store)\/)/ },
  { from: /^runtime\/store\/(copy|lmdb|memory)\//, to: /^runtime\/store\/postgres\// },
  { from: /^runtime\/store\/(copy|memory|postgres)\//, to: /^runtime\/store\/lmdb\// },
  { from: /^runtime\/effects\//, to: /^runtime\/(?!(model|history|step|host|effects)\/)/ },
  { from: /^runtime\/timers\//, to: /^runtime\/(?!(model|history|step|host|timers)\/)/ },
  { from: /^runtime\/inspection\//, to: /^runtime\/(?!(model|history|step|host|inspection)\/)/ },
  { from: /^runtime\/shards\//, to: /^runtime\/(?!(model|history|step|host|shards|store\/lmdb)\/)/ },
  // Pages and scripts read PKCS#12 containers with the engine's readers, and nothing else of it.
  { from: /^web\//, to: /^crypto\/(?!(asn1|pkcs12)\.ts$)/ },
  { from: /^actors\/pool\//, to: /^actors\/(batch|portal)\// },
  { from: /^actors\/shared\//, to: /^actors\/(batch|portal|pool)\// },
  { from: /^actors\/batch\//, to: /^actors\/portal\// },
  { from: /^actors\/portal\//, to: /^actors\/batch\// },
  { from: /^http\/core\//, to: /^http\/(batch|portal)\// },
  { from: /^http\/batch\//, to: /^http\/portal\// },
  { from: /^http\/portal\//, to: /^http\/batch\// },
  { from: /^machines\/batch\//, to: /^machines\/portal\// },
  { from: /^machines\/portal\//, to: /^machines\/batch\// },
  { from: /^web\/(pages|client)\/batch\//, to: /^web\/(pages|client)\/portal\// },
  { from: /^web\/(pages|client)\/portal\//, to: /^web\/(pages|client)\/batch\// },
];

/** Zones whose folders form a directed graph: no folder reaches itself through its imports. */
export const ACYCLIC_ZONES = ['runtime', 'crypto', 'actors'];

/** Zones whose folders may import each other. */
export const UNORDERED_ZONES = ['bench', 'test'];

/** Source files side by side in one folder, at most. */
export const MAX_FILES_PER_FOLDER = 25;

/**
 * Folders in `contracts/`, `machines/`, `actors/` and `http/` of each service: subjects, which have the same name in each layer, and those
 * of one layer alone.
 */
export const SUBJECT_FOLDERS = {
  layers: /^(?:contracts|machines|actors|http)\/(?:batch|portal)\/([^/]+)\/[^/]+$/,
  subjects: [
    'access',
    'accounts',
    'branding',
    'deputies',
    'documents',
    'erasure',
    'folders',
    'generations',
    'jobs',
    'links',
    'mails',
    'pipeline',
    'renditions',
    'reports',
    'retention',
    'saved-requests',
    'scim',
    'signing',
    'uploads',
    'watched-folder',
    'webhooks',
  ],
  /** Parts of a subject, and what the other layers do not have. */
  ofOneLayer: {
    actors: ['api', 'document-records', 'effects', 'job-records', 'objects', 'remote', 'shared'],
    http: ['input', 'pages', 'routes', 'sender'],
  },
};

/** Lines of a product file, at most. */
export const MAX_LINES = 600;

/** Import statements of a product file, at most. */
export const MAX_IMPORTS = 25;

/** Files that put a service together, which import each of its parts. */
export const COMPOSITIONS = ['http/batch/server.ts', 'http/portal/server.ts'];

/**
 * Files that may ask the machine for time and randomness; everybody else is given a Clock and Ids. The last two
 * run in browsers and in programs of integrators.
 */
export const SOURCES_OF_CHANCE = [
  'runtime/model/clock.ts',
  'runtime/model/ids.ts',
  'crypto/core/system-time.ts',
  'web/client/dom.ts',
  'clients/typescript/client.ts',
];

/** Everything that must be passed in: the words as they follow each other in the code, and what to use instead. */
export const PASSED_IN = [
  { words: ['Date', '.', 'now'], instead: 'Clock.now()' },
  { words: ['new', 'Date', '(', ')'], instead: 'Clock.now()' },
  { words: ['new', 'Date', ';'], instead: 'Clock.now()' },
  { words: ['performance', '.', 'now'], instead: 'Clock.elapsed()' },
  { words: ['process', '.', 'hrtime'], instead: 'Clock.elapsed()' },
  { words: ['setTimeout'], instead: 'Clock.after() or Clock.sleep()' },
  { words: ['setInterval'], instead: 'Clock.after(), armed again each time' },
  { words: ['AbortSignal', '.', 'timeout'], instead: 'Clock.after() with an AbortController' },
  { words: ['Math', '.', 'random'], instead: 'Ids.bytes()' },
  { words: ['randomUUID'], instead: 'Ids.uuid()' },
  { words: ['randomBytes'], instead: 'Ids.bytes()' },
  { words: ['randomInt'], instead: 'Ids.bytes()' },
  { words: ['randomFillSync'], instead: 'Ids.bytes()' },
  { words: ['getRandomValues'], instead: 'Ids.bytes()' },
];

/** Names that say nothing about what a file gives. */
export const EMPTY_NAMES = ['utils', 'util', 'helpers', 'helper', 'common', 'misc'];

/** Folders that hold no source of ours. */
export const SKIPPED_FOLDERS = /^(node_modules|dist.*|data|docs|scripts|\..*)$/;
