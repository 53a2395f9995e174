import test from 'ava';
import { faultLine, warningLine } from '../../settings.ts';
import { accepted, faultyKeys, load } from './load.ts';

type Members = Readonly<Record<string, string>>;

/** Command-line words for the profiles, each of which is good but for what is given. */
function profiles(...all: readonly Members[]): readonly string[] {
  return all.flatMap((members, index) => {
    const good: Members =
      members['Method'] === 'RemoteSigner'
        ? {
            'RemoteSigner:Name': 'Ann',
            'RemoteSigner:Email': 'ann@example.org',
            'RemoteSigner:Identifier': '12345678909',
          }
        : { 'Certificate:Pfx:Path': 'a.pfx' };
    return Object.entries({ Name: `p${index}`, Format: 'Cades', ...good, ...members })
      .filter(([, value]) => value !== 'LEFT OUT')
      .map(([name, value]) => `--Signing:Profiles:${index}:${name}=${value}`);
  });
}

const PORTAL = ['--RemoteSigner:Endpoint=https://portal.example.org', '--RemoteSigner:ApiKey=app|secret'];
const REMOTE = { Method: 'RemoteSigner' };
const MISSING = 'LEFT OUT';
const SHOWN = 'Pades:Appearance';
const VISIBLE = {
  Format: 'Pades',
  [`${SHOWN}:Width`]: '200',
  [`${SHOWN}:Height`]: '10%',
  [`${SHOWN}:Lines:0`]: 'by {signer}',
};

