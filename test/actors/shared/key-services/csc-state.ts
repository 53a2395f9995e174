/** State of a remote signing service in tests. */

/** Credential of a key, and the server's memory of it. */
export interface CscState {
  mode: 'implicit' | 'explicit' | 'oauth2code';
  /** Types of the authentication objects. */
  factors: readonly string[];
  scal: '1' | '2';
  multisign: number;
  keyStatus: string;
  certStatus: string;
  algorithms: readonly string[];
  /** DER of the signer, then its issuers. */
  certificates: readonly Buffer[];
  authTypes: readonly string[];
  methods: readonly string[];
  /** Activation data with the hashes that it is for; removed once it is used. */
  readonly activations: Map<string, readonly string[]>;
  authorizations: number;
  /** Refusals of the next authorizations, in place of an answer. */
  readonly refusals: { readonly status: number; readonly body: object }[];
  /** Before each authorization, milliseconds or an event. */
  beforeAuthorization: () => Promise<unknown>;
  /** Status of the refusal of a PIN. */
  pinStatus: number;
  pinFailures: number;
  /** Number of hashes of each request that was signed. */
  readonly batches: number[];
  /** Changes the values of the next answers. */
  readonly answers: ((values: string[]) => string[])[];
}

export function cscState(certificates: readonly Buffer[], algorithms: readonly string[]): CscState {
  return {
    mode: 'implicit',
    factors: [],
    scal: '2',
    multisign: 10,
    keyStatus: 'enabled',
    certStatus: 'valid',
    algorithms,
    certificates,
    authTypes: ['oauth2client'],
    methods: ['credentials/list', 'credentials/info', 'credentials/authorize', 'signatures/signHash'],
    activations: new Map(),
    authorizations: 0,
    refusals: [],
    beforeAuthorization: () => Promise.resolve(),
    pinStatus: 400,
    pinFailures: 0,
    batches: [],
    answers: [],
  };
}
