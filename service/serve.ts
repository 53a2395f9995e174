/** Composes the service: settings → store → actors → HTTP. */
import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Clock, Fatal, Faults, type StoreNodes, systemClock, systemIds } from '@sealwright/runtime/core';
import {
  createStorageFolders,
  ListKeeper,
  type ObjectStore,
  type Profile,
  removeFormerTables,
  Services,
  storageLayout,
} from '../actors/index.ts';
import {
  type BatchMetrics,
  createBatchMetrics,
  createLoadGuard,
  createOneTimeLogins,
} from '../http/index.ts';
import type { Logging } from '../logging.ts';
import { faultLine, inputOverlaps, type Settings } from '../settings.ts';
import { setUpBatch } from './batch-setup.ts';
import { historyAnchor } from './history-anchor.ts';
import { setUpIdentity } from './identity.ts';
import {
  keepHistoryKey,
  loadOrCreateApiKey,
  markKeys,
  openKeyFolder,
  refuseLostKeys,
  refuseOtherKeys,
} from './key-folder.ts';
import { listenForBatch, listenForHealth, listenForPortal } from './listeners.ts';
import { openInputBuckets, openObjects } from './open-objects.ts';
import { openStore } from './open-store.ts';
import { type PortalSetup, setUpPortal } from './portal-setup.ts';
import type { RunningService, Serve, ServiceInfo, StartOptions } from './running-service.ts';
import { nodeName, writeServiceFile } from './service-file.ts';
import {
  type PortalProfiles,
  portalProfiles,
  type SigningSetup,
  setUpSigning,
  unshownLetters,
} from './signing-setup.ts';

/**
 * Starts the service in the order of docs/batch-values.md §7: store, certificates, recovery, listening, then the work. Closes
 * opened resources when a later one fails.
 */