/** One broken rule, and the one key it is reported at. Source: docs/batch-values.md §6.1 and §1 rows 5 and 6. */
const REFUSED: readonly (readonly [what: string, members: Members, key: string])[] = [
  ['a name out of the pattern', { Name: 'Not A Name' }, 'Name'],
  ['no name', { Name: MISSING }, 'Name'],
  ['a format that is none', { Format: 'Jades' }, 'Format'],
  ['a method that is none', { Method: 'Postal' }, 'Method'],
  ['a level that is none', { Level: 'LTV' }, 'Level'],
  ['a level with time-stamps and no authority', { Level: 'T' }, 'Timestamp:Url'],
  ['an authority that is no URL', { 'Timestamp:Url': 'tsa.example.org' }, 'Timestamp:Url'],
  ['a password inside a URL', { 'Timestamp:Url': 'https://a:b@tsa.example.org' }, 'Timestamp:Url'],
  ['SaveAsPem for another format', { Format: 'Pades', SaveAsPem: 'true' }, 'SaveAsPem'],
  ['Detached for another format', { Format: 'Xades', Detached: 'true' }, 'Detached'],
  ['an element for another format', { 'Xades:ElementId': 'total' }, 'Xades:ElementId'],
  ['encryption that is off as a whole', { Encrypt: 'true' }, 'Encrypt'],
  ['a policy without its digest', { 'Policy:Oid': '1.2.3' }, 'Policy:Hash'],
  ['a policy without its identifier', { 'Policy:Hash': 'aa' }, 'Policy:Oid'],
  ['a digest of the wrong length', { 'Policy:Oid': '1.2.3', 'Policy:Hash': 'aa' }, 'Policy:Hash'],
  ['a policy that is no identifier', { 'Policy:Oid': 'one.two' }, 'Policy:Oid'],
  ['a policy by a name that is none', { 'Policy:Name': 'ICP-Brasil:AD-RA' }, 'Policy:Name'],
  [
    'a policy by name and identifier',
    { 'Policy:Name': 'ICP-Brasil:AD-RB', 'Policy:Uri': 'http://a' },
    'Policy:Name',
  ],
  ['a policy with time-stamps at level B', { 'Policy:Name': 'ICP-Brasil:AD-RT' }, 'Policy:Name'],
  ['PSS under a policy by name', { 'Policy:Name': 'ICP-Brasil:AD-RB', RsaPadding: 'Pss' }, 'Policy:Name'],
  [
    'SHA-384 under a policy by name',
    { 'Policy:Name': 'ICP-Brasil:AD-RB', DigestAlgorithm: 'SHA384' },
    'Policy:Name',
  ],
  [
    'a Pem source without key',
    { 'Certificate:Source': 'Pem', 'Certificate:Pem:CertificatePath': 'c' },
    'Certificate:Pem:KeyPath',
  ],
  [
    'a key of Vault without address',
    {
      'Certificate:Source': 'Vault',
      'Certificate:Pem:CertificatePath': 'c',
      'Certificate:KeyService:Key': 'k',
      'Certificate:KeyService:TokenPath': 't',
    },
    'Certificate:KeyService:Address',
  ],
  [
    'a key of Vault without token',
    {
      'Certificate:Source': 'Vault',
      'Certificate:Pem:CertificatePath': 'c',
      'Certificate:KeyService:Key': 'k',
      'Certificate:KeyService:Address': 'https://vault.example.org/v1/transit',
    },
    'Certificate:KeyService:TokenPath',
  ],
  [
    'a key of AWS KMS without certificate',
    { 'Certificate:Source': 'AwsKms', 'Certificate:KeyService:Key': 'k' },
    'Certificate:Pem:CertificatePath',
  ],
  [
    'a key of Azure without address',
    {
      'Certificate:Source': 'AzureKeyVault',
      'Certificate:Pem:CertificatePath': 'c',
      'Certificate:KeyService:Key': 'k',
    },
    'Certificate:KeyService:Address',
  ],
  [
    'a key of Azure that is an address',
    {
      'Certificate:Source': 'AzureKeyVault',
      'Certificate:Pem:CertificatePath': 'c',
      'Certificate:KeyService:Key': 'https://example.vault.azure.net/keys/k/1',
      'Certificate:KeyService:Address': 'https://example.vault.azure.net',
    },
    'Certificate:KeyService:Key',
  ],
  [
    'a key of Google without its ring',
    {
      'Certificate:Source': 'GoogleKms',
      'Certificate:Pem:CertificatePath': 'c',
      'Certificate:KeyService:Key': 'k',
    },
    'Certificate:KeyService:Key',
  ],
  [
    'a remote service without the version of its API',
    {
      'Certificate:Source': 'Csc',
      'Certificate:Pem:CertificatePath': 'c',
      'Certificate:KeyService:Key': 'k',
      'Certificate:KeyService:Address': 'https://remote.example.org/csc',
    },
    'Certificate:KeyService:Address',
  ],
  [
    'a key service for another source',
    { 'Certificate:Pfx:Path': MISSING, 'Certificate:KeyService:Key': 'k' },
    'Certificate:Source',
  ],
  [
    'a token without thumbprint',
    { 'Certificate:Source': 'Pkcs11', 'Certificate:Pkcs11:ModulePath': 'm' },
    'Certificate:Pkcs11:Thumbprint',
  ],
  ['a PIN in the open', { 'Certificate:Pkcs11:Pin': '1234' }, 'Certificate:Pkcs11:Pin'],
  ['a thumbprint that is none', { 'Certificate:Pfx:Thumbprint': 'abc' }, 'Certificate:Pfx:Thumbprint'],
  ['a source for another system', { 'Certificate:Source': 'WindowsStore' }, 'Certificate:Source'],
  ['a person where nobody is asked', { 'RemoteSigner:Name': 'Ann' }, 'RemoteSigner'],
  ['nobody to sign on the portal', { ...REMOTE, 'RemoteSigner:Name': MISSING }, 'RemoteSigner:Name'],
  ['nobody to write to', { ...REMOTE, 'RemoteSigner:Email': MISSING }, 'RemoteSigner:Email'],
  ['an address without @', { ...REMOTE, 'RemoteSigner:Email': 'ann' }, 'RemoteSigner:Email'],
  ['nobody in particular', { ...REMOTE, 'RemoteSigner:Identifier': MISSING }, 'RemoteSigner:Identifier'],
  ['a certificate for the portal', { ...REMOTE, 'Certificate:Pfx:Path': 'a.pfx' }, 'Certificate'],
  [
    'validation of a certificate nobody knows yet',
    { ...REMOTE, ValidateCertificate: 'true' },
    'ValidateCertificate',
  ],
  ['a form the portal decides', { ...REMOTE, Detached: 'true' }, 'Detached'],
  ['a place for another format', { 'Xades:Place': '//a' }, 'Xades:Place'],
  [
    'two signed elements',
    { Format: 'Xades', 'Xades:ElementId': 'a', 'Xades:ElementPath': '/a' },
    'Xades:ElementPath',
  ],
  ['a plain form for another format', { 'Xades:Form': 'XmlDsig' }, 'Xades:Form'],
  [
    'a canonicalization of signatures with properties',
    { Format: 'Xades', 'Xades:Canonicalization': 'Inclusive' },
    'Xades:Canonicalization',
  ],
  ['a plain signature beside others', { Format: 'Xades', 'Xades:Form': 'XmlDsig', CoSign: 'true' }, 'CoSign'],
  [
    'a time-stamp without properties',
    { Format: 'Xades', 'Xades:Form': 'XmlDsig', Level: 'T', 'Timestamp:Url': 'https://tsa.example' },
    'Level',
  ],
  [
    'a plain signature in a container',
    { Format: 'Xades', 'Xades:Form': 'XmlDsig', Container: 'AsicE' },
    'Xades:Form',
  ],
  ['a signature beside the root', { Format: 'Xades', 'Xades:Insertion': 'After' }, 'Xades:Insertion'],
  ['a namespace without prefix', { Format: 'Xades', 'Xades:Namespaces:0': 'urn:a' }, 'Xades:Namespaces:0'],
  ['another signature beside the content', { Detached: 'true', CoSign: 'true' }, 'CoSign'],
  ['a flag that PDFs do not need', { Format: 'Pades', CoSign: 'true' }, 'CoSign'],
  [
    'uploads that set an element where whole files are signed',
    { Format: 'Xades', Container: 'AsicE', 'Overrides:0': 'ElementId' },
    'Overrides',
  ],
  [
    'uploads that place a signature where whole files are signed',
    { Format: 'Xades', Container: 'AsicE', 'Overrides:0': 'Place' },
    'Overrides',
  ],
  ['uploads that place a signature in another format', { 'Overrides:0': 'Place' }, 'Overrides:0'],
  ['uploads with a flag that PDFs do not need', { Format: 'Pades', 'Overrides:0': 'CoSign' }, 'Overrides:0'],
  [
    'uploads that add a signature beside the content',
    { Detached: 'true', 'Overrides:0': 'CoSign' },
    'Overrides:0',
  ],
  [
    'uploads that add a signature beside a plain one',
    { Format: 'Xades', 'Xades:Form': 'XmlDsig', 'Overrides:0': 'CoSign' },
    'Overrides:0',
  ],
  ['a padding the portal decides', { ...REMOTE, RsaPadding: 'Pss' }, 'RsaPadding'],
  ['uploads that set what the portal decides', { ...REMOTE, 'Overrides:0': 'Reason' }, 'Overrides'],
  ['a padding that is none', { RsaPadding: 'Oaep' }, 'RsaPadding'],
  ['a certification that is none', { Format: 'Pades', 'Pades:Certification': '4' }, 'Pades:Certification'],
  ['a certification for another format', { 'Pades:Certification': '2' }, 'Pades:Certification'],
  ['a visible signature without width', { ...VISIBLE, [`${SHOWN}:Width`]: MISSING }, `${SHOWN}:Width`],
  ['a visible signature without extent', { ...VISIBLE, [`${SHOWN}:Height`]: '0%' }, `${SHOWN}:Height`],
  ['a visible signature that shows nothing', { ...VISIBLE, [`${SHOWN}:Lines:0`]: MISSING }, `${SHOWN}:Lines`],
  ['a placeholder that is none', { ...VISIBLE, [`${SHOWN}:Lines:0`]: 'by {singer}' }, `${SHOWN}:Lines:0`],
  ['a place off the scale', { ...VISIBLE, [`${SHOWN}:Left`]: '101%' }, `${SHOWN}:Left`],
  ['a page that is none', { ...VISIBLE, [`${SHOWN}:Page`]: '0' }, `${SHOWN}:Page`],
  ['a time zone that is none', { ...VISIBLE, [`${SHOWN}:TimeZone`]: 'Atlantis' }, `${SHOWN}:TimeZone`],
  ['a visible signature in another format', { ...VISIBLE, Format: 'Xades' }, SHOWN],
  ['an upload that sets no member', { Format: 'Pades', 'Overrides:0': 'Level' }, 'Overrides:0'],
  ['an upload that sets a member of another format', { 'Overrides:0': 'Reason' }, 'Overrides:0'],
  ['an upload that moves what is not shown', { Format: 'Pades', 'Overrides:0': 'Page' }, 'Overrides:0'],
];
for (const [what, members, key] of REFUSED) {
  test(`a profile with ${what} refuses the start`, (t) => {
    t.deepEqual(
      faultyKeys({ argv: [...profiles(members), ...PORTAL] }).map((name) => name.toLowerCase()),
      [`signing:profiles:0:${key}`.toLowerCase()],
    );
  });
}

