import type {
  EvidenceSource,
  SignatureRecord,
  ValidateFileRequest,
  ValidationReport,
} from '@sealwright/signatures';
import { formatOf, type VerifyOptions, verifyFiles } from '@sealwright/signatures/command-line';
import test from 'ava';

const OPTIONS: VerifyOptions = {
  json: false,
  format: undefined,
  trust: [],
  intermediates: [],
  content: undefined,
  chain: true,
  revocation: 'soft',
  at: Date.UTC(2026, 5, 15),
};

const GOOD: SignatureRecord = {
  format: 'Pades',
  level: 'T',
  indication: 'TOTAL-PASSED',
  certificate: {
    subjectName: 'Ada Byron',
    issuerName: 'Some CA',
    emailAddress: 'ada@example.com',
    identifier: 'PNO-1',
    companyName: 'Engines',
    companyIdentifier: undefined,
    thumbprint: 'AAAA',
    validityStart: 0,
    validityEnd: 1,
  },
  signingTime: Date.UTC(2026, 5, 1),
  bestTime: Date.UTC(2026, 5, 2),
  isTimestamp: false,
  name: 'Signature1',
  scope: { kind: 'revision', description: 'revision 1 of 2' },
  timestamps: [
    {
      kind: 'signature',
      displayName: 'Time One',
      genTime: Date.UTC(2026, 5, 2),
      certificate: undefined,
      indication: 'TOTAL-PASSED',
      results: { isValid: true, passedChecks: [], errors: [], warnings: [] },
    },
  ],
  changes: [{ revision: 2, permitted: true, description: 'field Name was filled in' }],
  counterSignatures: [],
  policy: '1.2.3',
  reason: 'agreed',
  results: {
    isValid: true,
    passedChecks: [
      {
        type: 'chain',
        message: 'The signer is trusted.',
        inner: {
          isValid: true,
          passedChecks: [{ type: 'chain.path', message: '', detail: 'Ada Byron < Some CA' }],
          errors: [],
          warnings: [{ type: 'revocation.unknown', message: 'Nobody knows.' }],
        },
      },
    ],
    errors: [],
    warnings: [{ type: 'timestamp.signature', message: 'hidden, since shown below' }],
  },
};

const NO_CALLER: EvidenceSource = {
  collect: async () => ({ certificates: [], crls: [], ocsps: [] }),
};

function report(signature: SignatureRecord): ValidationReport {
  const { indication } = signature;
  const results = { isValid: true, passedChecks: [], errors: [], warnings: [] };
  return { format: 'Pades', indication, signatures: [signature], results };
}

async function printed(
  answer: ValidationReport | Error,
  options: Partial<VerifyOptions> = {},
  file = 'a.pdf',
): Promise<{ readonly code: number; readonly text: string; readonly requests: ValidateFileRequest[] }> {
  let text = '';
  const requests: ValidateFileRequest[] = [];
  const code = await verifyFiles(
    [file],
    { ...OPTIONS, ...options },
    { out: (more) => (text += more), err: (more) => (text += more), colors: false },
    {
      validate: async (request) => {
        requests.push(request);
        if (answer instanceof Error) throw answer;
        return answer;
      },
      askOnline: () => NO_CALLER,
    },
  );
  return { code, text, requests };
}

test('the verdict states whether revocation was checked, and authorities are asked only with --online', async (t) => {
  const outside = await printed(report(GOOD));
  t.is(outside.requests[0]?.trust.online, undefined);
  t.regex(outside.text, /^good .*, revocation not asked outside the file$/m);
  const online = await printed(report(GOOD), { online: true });
  t.is(online.requests[0]?.trust.online, NO_CALLER);
  t.notRegex(online.text, /revocation not/);
  t.regex((await printed(report(GOOD), { revocation: 'none' })).text, /^good .*, revocation not looked at$/m);
});

test('the text lists signer, time, coverage, time-stamps, chain, changes and warnings', async (t) => {
  const { code, text } = await printed(report(GOOD));
  t.is(code, 0);
  const lines = [
    /^good {2}a\.pdf {2}Pades, 1 signature {2}TOTAL-PASSED, revocation not asked outside the file$/m,
    /^ {2}Signature1 {2}TOTAL-PASSED {2}level T$/m,
    /signer {6}Ada Byron, Engines, PNO-1, ada@example\.com$/m,
    /issued by {3}Some CA$/m,
    /time {8}claimed 2026-06-01T00:00:00Z, proven 2026-06-02T00:00:00Z$/m,
    /covers {6}revision 1 of 2$/m,
    /reason {6}agreed$/m,
    /policy {6}1\.2\.3$/m,
    /chain {7}Ada Byron < Some CA$/m,
    /time-stamp {2}signature, Time One, 2026-06-02T00:00:00Z, TOTAL-PASSED$/m,
    /changed {5}revision 2: field Name was filled in \(permitted\)$/m,
    /warn {2}Nobody knows\.$/m,
  ];
  for (const line of lines) t.regex(text, line);
  t.notRegex(text, /hidden/);
});

test('the text lists each failed check with its reason, and integrity alone on request', async (t) => {
  const inner = {
    isValid: false,
    passedChecks: [],
    warnings: [],
    errors: [
      { type: 'chain.path', message: 'No path.' },
      { type: 'certificate.purpose', message: 'For something else.' },
    ],
  };
  const errors = [{ type: 'chain', message: 'The signer is not trusted: no path.', inner }];
  const open: SignatureRecord = {
    ...GOOD,
    indication: 'INDETERMINATE',
    subIndication: 'NO_CERTIFICATE_CHAIN_FOUND',
    results: { ...GOOD.results, isValid: false, errors },
  };
  const { code, text } = await printed(report(open));
  t.is(code, 1);
  t.regex(text, /^BAD {3}a\.pdf/);
  t.regex(text, /FAIL {2}The signer is not trusted: no path\.\n {6}FAIL {2}For something else\./);
  t.is((await printed(report(open), { chain: false })).code, 0);
  const broken = [...errors, { type: 'signature.value', message: 'Wrong.' }];
  const worse = { ...open, results: { ...open.results, errors: broken } };
  t.is((await printed(report(worse), { chain: false })).code, 1);
});

test('control characters of a file are not printed to the terminal', async (t) => {
  const evil = { ...GOOD, name: 'x\u001b[2Jy', reason: 'a\u0007b', location: 'c\nd' };
  const { text } = await printed(report(evil), {}, 'bell\u0007.pdf');
  t.true([...text].every((character) => character >= ' ' || character === '\n'));
  t.false(text.includes('\nd'));
});

test('an unreadable file is invalid, with its code', async (t) => {
  const { code, text } = await printed(
    Object.assign(new Error('It is not there.'), { code: 'input.unreadable' }),
  );
  t.is(code, 1);
  t.regex(text, /^BAD {3}a\.pdf {2}Pades\n {2}FAIL {2}It is not there\. \(input\.unreadable\)/);
});

test('the options reach the validation, and the extension selects the format', async (t) => {
  const { requests } = await printed(report(GOOD), { content: ['b.bin'], revocation: 'hard' });
  t.is(requests[0]?.trust.revocation, 'hard');
  t.is(requests[0]?.at, OPTIONS.at);
  t.regex(String(requests[0]?.content), /\/b\.bin$/);
  t.deepEqual(['a.PDF', 'b.xml', 'c.xsig', 'd.p7m', 'e'].map(formatOf), [
    'Pades',
    'Xades',
    'Xades',
    'Cades',
    'Cades',
  ]);
});