export const serve: Serve = async (settings, log, options) => {
  /** Running components, which stop in parallel before one deadline, and then the store below them. */
  const ends: Ends = { working: [], stopServices: async () => {} };
  let closeStore = async () => {};
  const stop = async () => {
    const requests = Promise.all(ends.working.map((end) => end()));
    await Promise.all([requests, ends.stopServices(requests)]);
    await closeStore();
  };
  try {
    const base = await openBase(settings, log, options);
    closeStore = () => base.store.close();
    return { ...(await serveOn(base, ends)), stop };
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
};

interface Ends {
  /** End listeners with their requests, and connections. */
  readonly working: (() => Promise<void>)[];
  stopServices: (requests: Promise<unknown>) => Promise<void>;
}

type Base = Awaited<ReturnType<typeof openBase>>;

/** Opens folders, keys and store, and waits until no other node is starting. */
async function openBase(settings: Settings, log: Logging, options: StartOptions) {
  const isShared = settings.runtime.store === 'postgres';
  const layout = storageLayout(settings.storage.root, isShared ? nodeName(settings) : undefined);
  const faults = Faults.parse(options.faults);
  // Restricts the permissions of files that libraries create (the store) to owner and group.
  process.umask(process.umask() | 0o027);
  createStorageFolders(
    layout,
    settings.storage.inputs.flatMap(({ path }) => (path === '' ? [] : [path])),
  );
  refuseOverlaps(settings);
  removeFormerTables(layout);
  const keys = openKeyFolder(settings.storage.keysPath, systemIds, layout.keys);
  // Before the marks, which would make it too: the start that has made it shows it.
  const markedKey = isShared ? await ownApiKey(settings, keys, log) : undefined;
  const marks = isShared
    ? await markKeys(keys, systemIds, {
        hasPortal: settings.portal.enabled,
        hasApiKey: settings.auth.apiKey !== undefined,
      })
    : {};
  let tellLost: (why: string) => void = () => {};
  const lost = new Promise<string>((resolve) => {
    tellLost = resolve;
  });
  const store = await openStore(settings, systemClock, log, {
    faults,
    marks,
    version: options.version,
    onLost: (why) => tellLost(why),
  });
  // All nodes use the time of the store, not their own clocks.
  const clock = store.nodes?.clock ?? systemClock;
  return {
    settings,
    log,
    options,
    ids: systemIds,
    layout,
    faults,
    keys,
    markedKey,
    marks,
    lost,
    tellLost,
    store,
    clock,
  };
}

/** The API key of the key folder, made at the first start; undefined where the settings have one. */
async function ownApiKey({ auth }: Settings, keys: ReturnType<typeof openKeyFolder>, log: Logging) {
  if (auth.apiKey !== undefined) return undefined;
  const own = await loadOrCreateApiKey(keys, systemIds);
  log.hide(own.value);
  return own;
}

async function serveOn(base: Base, ends: Ends): Promise<Omit<RunningService, 'stop'>> {
  const { working } = ends;
  const { settings, log, options, ids, layout, keys, store, clock } = base;
  const started = await waitForStart(store.nodes, clock);
  await refuseOtherKeys(store.nodes, base.marks, keys.path);
  await refuseLostKeys(store, keys);
  const storedKey = base.markedKey ?? (await ownApiKey(settings, keys, log));
  const apiKey = settings.auth.apiKey ?? storedKey?.value ?? '';
  const signing = await setUpSigning(settings, keys, { clock, ids });
  const metrics = createBatchMetrics(metricsSubjects(settings, signing), () => clock.now());
  /** Known once the portal listens; there are no readers before. */
  let portalUrl: string | undefined;
  const publicUrl = () => settings.portal.publicUrl ?? portalUrl ?? settings.portal.url.href;
  const { services, sealing, portal, draining } = await openServices(base, signing, {
    metrics,
    working,
    publicUrl,
  });
  const grace = settings.hosting.shutdownTimeoutSeconds * 1000;
  ends.stopServices = (requests) => services.stop(grace, requests);
  const runId = ids.uuid();
  const load = createLoadGuard(clock, log);
  const identity = await setUpIdentity(settings, keys, {
    clock,
    ids,
    log,
    publicUrl,
    nodes: store.nodes,
    used: services.batch.access.used,
  });
  if (identity !== undefined) services.batch.health.add(() => identity.checks());
  const parts = {
    settings,
    version: options.version,
    runId,
    services,
    store,
    keys,
    clock,
    ids,
    log,
    metrics,
    load,
    working,
    identity,
  };
  const oneTimeLogins = createOneTimeLogins({ clock, ids });
  const url = await listenForBatch(parts, apiKey, oneTimeLogins);
  portalUrl = await listenForPortal(parts);
  const facts = { runId, batchUrl: url ?? null, portalUrl: portalUrl ?? null };
  const removeServiceFile = writeServiceFile(settings, facts, { clock, log });
  working.push(async () => removeServiceFile());
  await Promise.all([listenForHealth(parts), keepLists(base, signing, { services, working })]);
  await services.start();
  await started();
  store.nodes?.started();
  return {
    facts: {
      batchUrl: url,
      portal: portalInfo(portal, portalUrl),
      store: store.describe(),
      output: layout.output,
      apiKey: apiKeyInfo(storedKey, apiKey),
      certificate: signing.certificate,
      paused: services.batch.paused,
      profiles: signing.profiles.map(profileInfo),
      warnings: warningsOf(settings, signing, { sealing, portal }),
    },
    loginLink: () =>
      url === undefined || apiKey === '' ? undefined : `${url}/login?once=${oneTimeLogins.issue()}`,
    administratorLink: async () =>
      portal?.mailFolder === undefined
        ? undefined
        : services.portal?.firstAdministratorLink(portal.keys[0]?.organization ?? ''),
    lost: base.lost,
    draining,
  };
}

/** Keeps trusted lists where they are configured; resolves when there are first ones, or after a bounded wait. */
async function keepLists(
  { clock, log, ids }: Base,
  { lists }: SigningSetup,
  { services, working }: { readonly services: Services; readonly working: Ends['working'] },
): Promise<void> {
  if (lists === undefined) return;
  const keeper = new ListKeeper(lists, { clock, log, random: () => (ids.bytes(1)[0] ?? 0) / 256 });
  services.batch.health.add(() => [keeper.check()]);
  working.push(async () => keeper.stop());
  await keeper.start();
}

function metricsSubjects({ storage }: Settings, { profiles }: SigningSetup) {
  return {
    folders: storage.inputs.map(({ name }) => name),
    profiles: profiles.map(({ name, method }) => ({ name, remote: method === 'RemoteSigner' })),
  };
}

function warningsOf(
  settings: Settings,
  signing: SigningSetup,
  {
    sealing,
    portal,
  }: { readonly sealing: PortalProfiles | undefined; readonly portal: PortalSetup | undefined },
): ServiceInfo['warnings'] {
  return [
    ...signing.warnings,
    ...signing.expiring,
    ...unshownLetters(signing.profiles),
    ...(portal?.warnings ?? []),
    ...(settings.portal.enabled && portal === undefined ? [NO_SERVICE_PROFILE] : []),
    ...(sealing?.warnings ?? []),
  ];
}

/** Opens the services on what the settings name; nothing is begun before their start. */
async function openServices(
  base: Base,
  signing: SigningSetup,
  {
    metrics,
    working,
    publicUrl,
  }: {
    readonly metrics: BatchMetrics;
    readonly working: Ends['working'];
    readonly publicUrl: () => string;
  },
) {
  const { settings, log, options, ids, layout, faults, keys, store, clock } = base;
  const objects = await openObjects(settings, { clock, ids });
  const inputBuckets = await openInputBuckets(settings, { clock, log });
  const { sealing, portal } = await openPortalKeys(base, signing, { publicUrl, objects });
  let tellDraining = () => {};
  const draining = new Promise<void>((resolve) => {
    tellDraining = resolve;
  });
  const services = await Services.open(
    {
      ...(portal && {
        portal: { ...portal.options, onSigned: metrics.portalSigned, onVisit: metrics.portalVisited },
      }),
      shards: settings.runtime.shards,
      onLost: (why) => base.tellLost(why),
      onDraining: () => tellDraining(),
      history: {
        key: await keepHistoryKey(keys),
        anchor: historyAnchor(keys),
        ...historyOptions(settings),
      },
      batch: await setUpBatch(settings, keys, signing, {
        layout,
        clock,
        ids,
        log,
        working,
        objects,
        inputBuckets,
      }),
    },
    { store, clock, ids, log, faults, faultsText: options.faults ?? '', observer: metrics.observer },
  );
  return { services, sealing, portal, draining };
}

/** Loads the profiles and keys of the portal; undefined where it is not served. */
async function openPortalKeys(
  { settings, keys, clock, ids, log }: Base,
  signing: SigningSetup,
  parts: { readonly publicUrl: () => string; readonly objects: ObjectStore | undefined },
): Promise<{ readonly sealing?: PortalProfiles; readonly portal?: PortalSetup }> {
  if (!settings.portal.enabled) return {};
  const sealing = await portalProfiles(settings, keys, signing, { clock, ids });
  if (sealing === undefined) return {};
  const given = { trust: signing.trust, ...sealing };
  const portal = await setUpPortal(settings, keys, given, { clock, ids, ...parts });
  for (const { stored } of portal.keys) if (stored) log.hide(stored.value);
  return { sealing, portal };
}

function historyOptions({ history }: Settings) {
  const { checkpointMinutes, webhookUrl, timestampUrl } = history;
  return { every: checkpointMinutes * 60_000, webhookUrl, timestampUrl };
}

function profileInfo(profile: Profile): ServiceInfo['profiles'][number] {
  const { name, verify, encrypt } = profile;
  const isLocal = profile.method === 'Local';
  return {
    name,
    verify,
    encrypt,
    source: isLocal ? (profile.facts?.source ?? 'Local') : 'RemoteSigner',
    validate: isLocal ? profile.validateCertificate : undefined,
  };
}

/** Milliseconds between two attempts to be the node that starts. */
const START_RETRY_MS = 100;

/**
 * Waits until no other node is starting: keys, migrations, recovery and first records are made by one node at a time.
 * Resolves with the function that lets the next one start.
 */
async function waitForStart(nodes: StoreNodes | undefined, clock: Clock): Promise<() => Promise<void>> {
  if (nodes === undefined) return async () => {};
  while (!(await nodes.acquire('start'))) await clock.sleep(START_RETRY_MS);
  return () => nodes.release('start');
}

const NO_SERVICE_PROFILE =
  'The portal is not served: nothing can seal its documents. Configure Signing:Certificate or a profile with Method Local. To run without the portal, set Portal:Enabled=false.';

function apiKeyInfo(storedKey: Awaited<ReturnType<typeof ownApiKey>>, apiKey: string): ServiceInfo['apiKey'] {
  if (storedKey === undefined) return { from: apiKey === '' ? 'nowhere' : 'configuration' };
  const { path, made, value } = storedKey;
  return { from: 'file', path, made: made ? value : undefined };
}

function portalInfo(portal: PortalSetup | undefined, url: string | undefined): ServiceInfo['portal'] {
  if (portal === undefined || url === undefined) return undefined;
  return {
    url,
    mailFolder: portal.mailFolder,
    keys: portal.keys.map(({ organization, application, stored: kept }) => ({
      organization,
      application,
      secret: kept && { path: kept.path, made: kept.made ? kept.value : undefined },
    })),
  };
}

/**
 * Finds two names of one folder, which only the disk reveals. Source: docs/batch-values.md §5, `Storage:Inputs`.
 * @throws {Fatal} `settings.overlap`
 */
function refuseOverlaps({ storage }: Settings): void {
  const faults = inputOverlaps(storage, realPath);
  if (faults.length === 0) return;
  throw new Fatal('settings.overlap', faults.map(faultLine).join('\n'));
}

/** Resolves all links of a path, also when its last parts do not exist yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if ((code !== 'ENOENT' && code !== 'ENOTDIR') || dirname(path) === path) return path;
    return join(realPath(dirname(path)), basename(path));
  }
}