/** Values of a variable with a proxy, and whether they are good. */
const PROXIES: readonly (readonly [string | undefined, boolean])[] = [
  ['http://proxy.example.org:3128', true],
  ['https://ana:secret@proxy.example.org/', true],
  ['proxy.example.org:3128', false],
  ['socks5://proxy.example.org', false],
  ['http://proxy.example.org/path', false],
  ['', false],
  [undefined, false],
];
for (const [value, isGood] of PROXIES)
  test(`a proxy of a key service or signing provider that is ${value} is accepted: ${isGood}`, (t) => {
    const provider = ['Name=a', 'Address=https://a.example.org/csc/v2', 'ClientId=a', 'ClientSecret=b'].map(
      (member) => `--Portal:SigningProviders:0:${member}`,
    );
    const members = {
      'Certificate:Source': 'GoogleKms',
      'Certificate:Pem:CertificatePath': 'a.pem',
      'Certificate:KeyService:Key': 'projects/p/locations/l/keyRings/r/cryptoKeys/k',
      'Certificate:KeyService:ProxyEnvVar': 'OUR_PROXY',
    };
    const env = value === undefined ? {} : { OUR_PROXY: value };
    const argv = [...profiles(members), ...provider, '--Portal:SigningProviders:0:ProxyEnvVar=OUR_PROXY'];
    const keys = [
      'Portal:SigningProviders:0:ProxyEnvVar',
      'Signing:Profiles:0:Certificate:KeyService:ProxyEnvVar',
    ];
    t.deepEqual(faultyKeys({ argv, env }).toSorted(), isGood ? [] : keys);
  });

