/** Composes the service: settings → store → actors → HTTP. */

import { realpathSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import {
  type Clock,
  Fatal,
  Faults,
  type Ids,
  type StoreNodes,
  systemClock,
  systemIds,
} from '@sealwright/runtime/core';
import {
  type BatchOptions,
  createRemotePortal,
  createStorageFolders,
  Services,
  storageLayout,
} from '../actors/index.ts';
import {
  createBatchMetrics,
  createBatchServer,
  createHealthListener,
  createLoadGuard,
  createOneTimeLogins,
  createPortalServer,
  type HttpServer,
  portalPageRoutes,
  readiness,
} from '../http/index.ts';
import { faultLine, inputOverlaps, type Settings } from '../settings.ts';
import { folderOptions } from './folder-options.ts';
import { keepHistoryKey } from './history-key.ts';
import {
  ENDED_SESSIONS_FILE,
  keepJobSecret,
  loadOrCreateApiKey,
  openKeyFolder,
  SESSION_FILE,
} from './key-folder.ts';
import { batchListenSettings, portalListenSettings } from './listen-settings.ts';
import { openStore } from './open-store.ts';
import { portalNotices } from './portal-notices.ts';
import { type PortalSetup, setUpPortal } from './portal-setup.ts';
import type { RunningService, Serve, ServiceInfo } from './running-service.ts';
import { nodeName, writeServiceFile } from './service-file.ts';
import { deriveEncryptionKey, portalProfiles, setUpSigning } from './signing-setup.ts';
import { hostMode, systemInfo } from './system-facts.ts';

/**
 * Starts the service in the order of docs/batch-values.md §7: store, certificates, recovery, listening, then the work. Closes
 * opened resources when a later one fails.
 */
export const serve: Serve = async (settings, log, options) => {
  const ids = systemIds;
  const isShared = settings.runtime.store === 'postgres';
  const layout = storageLayout(settings.storage.root, isShared ? nodeName(settings) : undefined);
  const faults = Faults.parse(options.faults);
  const grace = settings.hosting.shutdownTimeoutSeconds * 1000;
  // Restricts the permissions of files that libraries create (the store) to owner and group.
  process.umask(process.umask() | 0o027);
  /** Running components, which stop in parallel before one deadline, and then the store below them. */
  const working: (() => Promise<void>)[] = [];
  let closeStore = async () => {};
  const stop = async () => {
    await Promise.all(working.map((end) => end()));
    await closeStore();
  };
  try {
    createStorageFolders(
      layout,
      settings.storage.inputs.map(({ path }) => path),
    );
    refuseOverlaps(settings);
    const keys = openKeyFolder(layout.keys, ids);
    let tellLost: (why: string) => void = () => {};
    const lost = new Promise<string>((resolve) => {
      tellLost = resolve;
    });
    let tellDraining = () => {};
    const draining = new Promise<void>((resolve) => {
      tellDraining = resolve;
    });
    const store = await openStore(settings, {
      ...{ clock: systemClock, log, faults, version: options.version },
      onLost: (why) => tellLost(why),
    });
    closeStore = () => store.close();
    // All nodes use the time of the store, not their own clocks.
    const clock = store.nodes?.clock ?? systemClock;
    const started = await waitForStart(store.nodes, clock);
    const storedKey = settings.auth.apiKey === undefined ? await loadOrCreateApiKey(keys, ids) : undefined;
    if (storedKey) log.hide(storedKey.value);
    const apiKey = settings.auth.apiKey ?? storedKey?.value ?? '';
    const signing = await setUpSigning(settings, keys, { clock, ids });
    const encryptionKey = await deriveEncryptionKey(settings);
    const metrics = createBatchMetrics(
      {
        folders: settings.storage.inputs.map(({ name }) => name),
        profiles: signing.profiles.map(({ name, method }) => ({ name, remote: method === 'RemoteSigner' })),
      },
      () => clock.now(),
    );
    /** Known once the portal listens; there are no readers before. */
    let portalUrl: string | undefined;
    const sealing = settings.portal.enabled
      ? await portalProfiles(settings, keys, signing, { clock, ids })
      : undefined;
    const portal =
      sealing &&
      (await setUpPortal(
        settings,
        keys,
        { trust: signing.trust, ...sealing },
        {
          ...{ clock, ids },
          publicUrl: () => settings.portal.publicUrl ?? portalUrl ?? settings.portal.url.href,
        },
      ));
    for (const { stored: secret } of portal?.keys ?? []) if (secret) log.hide(secret.value);
    const services = await Services.open(
      {
        ...(portal && { portal: { ...portal.options, onSigned: metrics.portalSigned } }),
        version: options.version,
        shards: settings.runtime.shards,
        onLost: (why) => tellLost(why),
        onDraining: () => tellDraining(),
        history: {
          key: await keepHistoryKey(keys),
          every: settings.history.checkpointMinutes * 60_000,
          webhookUrl: settings.history.webhookUrl,
          timestampUrl: settings.history.timestampUrl,
        },
        batch: {
          layout,
          folders: folderOptions(settings, signing.profiles),
          profiles: signing.profiles,
          trust: signing.trust,
          ...(settings.signing.license !== undefined && { license: settings.signing.license }),
          ...(encryptionKey && { encryptionKey }),
          secretKey: Buffer.from((await keepJobSecret(keys, ids)).value, 'base64url'),
          remote: remotePart(settings, clock, ids, working),
          notices: portalNotices(settings).filter(({ name }) => name !== 'portal:seal'),
          maxConcurrency: settings.pipeline.maxConcurrency,
          taskTimeout: settings.pipeline.taskTimeoutSeconds * 1000,
          pollEvery: settings.pipeline.pollIntervalSeconds * 1000,
          ...(settings.retention.jobsDays > 0 && { keepJobs: settings.retention.jobsDays * 86_400_000 }),
          webhooks: settings.notifications.webhooks,
          outputCollision: settings.storage.outputCollision === 'Suffix' ? 'suffix' : 'fail',
          threads: availableParallelism(),
        },
      },
      { store, clock, ids, log, faults, faultsText: options.faults ?? '', observer: metrics.observer },
    );
    const { batch } = services;
    working.push(() => services.stop(grace));
    // Both services answer on this thread, so the load of one delays the other.
    const load = createLoadGuard(clock, log);
    const oneTimeLogins = createOneTimeLogins({ clock, ids });
    const runId = ids.uuid();
    let server: HttpServer | undefined;
    let url: string | undefined;
    if (settings.batch.enabled) {
      server = createBatchServer({
        service: batch,
        inspection: batch.inspection,
        operations: batch.operations,
        webhooks: batch.webhooks.deliveries,
        mails: services.portal?.mails,
        portalWebhooks: services.portal?.operatorWebhooks,
        portalKeys: services.portal?.operatorKeys,
        portalActivity: services.portal?.activity,
        settings: batchListenSettings(settings, apiKey, runId),
        clock,
        ids,
        log,
        load,
        metrics,
        oneTimeLogins,
        nodes: store.nodes,
        pages: {
          version: options.version,
          pollSeconds: settings.dashboard.pollIntervalSeconds,
          systemInfo: systemInfo(settings, {
            version: options.version,
            store: store.describe().engine,
            node: process.version,
            host: hostMode(process.env),
          }),
        },
        sessionKeys: {
          isShared,
          load: () => keys.read(SESSION_FILE),
          save: (text) => keys.replace(SESSION_FILE, text),
        },
        endedSessions: {
          isShared,
          load: () => keys.read(ENDED_SESSIONS_FILE),
          save: (text) => keys.replace(ENDED_SESSIONS_FILE, text),
        },
      });
      url = (await server.listen()).url;
      const { close } = server;
      working.push(() => close.call(server));
    }
    if (services.portal !== undefined) {
      const listener = createPortalServer({
        service: services.portal,
        settings: portalListenSettings(settings, runId),
        clock,
        ids,
        log,
        version: options.version,
        load,
        nodes: store.nodes,
        observe: metrics.portalRequest,
        basePath: new URL(settings.portal.publicUrl ?? 'http://host').pathname.replace(/\/$/, ''),
        pageRoutes: portalPageRoutes(services.portal, { clock, ids, log }),
      });
      portalUrl = (await listener.listen()).url;
      working.push(() => listener.close());
    }
    const facts = { runId, batchUrl: url ?? null, portalUrl: portalUrl ?? null };
    const removeServiceFile = writeServiceFile(settings, facts, { clock, log });
    working.push(async () => removeServiceFile());
    const healthUrl = settings.hosting.healthUrl;
    if (healthUrl !== undefined) {
      const listener = createHealthListener({
        ...healthUrl,
        readiness: () => readiness(batch.health, clock, false),
      });
      await listener.listen();
      working.push(() => listener.close());
    }
    await services.start();
    await started();
    const { engine, location } = store.describe();
    const service: RunningService = {
      facts: {
        batchUrl: url,
        portal: portalInfo(portal, portalUrl),
        store: { engine, location },
        output: layout.output,
        apiKey: storedKey
          ? { from: 'file', path: storedKey.path, made: storedKey.made ? storedKey.value : undefined }
          : { from: apiKey === '' ? 'nowhere' : 'configuration' },
        certificate: signing.certificate,
        paused: batch.paused,
        profiles: signing.profiles.map((profile) => ({
          name: profile.name,
          source: profile.method === 'Local' ? (profile.facts?.source ?? 'Local') : 'RemoteSigner',
          verify: profile.verify,
          encrypt: profile.encrypt,
          validate: profile.method === 'Local' ? profile.validateCertificate : undefined,
        })),
        warnings: [
          ...signing.warnings,
          ...signing.expiring,
          ...(portal?.warnings ?? []),
          ...(settings.portal.enabled && portal === undefined ? [NO_SERVICE_PROFILE] : []),
          ...(sealing?.warnings ?? []),
        ],
      },
      loginLink: () =>
        url === undefined || apiKey === '' ? undefined : `${url}/login?once=${oneTimeLogins.issue()}`,
      administratorLink: async () =>
        portal?.mailFolder === undefined
          ? undefined
          : services.portal?.firstAdministratorLink(portal.keys[0]?.organization ?? ''),
      lost,
      draining,
      stop,
    };
    return service;
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
};

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
  'The portal is not served: it seals with a signing profile of the Method Local or with Signing:Certificate, and there is neither. Portal:Enabled=false says that this is meant.';

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

/**
 * Connects to the remote portal, also if no profile needs it any more: jobs of a removed profile may still wait for it.
 */
function remotePart(
  { remoteSigner }: Settings,
  clock: Clock,
  ids: Ids,
  working: (() => Promise<void>)[],
): NonNullable<BatchOptions['remote']> {
  const { endpoint, apiKey } = remoteSigner;
  const options = {
    every: remoteSigner.pollIntervalSeconds * 1000,
    timeout: remoteSigner.timeoutHours * 3_600_000,
    maxFailures: remoteSigner.maxConsecutiveApiFailures,
  };
  if (endpoint === undefined || !apiKey) return options;
  const portal = createRemotePortal({
    endpoint,
    apiKey,
    timeout: remoteSigner.requestTimeoutSeconds * 1000,
    clock,
    ids,
  });
  working.push(async () => portal.close());
  return { ...options, portal };
}