test('a demand needs lists and revocation, and seals have none', (t) => {
  const one = profiles({ Require: 'QESig' });
  const organization = [
    '--Portal:Organizations:0:Name=A',
    '--Portal:Organizations:0:RequiredQualification=QESig',
  ];
  const lists = '--Signing:Trust:Lists:Folder=lists';
  const both = ['Portal:Organizations:0:RequiredQualification', 'Signing:Profiles:0:Require'];
  t.deepEqual(faultyKeys({ argv: [...one, ...organization] }).toSorted(), both);
  t.deepEqual(faultyKeys({ argv: [...one, ...organization, lists] }), []);
  const none = '--Signing:Trust:Revocation=None';
  t.deepEqual(faultyKeys({ argv: [...one, ...organization, lists, none] }).toSorted(), both);
  const unused = load({ argv: [...one, lists] }).warnings.map(warningLine);
  t.true(unused.some((line) => line.includes('Portal:SealProfile demands nothing of seals')));
  t.deepEqual(faultyKeys({ argv: [...one, lists, '--Portal:SealProfile=p0'] }), ['Portal:SealProfile']);
});

test('profiles have unique names, which folders may refer to', (t) => {
  t.deepEqual(faultyKeys({ argv: profiles({ Name: 'one' }, { Name: 'one' }) }), ['Signing:Profiles:1:Name']);
  const folder = (profile: string) => [
    ...profiles({ Name: 'one' }),
    '--Storage:Inputs:0:Name=in',
    '--Storage:Inputs:0:Path=/in',
    `--Storage:Inputs:0:Profile=${profile}`,
  ];
  t.deepEqual(faultyKeys({ argv: folder('two') }), ['Storage:Inputs:0:Profile']);
  t.deepEqual(faultyKeys({ argv: folder('one') }), []);
  t.deepEqual(faultyKeys({ argv: folder('default') }), []);
});

test('a declared profile without a certificate needs permission for a development certificate', (t) => {
  const argv = profiles({ 'Certificate:Pfx:Path': MISSING });
  t.deepEqual(faultyKeys({ argv }), []);
  t.deepEqual(faultyKeys({ argv, env: { NODE_ENV: 'production' } }), [
    'Signing:Profiles:0:Certificate:Pfx:Path',
  ]);
});

test('choices that waive a safeguard, or have no effect, cause a warning', (t) => {
  const said = (...argv: readonly string[]) => load({ argv }).warnings.map(warningLine);
  t.regex(said(...profiles({ Verify: 'false' })).join(), /^Signing:Profiles:0:Verify is false/);
  t.regex(
    said(...profiles({ ValidateCertificate: 'false' })).join(),
    /^Signing:Profiles:0:ValidateCertificate is false/,
  );
  t.regex(
    said(...profiles({ 'Timestamp:Url': 'http://tsa.example.org' })).join(),
    /Level B has no time-stamp/,
  );
  t.regex(
    said(...profiles({}), '--Signing:Certificate:Pfx:Path=b').join(),
    /^Signing:Certificate is not used/,
  );
  t.regex(
    said(
      ...profiles({
        'Certificate:Source': 'Pkcs11',
        'Certificate:Pkcs11:ModulePath': 'm',
        // As Windows copies it.
        'Certificate:Pkcs11:Thumbprint': `\u200e${'a0 '.repeat(20)}`,
      }),
      '--Pipeline:MaxConcurrency=2',
    ).join(),
    /^Pipeline:MaxConcurrency is 2: jobs wait for each other/,
  );
  const [endpoint = ''] = PORTAL;
  const remote = {
    argv: [...profiles({ ...REMOTE }), endpoint],
    env: { RemoteSigner__ApiKey: 'app|secret' },
  };
  t.deepEqual(load(remote).warnings, []);
});

const AT_A_SERVICE = {
  'Certificate:Pfx:Path': MISSING,
  'Certificate:Source': 'Vault',
  'Certificate:Pem:CertificatePath': 'c.pem',
  'Certificate:KeyService:Key': 'k',
  'Certificate:KeyService:Address': 'https://vault.example.org/v1/transit',
  'Certificate:KeyService:TokenPath': 't',
};

test('a key service is given less time than a task, whichever of the two is configured', (t) => {
  const key = 'Certificate:KeyService:TimeoutSeconds';
  const of = (seconds: string, task: string) =>
    faultyKeys({
      argv: [...profiles({ ...AT_A_SERVICE, [key]: seconds }), `--Pipeline:TaskTimeoutSeconds=${task}`],
    });
  t.deepEqual(of('29', '30'), []);
  t.deepEqual(of('30', '30'), [`Signing:Profiles:0:${key}`]);
  // The default of a source that is not used is no fault.
  t.deepEqual(faultyKeys({ argv: [...profiles({}), '--Pipeline:TaskTimeoutSeconds=10'] }), []);
});

test('a token of a key service in clear text causes a warning', (t) => {
  const address = 'Certificate:KeyService:Address';
  const said = (url: string) =>
    load({ argv: profiles({ ...AT_A_SERVICE, [address]: url }) }).warnings.map(warningLine);
  t.deepEqual(said('https://vault.example.org/v1/transit'), []);
  t.regex(
    said('http://vault.example.org/v1/transit').join(),
    /^Signing:Profiles:0:Certificate:KeyService:Address is not https/,
  );
});

test('a local profile without a certificate beside Signing:Certificate is refused and says what to write', (t) => {
  const configured = '--Signing:Certificate:Pfx:Path=b.pfx';
  const own = profiles({}, {});
  const without = profiles({}, { 'Certificate:Pfx:Path': MISSING });
  t.deepEqual(faultyKeys({ argv: own }), []);
  t.deepEqual(faultyKeys({ argv: without }), [], 'the development certificate, since no other is configured');
  t.deepEqual(faultyKeys({ argv: [...own, configured] }), []);
  const refused = load({ argv: [...without, configured] });
  t.deepEqual(refused.ok ? [] : refused.faults.map(faultLine), [
    'Signing:Profiles:1:Certificate is required: Signing:Certificate is not used beside Signing:Profiles. Write its members here, such as Signing:Profiles:1:Certificate:Pfx:Path.',
  ]);
  t.deepEqual(faultyKeys({ argv: [...without, configured], env: { NODE_ENV: 'production' } }), [
    'Signing:Profiles:1:Certificate',
  ]);
  const remote = [...profiles({ ...REMOTE }), ...PORTAL, configured];
  const saysOf = (...argv: string[]) => {
    const loaded = load({ argv: [...remote, ...argv] });
    const found = loaded.ok ? loaded.warnings.map(warningLine) : loaded.faults.map(faultLine);
    return found.filter((line) => line.startsWith('Signing:'));
  };
  t.deepEqual(saysOf(), [], 'the portal seals with it');
  t.regex(saysOf('--Portal:Enabled=false').join(), /^Signing:Certificate is not used: no profile .* Local/);
});

test('an unknown key inside a signing profile is refused, with the nearest known key', (t) => {
  const refused = load({ argv: profiles({}, { 'Pades:Reazon': 'approved' }) });
  t.deepEqual(refused.ok ? [] : refused.faults.map(faultLine), [
    'Signing:Profiles:1:Pades:Reazon is not a known key of a signing profile; did you mean Signing:Profiles:1:Pades:Reason (set in the command line).',
  ]);
  t.deepEqual(faultyKeys({ argv: profiles({}, { 'Pades:Reason': 'approved' }) }), []);
  const unused = load({ argv: profiles({ 'Certificate:WindowsStore:StoreName': 'My' }) });
  t.true(unused.ok);
  t.regex(unused.warnings.map(warningLine).join(), /is known but not used/);
});

test('a variable may name a profile instead of its index, and overrides the index', (t) => {
  const argv = profiles({ Name: 'invoices' }, { Name: 'long-name' });
  const loaded = accepted({
    argv,
    env: {
      Signing__Profiles__0__Certificate__Pfx__Password: 'by index',
      Signing__Profiles__invoices__Certificate__Pfx__Password: 'by name, which wins',
      SIGNING__PROFILES__LONG_NAME__CERTIFICATE__PFX__PASSWORD: 'with underscore',
    },
  });
  t.deepEqual(
    loaded.signing.profiles.map(({ certificate }) => certificate.pfx.password),
    ['by name, which wins', 'with underscore'],
  );
  t.true(loaded.secrets.includes('by name, which wins'));
  t.deepEqual(faultyKeys({ argv, env: { Signing__Profiles__nobody__Verify: 'false' } }), [
    'Signing:Profiles:nobody:Verify',
  ]);
});

test('a profile without a format is for files of all formats, and takes the members of each', (t) => {
  const members = {
    SaveAsPem: 'true',
    'Pades:Certification': '2',
    'Xades:Place': '//a',
    'Overrides:0': 'Reason',
  };
  for (const Format of [MISSING, 'Auto']) {
    const { signing } = accepted({ argv: profiles({ ...members, Format }) });
    t.is(signing.profiles[0]?.format, 'Auto');
  }
  t.deepEqual(faultyKeys({ argv: profiles({ ...members, Format: 'Cades' }) }), [
    'Signing:Profiles:0:Xades:Place',
    'Signing:Profiles:0:Pades:Certification',
    'Signing:Profiles:0:Overrides:0',
  ]);
});

const SALT = 'AAECAwQFBgcICQoLDA0ODw==';

test('encryption settings are validated only when encryption is on', (t) => {
  const broken = ['--Encryption:Salt=!', '--Encryption:Iterations=few'];
  t.deepEqual(faultyKeys({ argv: broken }), []);
  t.deepEqual(faultyKeys({ argv: ['--Encryption:Enabled=true', ...broken] }), ['Encryption:Iterations']);
  const keys = (...words: readonly string[]) => faultyKeys({ argv: ['--Encryption:Enabled=true', ...words] });
  t.deepEqual(keys(), ['Encryption:Password', 'Encryption:Salt']);
  t.deepEqual(keys('--Encryption:Password=x', `--Encryption:Salt=${SALT}`), []);
  t.deepEqual(keys('--Encryption:Password=x', '--Encryption:Salt=AAECAwQFBgcICQoLDA0O'), ['Encryption:Salt']);
  t.deepEqual(keys('--Encryption:Password=x', `--Encryption:Salt=${SALT}`, '--Encryption:Iterations=9999'), [
    'Encryption:Iterations',
  ]);
});

test('the password of encryption is read from its variable when that is not empty, and is masked', (t) => {
  const argv = ['--Encryption:Enabled=true', `--Encryption:Salt=${SALT}`, '--Encryption:PasswordEnvVar=MINE'];
  t.deepEqual(faultyKeys({ argv, env: { MINE: '' } }), ['Encryption:Password']);
  const loaded = load({ argv, env: { MINE: 'from the variable' } });
  t.true(loaded.ok);
  t.true(loaded.ok && loaded.settings.secrets.includes('from the variable'));
  t.notRegex(JSON.stringify(loaded.resolved), /from the variable|AAECAwQF/);
  const unnamed = accepted({ argv: argv.slice(0, 2), env: { BATCH_ENCRYPTION_PASSWORD: 'the usual place' } });
  t.is(unnamed.encryption.passwordEnvVar.value, 'the usual place');
  t.true(unnamed.secrets.includes('the usual place'));
});
